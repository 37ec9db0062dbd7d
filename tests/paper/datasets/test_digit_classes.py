"""The ten-class stream is the two-label stream under the digits' own names."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from smartcl.paper.datasets.dataset_registry import DATASETS
from smartcl.paper.datasets.digit_classes import class_digits
from smartcl.paper.datasets.digit_pairs import disjoint_digits

PIXELS, DIGITS = load_digits(return_X_y=True)
DIGIT_OF = {row.astype(np.uint8).tobytes(): int(digit) for row, digit in zip(PIXELS, DIGITS, strict=True)}


def digits_shown(x: object) -> list[int]:
    assert isinstance(x, torch.Tensor)
    return [DIGIT_OF[row.numpy().tobytes()] for row in x]


@pytest.mark.parametrize("noise", ["none", "foreign:0.4", "flip:0.4", "uniform:0.4"])
def test_true_and_test_labels_are_the_digits_that_the_images_show(noise: str) -> None:
    stream = class_digits(seed=2, noise=noise)
    assert stream.n_classes == 10
    wrong = []
    for number, task in enumerate(stream.tasks):
        assert task.true_y.tolist() == digits_shown(task.train.x)
        assert task.test.y.tolist() == digits_shown(task.test.x)
        assert set(task.train.y.tolist()) == set(task.test.y.tolist()) == {2 * number, 2 * number + 1}
        wrong.append(float((task.train.y != task.true_y).double().mean()))
    assert np.mean(wrong) == pytest.approx({"none": 0.0, "uniform:0.4": 0.2}.get(noise, 0.4), abs=0.05)


def test_images_come_as_in_the_two_label_stream() -> None:
    for ours, theirs in zip(class_digits(seed=1, noise="foreign:0.3"), disjoint_digits(1, "foreign:0.3"), strict=True):
        assert isinstance(ours.x, torch.Tensor)
        assert isinstance(theirs.x, torch.Tensor)
        assert torch.equal(ours.x, theirs.x)
        assert torch.equal(1 - ours.y % 2, theirs.y)


def test_the_long_and_the_short_stream_have_forms_for_choosing_settings() -> None:
    sizes = {name: dataset.protocol for name, dataset in DATASETS.items() if name.startswith("class-mnist")}
    assert {name: (p.samples_per_task, p.validation) for name, p in sizes.items()} == {
        "class-mnist": (None, 0.0),
        "class-mnist-validation": (None, 0.2),
        "class-mnist-short": (2000, 0.0),
        "class-mnist-short-validation": (2000, 0.2),
    }
