from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from smartcl.paper.datasets import digit_domains
from smartcl.paper.datasets.digit_domains import permuted_mnist, rotated, rotated_mnist
from smartcl.paper.datasets.digits import load_digit_images
from smartcl.paper.datasets.protocols import DOMAINS

SMALL_WORLDS = replace(DOMAINS, worlds=4)


@pytest.fixture(autouse=True)
def digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digit_domains, "mnist_or_digits", lambda data_dir: load_digit_images())


@pytest.mark.parametrize("build", [permuted_mnist, rotated_mnist])
def test_every_world_shows_all_digits_and_tests_all(build: object) -> None:
    stream = build(seed=3, protocol=SMALL_WORLDS)  # type: ignore[operator]
    assert len(stream.tasks) == 4
    assert stream.n_classes == 10
    for world, task in enumerate(stream.tasks):
        assert len(task.train) == 200
        assert set(task.train.y.tolist()) == set(range(10))
        assert torch.equal(task.test.y, stream.tasks[0].test.y)
        assert (task.origin == world).all()


def test_pixels_are_in_another_order_in_each_world_but_the_first() -> None:
    stream, images = permuted_mnist(seed=3, protocol=SMALL_WORLDS), load_digit_images()
    first, *others = (task.test.x for task in stream.tasks)
    assert np.array_equal(first, images.test_x)
    for x in others:
        assert not torch.equal(x, first)
        assert torch.equal(x.sort(dim=1).values, first.sort(dim=1).values)
    again, other = permuted_mnist(seed=3, protocol=SMALL_WORLDS), permuted_mnist(seed=4, protocol=SMALL_WORLDS)
    assert torch.equal(again.tasks[2].test.x, others[1])
    assert not torch.equal(other.tasks[2].test.x, others[1])


def test_a_quarter_turn_is_numpys() -> None:
    x = load_digit_images().test_x[:20]
    expected = np.rot90(x.reshape(-1, 8, 8), axes=(1, 2)).reshape(20, -1)
    assert np.array_equal(rotated(x, 90.0), expected)
    stream = rotated_mnist(protocol=SMALL_WORLDS)
    assert np.array_equal(stream.tasks[2].test.x[:20], expected)  # two of four worlds: a quarter turn
    assert np.array_equal(stream.tasks[0].test.x[:20], x)


def test_wrong_labels_stay_in_their_world_and_validation_sees_no_test_image() -> None:
    noisy = permuted_mnist(noise="flip:0.3", protocol=SMALL_WORLDS)
    assert 0.2 < float((noisy.tasks[1].train.y != noisy.tasks[1].true_y).float().mean()) < 0.4
    with pytest.raises(ValueError, match="its tasks share their labels"):
        permuted_mnist(noise="foreign:0.3", protocol=SMALL_WORLDS)
    held = permuted_mnist(protocol=replace(SMALL_WORLDS, validation=0.2)).tasks[0]
    train = {row.tobytes() for row in load_digit_images().train_x}
    assert all(row.numpy().tobytes() in train for row in held.test.x)
    assert not {row.numpy().tobytes() for row in held.test.x} & {row.numpy().tobytes() for row in held.train.x}
