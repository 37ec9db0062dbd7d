"""The figure of samples held is what the result files say."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.samples_held import HELD_RUNS, held_curves
from smartcl.paper.report.samples_figure import draw_samples, write_samples

DIGITS = replace(HELD_RUNS, columns=("disjoint-digits",))


def save(folder, method, samples, sizes, seed=0):
    history = {"batches": [1, 2, 3], "samples": samples, "bytes": sizes}
    result = {"stream": "toy stream", "budget_bytes": 2000, "memory_history": history}
    folder.save(RunSpec("disjoint-digits", method, "300 samples", seed=seed), result)


@pytest.fixture
def results(tmp_path):
    folder = ResultFolder(tmp_path / "results")
    save(folder, "smart", [10, 20, 60], [200, 400, 1200])
    save(folder, "smart-paper", [10, 20, 30], [300, 600, 900])
    save(folder, "er", [10, 15, 15], [1000, 1980, 1980])
    return folder


def test_the_csv_compares_with_whole_storage_at_each_look(results, tmp_path):
    written = write_samples(list(held_curves(DIGITS, 1, results)), tmp_path / "out")
    assert {path.name for path in written} == {path.name for path in (tmp_path / "out").iterdir()}
    with (tmp_path / "out" / "figure-samples.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == "smart"]
    assert [row["percent_of_whole_storage"] for row in rows] == ["100.0", "133.3", "400.0"]
    assert [row["bytes"] for row in rows] == ["200", "400", "1200"]
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == [".csv", ".svg", ".svg"]


def test_curves_carry_their_names_counts_and_shares(results):
    (_, counts), (_, sizes) = draw_samples(list(held_curves(DIGITS, 1, results))).panels
    labels = {key.label for key in counts.keys}
    assert labels == {"smart: 60 (400%)", "smart-paper: 30 (200%)", "whole samples: 15"}
    assert "smart: 60% of the budget" in {key.label for key in sizes.keys}


def test_seeds_are_averaged(results):
    save(results, "smart", [10, 40, 100], [200, 400, 1400], seed=1)
    curve = next(held_curves(DIGITS, 3, results))
    assert (curve.seeds, curve.samples.tolist(), curve.bytes.tolist()) == (2, [10, 30, 80], [200, 400, 1300])
    assert not list(held_curves(replace(HELD_RUNS, columns=("split-mnist",)), 3, results))


def test_without_runs_nothing_is_written(tmp_path):
    assert write_samples([], tmp_path / "out") == []
    assert not (tmp_path / "out").exists()
