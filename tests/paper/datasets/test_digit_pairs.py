from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.digit_pairs import disjoint_digits, pair_tasks, split_mnist
from smartcl.paper.datasets.digits import DigitImages
from smartcl.paper.datasets.protocols import SMALL, SPLIT, DigitProtocol
from smartcl.paper.datasets.task_stream import Task, TaskStream

N_TRAIN, N_TEST = 8000, 500
CLEAN = NoiseModel()
LABEL_OF_DIGIT = {0: 1, 1: 0, 2: 1, 3: 0, 4: 1, 5: 0, 6: 1, 7: 0, 8: 1, 9: 0}
TASK_OF_DIGIT = {0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 5: 2, 6: 3, 7: 3, 8: 4, 9: 4}


def numbered(n: int, part: int) -> np.ndarray:
    """Images whose pixels spell which image of which part they are."""
    number = np.arange(n)
    return np.column_stack([number // 256, number % 256, np.full(n, part)]).astype(np.uint8)


def number_of(x: object) -> list[int]:
    assert isinstance(x, torch.Tensor)
    return [256 * high + low for high, low, _ in x.tolist()]


RNG = np.random.default_rng(5)
IMAGES = DigitImages(
    numbered(N_TRAIN, 0),
    RNG.integers(0, 10, size=N_TRAIN),
    numbered(N_TEST, 1),
    RNG.integers(0, 10, size=N_TEST),
    name="numbered",
    peak=255,
    source="here",
)


def cut(
    samples: int | None = 300, seed: int = 0, noise: NoiseModel = CLEAN, validation: float = 0.0
) -> tuple[Task, ...]:
    return pair_tasks(IMAGES, samples, seed, noise, validation)


def drawn(tasks: tuple[Task, ...]) -> list[list[int]]:
    return [number_of(task.train.x) for task in tasks]


def test_clean_tasks_hold_their_own_pair_under_its_labels() -> None:
    for number, task in enumerate(cut()):
        digits = [int(IMAGES.train_y[i]) for i in number_of(task.train.x)]
        assert {TASK_OF_DIGIT[digit] for digit in digits} == {number}
        assert task.train.y.tolist() == task.true_y.tolist() == [LABEL_OF_DIGIT[digit] for digit in digits]
        assert set(task.origin.tolist()) == {number}
        assert task.train.y.dtype == task.test.y.dtype == torch.int64
        assert isinstance(task.train.x, torch.Tensor)
        assert task.train.x.dtype == torch.uint8


@pytest.mark.parametrize("noise", ["none", "foreign:0.4", "uniform:0.4", "flip:0.4"])
def test_no_image_is_drawn_twice_and_true_labels_are_kept(noise: str) -> None:
    tasks = cut(noise=NoiseModel.parse(noise))
    everything = [i for task in drawn(tasks) for i in task]
    assert [len(task) for task in drawn(tasks)] == [300] * 5
    assert len(set(everything)) == len(everything)
    for task in tasks:
        digits = [int(IMAGES.train_y[i]) for i in number_of(task.train.x)]
        assert task.true_y.tolist() == [LABEL_OF_DIGIT[digit] for digit in digits]
        assert task.origin.tolist() == [TASK_OF_DIGIT[digit] for digit in digits]


@pytest.mark.parametrize("noise", ["none", "foreign:0.4", "flip:0.4"])
def test_the_test_set_is_every_clean_test_image_of_the_pair(noise: str) -> None:
    for number, task in enumerate(cut(noise=NoiseModel.parse(noise))):
        mine = [i for i in range(N_TEST) if TASK_OF_DIGIT[int(IMAGES.test_y[i])] == number]
        assert number_of(task.test.x) == mine
        assert isinstance(task.test.x, torch.Tensor)
        assert set(task.test.x[:, 2].tolist()) == {1}
        assert task.test.y.tolist() == [LABEL_OF_DIGIT[int(IMAGES.test_y[i])] for i in mine]


def test_foreign_noise_brings_images_of_all_other_tasks_at_the_expected_rate() -> None:
    tasks = cut(None, noise=NoiseModel("foreign", 0.3))
    assert sum(len(task.train) for task in tasks) == N_TRAIN
    strangers = sum(int((task.origin != number).sum()) for number, task in enumerate(tasks))
    # of nine wrong digits, eight belong to another task
    assert stats.binomtest(strangers, N_TRAIN, 0.3 * 8 / 9).pvalue > 1e-4
    for number, task in enumerate(tasks):
        home = task.origin == number
        assert set(task.origin.tolist()) == set(range(5))
        assert 0.3 < task.train.y[~home].double().mean() < 0.7
        wrong_at_home = int((task.train.y != task.true_y)[home].sum())
        assert stats.binomtest(wrong_at_home, int(home.sum()), (0.3 / 9) / (0.7 + 0.3 / 9)).pvalue > 1e-4


@pytest.mark.parametrize(("noise", "wrong"), [("flip:0.3", 0.3), ("uniform:0.3", 0.15)])
def test_noise_within_a_task_relabels_the_same_images(noise: str, wrong: float) -> None:
    tasks = cut(None, noise=NoiseModel.parse(noise))
    assert drawn(tasks) == drawn(cut(None))
    n_wrong = sum(int((task.train.y != task.true_y).sum()) for task in tasks)
    assert stats.binomtest(n_wrong, N_TRAIN, wrong).pvalue > 1e-4


@pytest.mark.parametrize("noise", ["none", "foreign:0.4", "uniform:0.4", "flip:0.4"])
def test_the_seed_decides_everything(noise: str) -> None:
    model = NoiseModel.parse(noise)
    one, same, other = cut(seed=1, noise=model), cut(seed=1, noise=model), cut(seed=2, noise=model)
    assert drawn(one) == drawn(same)
    assert drawn(one) != drawn(other)
    for mine, again in zip(one, same, strict=True):
        assert torch.equal(mine.train.y, again.train.y)


def test_a_smaller_draw_is_part_of_a_larger_one() -> None:
    for few, many in zip(drawn(cut(10)), drawn(cut(100)), strict=True):
        assert few == many[:10]


@pytest.mark.parametrize("noise", ["none", "foreign:0.4", "flip:0.4"])
def test_validation_holds_out_clean_training_images(noise: str) -> None:
    tasks = cut(None, noise=NoiseModel.parse(noise), validation=0.25)
    learned = {i for task in drawn(tasks) for i in task}
    held_out = [number_of(task.test.x) for task in tasks]
    assert learned.isdisjoint(i for task in held_out for i in task)
    assert len(learned) + sum(map(len, held_out)) == N_TRAIN
    for number, (task, members) in enumerate(zip(tasks, held_out, strict=True)):
        assert isinstance(task.test.x, torch.Tensor)
        assert set(task.test.x[:, 2].tolist()) == {0}
        assert {TASK_OF_DIGIT[int(IMAGES.train_y[i])] for i in members} == {number}
        assert task.test.y.tolist() == [LABEL_OF_DIGIT[int(IMAGES.train_y[i])] for i in members]
        assert len(members) == round(0.25 * sum(TASK_OF_DIGIT[int(digit)] == number for digit in IMAGES.train_y))


def test_too_many_samples_are_refused_with_what_there_is() -> None:
    available = sum(TASK_OF_DIGIT[int(digit)] == 0 for digit in IMAGES.train_y)
    with pytest.raises(ValueError, match=rf"samples_per_task must be at most {available}.*task 0 \(digits 0/1\)"):
        cut(N_TRAIN)


def test_a_share_that_holds_out_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"validation=0\.0001 holds out no image of task 0"):
        cut(validation=0.0001)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"samples_per_task": 0}, "samples_per_task must be at least 1, got 0"),
        ({"samples_per_task": 1000}, "samples_per_task must be at most 289"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"validation": 1.0}, r"validation must be a share in \[0, 1\), got 1.0"),
        ({"validation": float("nan")}, "validation must be a share"),
        ({"noise": "flip"}, "noise must be one of"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        built(disjoint_digits, SMALL, arguments)
    if "samples_per_task" not in arguments:
        with pytest.raises(ValueError, match=complaint):
            built(split_mnist, SPLIT, arguments)


def built(build: Callable[..., TaskStream], protocol: DigitProtocol, arguments: dict[str, Any]) -> TaskStream:
    """The stream of these arguments, those of the protocol put there."""
    own = {name: value for name, value in arguments.items() if hasattr(protocol, name)}
    return build(protocol=replace(protocol, **own), **{k: v for k, v in arguments.items() if k not in own})


@pytest.mark.parametrize("noise", ["foreign:0.5", "foreign:1"])
def test_the_default_number_of_bundled_digits_survives_heavy_noise(noise: str) -> None:
    for seed in range(20):
        assert len(disjoint_digits(seed=seed, noise=noise)) == 20
