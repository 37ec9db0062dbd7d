"""Figures and theory from result files: what they say is what the files say."""

from __future__ import annotations

import csv
import json

import pytest

from smartcl.cli.app import call
from smartcl.paper.experiments.catalogue import FIGURES, TABLES
from smartcl.paper.experiments.precision_runs import BYTES_RUNS
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.sensitivity import ALONG_ALPHA, ALONG_BETA
from smartcl.paper.experiments.theory import THEORY_RUNS
from smartcl.paper.report.renderings import RENDERINGS, nothing


def row_of(table, method, **parameters):
    return next(row for row in table.rows if row.method == method and parameters.items() <= row.parameters.items())


@pytest.fixture
def no_runs(monkeypatch):
    """Of what is there, as if nothing were missing."""
    monkeypatch.setattr("smartcl.paper.commands.reproduce_command.missing", lambda *_: [])


@pytest.mark.usefixtures("no_runs")
def test_the_sensitivity_figure_has_a_point_for_every_cell_with_runs(tmp_path, capsys):
    results = ResultFolder(tmp_path / "results")
    for seed, accuracy in enumerate((90.0, 92.0)):
        row = row_of(ALONG_ALPHA, "smart", alpha=0.005)
        results.save(ALONG_ALPHA.spec(row, "clean", seed), {"accuracy": accuracy, "stream": "disjoint-mnist"})
    for beta, accuracy in ((0.1, 75.0), (0.5, 70.0)):
        row = row_of(ALONG_BETA, "smart-paper", beta=beta)
        results.save(ALONG_BETA.spec(row, "40%", 0), {"accuracy": accuracy})
    spec = ALONG_BETA.spec(row, "40%", 0)
    assert (spec.noise, dict(spec.parameters)["beta"], spec.memory) == ("foreign:0.4", 0.5, "300 samples")
    out = tmp_path / "figures"
    arguments = ["--json", "--results", str(results.folder), "--out", str(out)]
    assert call(["reproduce", "figure-sensitivity", *arguments, "--show"]) == 0
    assert json.loads(capsys.readouterr().out)["tables"]
    assert not out.exists()  # what is shown is not written
    assert call(["reproduce", "figure-sensitivity", *arguments]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [table["table"] for table in said["tables"]] == ["figure-sensitivity-alpha", "figure-sensitivity-beta"]
    with (out / "sensitivity.csv").open() as file:
        alpha, *betas = csv.DictReader(file)
    assert (alpha["parameter"], alpha["value"], alpha["method"], alpha["mean"]) == ("alpha", "0.005", "smart", "91.0")
    assert [(beta["value"], beta["noise"], beta["mean"], beta["n"]) for beta in betas] == [
        ("0.1", "foreign:0.4", "75.0", "1"),
        ("0.5", "foreign:0.4", "70.0", "1"),
    ]
    [drawn] = out.glob("*.svg")  # of α there is one point alone, which is no curve
    assert drawn.name == "sensitivity-beta-neural-correlation.svg"
    assert "smart-paper, disjoint-mnist foreign:0.4, 0.5: 70.00 (n = 1)" in drawn.read_text()


@pytest.mark.usefixtures("no_runs")
def test_theory_counts_the_looks_where_eq_2_holds(tmp_path, capsys):
    results = ResultFolder(tmp_path / "results")
    history = {
        "batches": [2, 4, 6, 8],
        "cosine": [0.5, -0.5, 0.0, 0.25],
        "rise": [1.0, 9.0, -2.0, 3.0],
        "l2_bound": [4.0, 8.0, 4.0, 2.0],
        "hoelder_bound": [None, 1.0, 8.0, 4.0],
    }
    spec = THEORY_RUNS.spec(row_of(THEORY_RUNS, "er"), "300", 0)
    assert spec in TABLES["table1"].specs(1)  # the same runs, not further ones
    results.save(spec, {"accuracy": 90.0, "constraint_history": history})
    arguments = ["--results", str(results.folder), "--out", str(tmp_path)]
    assert call(["reproduce", "theory", "--json", *arguments]) == 0
    [line] = json.loads(capsys.readouterr().out)["lines"]
    assert (line["row"], line["looks"], line["holds"], line["cosine"]) == ("ER", 4, 75.0, 0.0625)
    assert line["l2_bound"] == {"looks": 3, "median": 0.25, "largest": 1.5, "exceeded": 1}
    assert line["hoelder_bound"] == {"looks": 2, "median": 0.25, "largest": 0.75, "exceeded": 0}
    assert len((tmp_path / "theory.csv").read_text().splitlines()) == 5
    assert call(["reproduce", "theory", "--show", *arguments]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "75.0 %" in out
    assert "the rise is 3.0000 and the printed bound 1.7320" in out


@pytest.mark.usefixtures("no_runs")
def test_accuracy_is_drawn_against_the_logarithm_of_bytes(tmp_path, capsys):
    results = ResultFolder(tmp_path / "results")
    for column, accuracy in (("5", 90.0), ("500", 97.0)):
        results.save(BYTES_RUNS.spec(BYTES_RUNS.rows[0], column, 0), {"accuracy": accuracy})
    arguments = ["--results", str(results.folder), "--out", str(tmp_path)]
    assert call(["reproduce", "figure-bytes", "--json", *arguments]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [(point["bytes"], point["mean"]) for point in data["points"]] == [(3920, 90.0), (392_000, 97.0)]
    assert data["published"][0]["mean"] == 85.28
    drawing = (tmp_path / "accuracy-log-bytes.svg").read_text()
    assert "SMART, published" in drawing
    assert len((tmp_path / "accuracy-log-bytes.csv").read_text().splitlines()) == 1 + 2 + 5


@pytest.mark.usefixtures("no_runs")
def test_nothing_is_written_where_nothing_was_run(tmp_path):
    out = tmp_path / "out"
    for name in ("figure-sensitivity", "theory", "table3-tuning"):
        assert call(["reproduce", name, "--results", str(tmp_path / "none"), "--out", str(out)]) == 0
    assert not out.exists()


def test_every_figure_of_the_catalogue_is_rendered():
    assert RENDERINGS.keys() == FIGURES.keys()
    for name, figure in FIGURES.items():
        assert (RENDERINGS[name].write is nothing) == (not figure.files)
