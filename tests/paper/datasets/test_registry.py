from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from smartcl.paper.datasets import dataset_registry as registry
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.dataset_registry import DATASETS, Dataset, load_stream, protocol_of
from smartcl.paper.datasets.digit_pairs import disjoint_digits
from smartcl.paper.datasets.protocols import SMALL, DigitProtocol
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

    def builder(
        *, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None, protocol: object
    ) -> TaskStream:
        asked.append((seed, noise, data_dir, protocol))
        return disjoint_digits()

    monkeypatch.setattr("smartcl.paper.datasets.digit_pairs.split_mnist", builder)
    monkeypatch.setitem(registry.DATASETS, "mine", Dataset("digit_pairs:split_mnist", SMALL, "mine"))
    load_stream("mine", seed=4, noise="uniform:0.1", data_dir=tmp_path)
    assert asked == [(4, "uniform:0.1", tmp_path, SMALL)]


def test_a_protocol_is_plain_values_and_two_benchmarks_of_one_source_differ_in_it() -> None:
    said = {name: (DATASETS[name].source, json.dumps(protocol_of(name), sort_keys=True)) for name in DATASETS}
    for protocol in map(protocol_of, DATASETS):
        assert {"batch_size", "epochs"} <= {*protocol, *protocol.get("panel", {})}
    for names in (["disjoint-mnist", "disjoint-mnist-validation", "split-mnist", "split-mnist-validation"],):
        assert len({said[name] for name in names}) == len(names)
    assert said["flu-2011"] != said["flu-2011-validation"]
    assert said["civil-brazil"] != said["civil-brazil-validation"]


@pytest.mark.parametrize("name", ["disjoint-digits", "simulated-events"])
def test_a_stream_is_cut_as_its_protocol_says_from_the_data_it_names(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, stream = DATASETS[name], load_stream(name)
    assert (stream.batch_size, stream.epochs) == (dataset.protocol.batch_size, dataset.protocol.epochs)
    assert stream.source == dataset.source
    if isinstance(dataset.protocol, DigitProtocol):
        other = replace(dataset, protocol=replace(dataset.protocol, samples_per_task=100, batch_size=20, epochs=3))
        monkeypatch.setitem(DATASETS, name, other)
        assert len(load_stream(name)) == 5 * 5 * 3


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
