"""The case study: what it notes is what the network holds."""

from __future__ import annotations

import numpy as np
import pytest

from smartcl.learners.methods import build_learner
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.paper.experiments.keywords import KeywordNotes, KeywordStudy, feature_names, task_names
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.task_run import learn

QUICK = {"hidden": (8,), "iterations": 1}
SPEC = RunSpec.of({**QUICK, "alpha": 0.1}, dataset="disjoint-digits", method="smart", memory="30 samples")


@pytest.fixture(scope="module")
def result():
    stream = load_stream("disjoint-digits")
    notes = KeywordNotes(stream)
    learn(
        build_learner("smart", stream.spec, "30 samples", **dict(SPEC.parameters)), stream, after_task=notes.after_task
    )
    return {"keywords": notes.as_dict(), "spec": SPEC.as_dict(), "stream": stream.name}


def test_what_is_noted_is_the_order_of_the_norms_after_each_task(result):
    stream = load_stream("disjoint-digits")
    learner = build_learner("smart", stream.spec, "30 samples", **dict(SPEC.parameters))
    norms = []
    for number in range(len(stream.tasks)):
        for batch in stream.batches_of(number):
            learner.observe(batch)
        norms.append(learner.model.network.first.weight.detach().square().sum(dim=1).sqrt().numpy().copy())
    noted = result["keywords"]
    assert len(noted["features"]) == len(norms) == 5
    for top, values, expected in zip(noted["features"], noted["norms"], norms, strict=True):
        assert 0 < len(top) == np.count_nonzero(expected) < stream.n_features
        np.testing.assert_allclose(values, np.sort(expected)[::-1][: len(top)], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(values, expected[top], rtol=1e-4, atol=1e-6)
    assert noted["listened"] == [np.count_nonzero(row) for row in norms]


def test_a_study_is_cut_to_the_strongest(result):
    whole, cut = KeywordStudy.of(result, 60), KeywordStudy.of(result, 3)
    assert [top[:3] for top in whole.tops] == list(cut.tops)
    assert cut.fates.keys() == {feature for top in cut.tops for feature in top}
    assert cut.names[cut.tops[0][0]] == f"feature {cut.tops[0][0]}"
    assert cut.tasks == ("task 1", "task 2", "task 3", "task 4", "task 5")
    with pytest.raises(ValueError, match=r"k must be in 1\.\.100.* got 101"):
        KeywordStudy.of(result, 101)


def test_names_are_the_streams_own_where_it_has_them():
    stream = load_stream("simulated-events")
    assert feature_names(stream) == stream.feature_names
    assert task_names(stream)[0] == "city 1"


def test_after_task_is_called_once_per_task_before_the_next():
    stream = load_stream("disjoint-digits")
    learner = build_learner("er", stream.spec, "30 samples", **QUICK)
    seen, done = [], []
    learn(learner, stream, lambda n, _, __: done.append(n), lambda number, _: seen.append((number, len(done))))
    per_task = [sum(1 for _ in stream.batches_of(number)) for number in range(5)]
    assert seen == list(enumerate(np.cumsum(per_task)))
