"""A result file keeps what tables and figures show: the same scores, fewer looks, the strongest features."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smartcl.paper.experiments.compact_results import compacted
from smartcl.paper.experiments.feature_ranking import TOP
from smartcl.paper.experiments.keywords import KeywordStudy
from smartcl.paper.experiments.measures import SCORES
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.task_run import run

RESULTS = Path(__file__).parents[3] / "results"


@pytest.fixture(scope="module")
def result():
    spec = RunSpec.of({"hidden": (8,), "iterations": 1}, dataset="simulated-events", method="smart")
    return run(spec)


def test_what_is_kept_says_what_the_run_said(result):
    kept = compacted(result)
    assert kept.keys() == result.keys() - {"task_names"}
    assert all(kept[score] == result[score] for score in SCORES)
    assert kept["accuracy_per_task"] == pytest.approx(result["accuracy_per_task"], rel=1e-3)
    for name, line in result["references"].items():
        assert kept["references"][name] == pytest.approx({score: line[score] for score in SCORES}, rel=1e-3)
    assert KeywordStudy.of(kept).tops == KeywordStudy.of(result).tops
    assert max(map(len, kept["keywords"]["features"])) == TOP
    whole, history = result["memory_history"], kept["memory_history"]
    assert history["batches"] == sorted(set(history["batches"]))
    assert history["samples"][-1] == whole["samples"][-1]
    assert len(json.dumps(kept)) < len(json.dumps(result)) / 2


@pytest.mark.parametrize(
    ("names", "gone"),
    [
        ({"seed": 1}, {"keywords"}),
        ({"noise": "flip:0.2"}, {"keywords", "constraint_history", "accuracy_matrix"}),
        ({"seed": 3}, {"keywords", "constraint_history", "memory_history", "accuracy_matrix"}),
    ],
)
def test_how_a_run_went_is_kept_of_the_first_seeds_alone(result, names, gone):
    kept = compacted({**result, "spec": {**result["spec"], **names}})
    assert kept.keys() == result.keys() - {"task_names"} - gone
    assert all(kept[score] == result[score] for score in SCORES)


def test_of_a_matrix_that_nobody_can_read_its_last_row_is_kept(result):
    many = [[round(50 + row / 3 + task, 3) for task in range(44)] for row in range(44)]
    kept = compacted({**result, "accuracy_matrix": many, "accuracy_per_task": many[-1]})
    assert kept.keys() == result.keys() - {"task_names", "accuracy_matrix"}
    assert kept["accuracy_per_task"] == pytest.approx(many[-1], rel=1e-3)


def test_to_compact_again_changes_nothing(result, tmp_path):
    kept = compacted(result)
    assert compacted(kept) == kept
    results, spec = ResultFolder(tmp_path), RunSpec.from_dict(result["spec"])
    results.save(spec, result)
    assert results.load(spec) == {"key": spec.key, **json.loads(json.dumps(kept))}


def test_the_committed_results_stay_small():
    assert sum(path.stat().st_size for path in RESULTS.glob("*.jsonl")) < 10_000_000
