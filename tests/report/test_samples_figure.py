"""The figure of samples held is what the result files say."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from smartcl.cli.app import call
from smartcl.experiments.results import ResultFolder
from smartcl.experiments.samples_held import METHODS, held_samples, samples_specs
from smartcl.experiments.spec import RunSpec
from smartcl.report.samples_figure import draw_samples, make_samples_figure


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


def make(results, out, seeds=1):
    return make_samples_figure(results.folder, out, ["disjoint-digits"], seeds, workers=1)


def test_the_csv_compares_with_whole_storage_at_each_look(results, tmp_path):
    assert make(results, tmp_path / "out") == {}
    with (tmp_path / "out" / "figure-samples.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == "smart"]
    assert [row["percent_of_whole_storage"] for row in rows] == ["100.0", "133.3", "400.0"]
    assert [row["bytes"] for row in rows] == ["200", "400", "1200"]
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == [".csv", ".png", ".svg"]


def test_curves_carry_their_names_counts_and_shares(results):
    curves = [held_samples("disjoint-digits", method, 1, "300 samples", results) for method in METHODS]
    counts, sizes = draw_samples([curve for curve in curves if curve is not None], "300 samples").axes
    labels = [text.get_text() for text in counts.texts]
    assert "smart: 60 (400%)" in labels
    assert "smart-paper: 30 (200%)" in labels
    assert "whole samples: 15" in labels
    assert "smart: 60% of the budget" in [text.get_text() for text in sizes.texts]
    places = sorted(text.get_position()[1] for text in sizes.texts if "% of" in text.get_text())
    assert min(np.diff(places)) > 0.09  # none over another


def test_seeds_are_averaged(results):
    save(results, "smart", [10, 40, 100], [200, 400, 1400], seed=1)
    curve = held_samples("disjoint-digits", "smart", 3, "300 samples", results)
    assert curve is not None
    assert (curve.seeds, curve.samples.tolist(), curve.bytes.tolist()) == (2, [10, 30, 80], [200, 400, 1300])
    assert held_samples("split-mnist", "smart", 3, "300 samples", results) is None


def test_every_method_runs_on_every_data_set_and_seed():
    specs = samples_specs(("a", "b"), seeds=2)
    assert len(set(specs)) == len(specs) == 2 * 2 * len(METHODS)
    assert specs[-1] == RunSpec("b", "er", "300 samples", seed=1)


def test_the_command_names_what_is_wrong(capsys, tmp_path):
    assert call(["figure-samples", "--dataset", "mnist"]) == 2
    assert "there is no data set 'mnist'" in capsys.readouterr().err
    assert call(["figure-samples", "--memory", "much"]) == 2
    assert "much" in capsys.readouterr().err


def test_runs_that_fail_are_named_and_leave_no_figure(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("smartcl.report.samples_figure.sweep", lambda specs, *_: {specs[0]: "OSError: no space"})
    folders = ["--results", str(tmp_path / "results"), "--out", str(tmp_path / "out")]
    assert call(["figure-samples", "--dataset", "disjoint-digits", *folders]) == 1
    said = capsys.readouterr()
    assert "1 runs failed; the first, smart on disjoint-digits: OSError: no space" in said.err
    assert "picture" not in said.out
    assert not (tmp_path / "out").exists()
