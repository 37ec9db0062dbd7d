from __future__ import annotations

import numpy as np
import pytest
import torch

from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.paper.datasets.task_stream import Task, TaskStream

SIZES = (7, 4, 10)


def toy_stream(seed: int = 0, epochs: int = 2) -> TaskStream:
    """Three tasks whose rows hold their own position in the stream."""
    tasks, first = [], 0
    for size in SIZES:
        rows = torch.arange(first, first + size, dtype=torch.float32).reshape(size, 1)
        y = rows[:, 0].long() % 2
        tasks.append(Task(Batch(rows, y), Batch(rows, y), y, torch.zeros(size)))
        first += size
    return TaskStream("toy", InputSpec(1, 2), tuple(tasks), batch_size=3, seed=seed, epochs=epochs)


@pytest.mark.parametrize("epochs", [1, 3])
def test_each_epoch_visits_each_sample_of_a_task_once(epochs: int) -> None:
    stream = toy_stream(epochs=epochs)
    first = 0
    for number, size in enumerate(SIZES):
        ids = np.concatenate([batch.ids for batch in stream.batches_of(number) if batch.ids is not None])
        for epoch in ids.reshape(epochs, size):
            assert sorted(epoch) == list(range(first, first + size))
        first += size


def test_ids_are_positions_in_the_stream_and_tasks_come_in_order() -> None:
    batches = list(toy_stream())
    assert len(batches) == len(toy_stream()) == 2 * (3 + 2 + 4)
    assert [batch.task for batch in batches] == sorted(batch.task for batch in batches if batch.task is not None)
    for batch in batches:
        assert isinstance(batch.x, torch.Tensor)
        assert batch.ids is not None
        assert batch.x[:, 0].tolist() == batch.ids.tolist()
        assert batch.y.tolist() == [i % 2 for i in batch.ids]


def test_the_order_is_the_seeds_and_the_tasks_own() -> None:
    def order(stream: TaskStream) -> list[list[int]]:
        return [batch.ids.tolist() for batch in stream if batch.ids is not None]

    stream = toy_stream(seed=1)
    assert order(stream) == order(stream) == order(toy_stream(seed=1))
    assert order(stream) != order(toy_stream(seed=2))
    assert [b.ids.tolist() for b in stream.batches_of(2) if b.ids is not None] == order(stream)[-8:]


@pytest.mark.parametrize(("dtype", "nbytes"), [("uint8", 784), ("float16", 1568), ("float32", 3136)])
def test_a_sample_costs_its_native_bytes(dtype: str, nbytes: int) -> None:
    assert InputSpec(784, 2, dtype).sample_nbytes == nbytes
