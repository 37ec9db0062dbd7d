"""One run: what is measured, and following the memory from outside."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from smartcl.learners.methods import METHODS, build_learner
from smartcl.paper.datasets.dataset_registry import DATASETS, load_stream, protocol_of
from smartcl.paper.datasets.downloads import FetchError
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.run_table import EXACT_VALUES
from smartcl.paper.experiments.task_run import learn, run

QUICK = {"hidden": (8,), "iterations": 1}


def test_the_key_changes_with_anything_in_the_spec():
    base = RunSpec.of({"lr": 1e-3}, dataset="disjoint-mnist", method="er")
    others = [
        RunSpec.of({"lr": 1e-3}, dataset="split-mnist", method="er"),
        RunSpec.of({"lr": 1e-3}, dataset="disjoint-mnist", method="smart"),
        RunSpec.of({"lr": 1e-4}, dataset="disjoint-mnist", method="er"),
        RunSpec.of({"lr": 1e-3}, dataset="disjoint-mnist", method="er", seed=1),
        RunSpec.of({"lr": 1e-3}, dataset="disjoint-mnist", method="er", noise="flip:0.1"),
        RunSpec.of({"lr": 1e-3}, dataset="disjoint-mnist", method="er", memory="1MB"),
        RunSpec.of({"lr": 1e-3}, dataset="disjoint-mnist", method="er", source="scikit-learn's digits"),
    ]
    assert len({base.key, *(other.key for other in others)}) == 8
    assert base.key == RunSpec.of({"lr": "0.001"}, dataset="disjoint-mnist", method="er").key


def test_the_key_changes_with_a_methods_defaults(monkeypatch):
    before = RunSpec("disjoint-mnist", "er").key
    monkeypatch.setitem(METHODS, "er", METHODS["smart"])
    assert RunSpec("disjoint-mnist", "er").key != before


@pytest.mark.parametrize(
    "change", [{"batch_size": 64}, {"epochs": 2}, {"samples_per_task": 999}, {"validation": 0.1}, {"pixel_mean": 0.5}]
)
def test_the_key_changes_with_the_protocol_of_the_data(change, monkeypatch):
    before = {name: RunSpec(name, "er").key for name in ("disjoint-mnist", "split-mnist")}
    dataset = DATASETS["disjoint-mnist"]
    monkeypatch.setitem(DATASETS, "disjoint-mnist", replace(dataset, protocol=replace(dataset.protocol, **change)))
    assert RunSpec("disjoint-mnist", "er").key != before["disjoint-mnist"]
    assert RunSpec("split-mnist", "er").key == before["split-mnist"]


def test_one_noise_has_one_key_however_it_is_written():
    specs = [RunSpec("disjoint-mnist", "er", noise=text) for text in ("foreign:0.3", "foreign:0.30", "foreign:3e-1")]
    assert len({spec.key for spec in specs}) == len(set(specs)) == 1
    assert RunSpec("disjoint-mnist", "er", noise="foreign:0.3000001").key != specs[0].key
    with pytest.raises(ValueError, match="noise must be one of"):
        RunSpec("disjoint-mnist", "er", noise="salt:0.1")


def test_a_spec_comes_back_from_its_result():
    spec = RunSpec.of(QUICK, dataset="disjoint-digits", method="er", memory="20 samples", noise="flip:0.10", seed=1)
    result = json.loads(json.dumps(run(spec)))
    assert RunSpec.from_dict(result["spec"]) == spec
    assert result["protocol"] == spec.protocol == protocol_of("disjoint-digits")
    assert result["spec"]["source"] == "scikit-learn's digits"


def test_a_run_names_the_data_that_were_really_loaded(monkeypatch):
    """Without MNIST its stand-in is learned from, and the result says so in its spec."""

    def nowhere(*_: object) -> None:
        raise FetchError("MNIST could not be had")

    monkeypatch.setattr("smartcl.paper.datasets.digit_pairs.load_mnist", nowhere)
    asked = RunSpec.of(QUICK, dataset="disjoint-mnist", method="er", memory="20 samples")
    with pytest.warns(UserWarning, match="stand in for MNIST"):
        result = run(asked)
    made = RunSpec.from_dict(result["spec"])
    assert (asked.source, made.source) == ("MNIST", "scikit-learn's digits")
    assert made.key != asked.key


def test_the_matrix_is_what_testing_by_hand_gives():
    stream = load_stream("disjoint-digits", seed=1)
    learner = build_learner("er", stream.spec, "20 samples", 1, **QUICK)
    by_hand = []
    for number, _ in enumerate(stream.tasks):
        for batch in stream.batches_of(number):
            learner.observe(batch)
        rows = []
        for task in stream.tasks:
            right = learner.predict_proba(task.test.x).argmax(dim=1) == task.test.y
            rows.append(100 * float(right.double().mean()))
        by_hand.append(rows)
    result = run(RunSpec.of(QUICK, dataset="disjoint-digits", method="er", memory="20 samples", seed=1))
    np.testing.assert_allclose(result["accuracy_matrix"], by_hand)


def test_event_streams_carry_their_reference_lines_and_digits_do_not():
    result = run(RunSpec.of(QUICK, dataset="simulated-events", method="er", memory="30 samples", noise="flip:0.2"))
    stream = load_stream("simulated-events", noise="flip:0.2")
    events = np.array([task.test.y.double().mean() for task in stream.tasks])
    lines = result["references"]
    assert lines.keys() == {"majority", "base_rate", "logistic_regression"}
    np.testing.assert_allclose(lines["majority"]["accuracy_per_task"], 100 * (1 - events))
    assert lines["base_rate"]["auc_per_task"] == [0.5] * 10
    assert lines["logistic_regression"]["auc"] > 0.8
    assert result["task_names"] == stream.task_names
    held = result["samples_held"] / sum(len(task.train) for task in stream.tasks)
    assert result["share_held"] == pytest.approx(100 * held)
    assert "references" not in run(RunSpec.of(QUICK, dataset="disjoint-digits", method="er", memory="20 samples"))


@pytest.mark.parametrize("method", ["er", "smart", "gss-greedy", "icarl", "gem"])
def test_the_tracker_knows_every_stored_sample(method, monkeypatch):
    """The ids followed from outside name rows that equal the ones in memory, bit for bit."""
    stream = load_stream("disjoint-digits", seed=0, noise="foreign:0.4")
    exact = EXACT_VALUES if method == "smart" else {}
    learner = build_learner(method, stream.spec, "30 samples", 0, **QUICK, **exact)
    trackers = []
    import smartcl.paper.experiments.task_run as module

    original = module.MemoryTracker
    monkeypatch.setattr(module, "MemoryTracker", lambda s: trackers.append(original(s)) or trackers[0])
    result = learn(learner, stream)
    ids = trackers[0]._ids
    everything = torch.cat([task.train.x for task in stream.tasks])
    labels = torch.cat([task.train.y for task in stream.tasks])
    stored = learner.memory.store.gather(np.arange(len(learner.memory)))
    expected = everything[ids].float()[:, learner.memory.store.features]
    assert torch.equal(stored.x, expected if stored.missing is None else expected.masked_fill(stored.missing, 0.0))
    assert torch.equal(stored.y, labels[ids])
    truth = torch.cat([task.true_y for task in stream.tasks])[ids]
    assert result["memory_history"]["purity"][-1] == pytest.approx(float((truth == stored.y).double().mean()))
    assert sum(result["memory_history"]["samples_per_task"][-1]) == len(learner.memory)
