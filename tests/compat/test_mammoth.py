"""Mammoth is no package: its buffer's calls are written out here, as its models make them."""

from __future__ import annotations

import inspect

import pytest
import torch

from smartcl.compat.mammoth import Buffer

#: The parameters of Mammoth's own buffer that its models use (utils/buffer.py), in order.
CALLS = {
    "__init__": ["buffer_size", "device"],
    "add_data": ["examples", "labels", "logits", "task_labels"],
    "get_data": ["size", "transform", "return_index", "device", "mask_task_out", "cpt"],
    "get_data_by_index": ["indexes", "transform", "device"],
    "get_all_data": ["transform", "device"],
    "is_empty": [],
    "empty": [],
    "to": ["device"],
    "__len__": [],
}


def filled(n: int = 200, size: int | str = 20, **settings: object) -> Buffer:
    buffer = Buffer(size, **settings)
    for first in range(0, n, 10):
        index = torch.arange(first, first + 10)
        x = torch.zeros(10, 1, 6, 6)
        x[:, 0, 0, 0] = index
        buffer.add_data(
            x, labels=index % 10, logits=torch.stack([index, -index], dim=1).float(), task_labels=index // 100
        )
    return buffer


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_mammoths(name: str) -> None:
    ours = [parameter for parameter in inspect.signature(getattr(Buffer, name)).parameters if parameter != "self"]
    assert ours[: len(CALLS[name])] == CALLS[name]
    assert ours[len(CALLS[name]) :] in ([], ["settings"])


def test_what_belongs_together_comes_back_together() -> None:
    buffer = filled()
    x, y, logits, tasks = buffer.get_data(8)
    number = x[:, 0, 0, 0]
    assert (y.dtype, logits.dtype, tasks.dtype) == (torch.int64, torch.float32, torch.int64)
    assert torch.equal(y, number.long() % 10)
    assert torch.equal(logits, torch.stack([number, -number], dim=1))
    assert torch.equal(tasks, number.long() // 100)
    assert buffer.used_attributes == ["examples", "labels", "logits", "task_labels"]


def test_a_number_is_the_bytes_of_so_many_whole_examples() -> None:
    buffer = filled()
    assert len(buffer) > 20
    assert buffer.memory.nbytes <= 20 * 36 * 4
    assert len(filled(size="10 kB")) > len(buffer)


def test_der_without_labels_and_er_without_logits() -> None:
    buffer = Buffer(50, "cpu")
    buffer.add_data(examples=torch.rand(10, 3), logits=torch.rand(10, 2))
    assert [tuple(part.shape) for part in buffer.get_data(4)] == [(4, 3), (4, 2)]
    buffer.empty()
    assert buffer.is_empty()
    buffer.add_data(examples=torch.rand(10, 3), labels=torch.zeros(10, dtype=torch.long))
    assert [tuple(part.shape) for part in buffer.get_data(40)] == [(10, 3), (10,)]


def test_positions_transforms_and_all_data() -> None:
    buffer = filled()
    index, x, *_ = buffer.get_data(5, return_index=True)
    assert torch.equal(buffer.get_data_by_index(index)[0], x)
    doubled = buffer.get_data_by_index(index, transform=lambda example: 2 * example)[0]
    assert torch.equal(doubled, 2 * x)
    assert len(buffer.get_all_data()[0]) == len(buffer)
    assert buffer.to("cpu") is buffer


@pytest.mark.parametrize("stored", ["task_labels", "labels"])
def test_a_task_is_masked_out(stored: str) -> None:
    buffer = Buffer("10 kB")
    buffer.add_data(torch.rand(40, 3), **{stored: torch.arange(40) // (20 if stored == "task_labels" else 10)})
    part = buffer.get_data(100, mask_task_out=1, cpt=2)[1]
    assert sorted(part.tolist()) == ([0] * 20 if stored == "task_labels" else [0] * 10 + [1] * 10)
    with pytest.raises(ValueError, match="mask_task_out needs task labels"):
        filled_without_labels().get_data(3, mask_task_out=0)


def filled_without_labels() -> Buffer:
    buffer = Buffer("1 kB")
    buffer.add_data(torch.rand(4, 3))
    return buffer
