from __future__ import annotations

from pathlib import Path

import pytest
import torch

from smartcl.paper.datasets import registry
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.digit_streams import disjoint_digits
from smartcl.paper.datasets.registry import DATASETS, Dataset, load_stream
from smartcl.paper.datasets.task_stream import TaskStream


def test_a_name_gives_what_its_builder_gives() -> None:
    named, built = load_stream("disjoint-digits", 3, "flip:0.2"), disjoint_digits(seed=3, noise="flip:0.2")
    for one, other in zip(named, built, strict=True):
        assert isinstance(one.x, torch.Tensor)
        assert isinstance(other.x, torch.Tensor)
        assert torch.equal(one.x, other.x)
        assert torch.equal(one.y, other.y)


def test_every_builder_is_handed_all_that_was_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[object] = []

    def builder(*, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None) -> TaskStream:
        asked.append((seed, noise, data_dir))
        return disjoint_digits()

    monkeypatch.setitem(registry.DATASETS, "mine", Dataset(builder))
    load_stream("mine", seed=4, noise="uniform:0.1", data_dir=tmp_path)
    assert asked == [(4, "uniform:0.1", tmp_path)]


@pytest.mark.parametrize(
    ("name", "nearest"), [("disjoint-minst", "disjoint-mnist"), ("split_mnist", "split-mnist"), ("digits", "digits")]
)
def test_an_unknown_name_gets_the_nearest_and_the_list(name: str, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"no data set '{name}' .nearest: '.*{nearest}") as refusal:
        load_stream(name)
    for known in DATASETS:
        assert known in str(refusal.value)


def test_a_name_like_none_gets_the_list_alone() -> None:
    with pytest.raises(ValueError, match="no data set 'xyz'; there are disjoint-mnist"):
        load_stream("xyz")
