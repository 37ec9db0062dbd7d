"""Figures and theory from result files: what they say is what the files say."""

from __future__ import annotations

import csv
import json

import pytest

from smartcl.cli.app import call
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.sensitivity import ALONG_ALPHA, ALONG_BETA
from smartcl.paper.experiments.tables import TABLES
from smartcl.paper.experiments.theory import RUNS, counter_example
from smartcl.paper.report.artefacts import find_artefacts


def row_of(table, method, **parameters):
    return next(row for row in table.rows if row.method == method and parameters.items() <= row.parameters.items())


@pytest.fixture
def no_runs(monkeypatch):
    """Of what is there, as if nothing were missing."""
    monkeypatch.setattr("smartcl.paper.commands.reproduce.missing", lambda *_: [])


@pytest.mark.usefixtures("no_runs")
def test_the_sensitivity_figure_has_a_point_for_every_cell_with_runs(tmp_path, capsys):
    results = ResultFolder(tmp_path / "results")
    for seed, accuracy in enumerate((90.0, 92.0)):
        row = row_of(ALONG_ALPHA, "smart", alpha=0.005)
        results.save(ALONG_ALPHA.spec(row, "clean", seed), {"accuracy": accuracy, "stream": "disjoint-mnist"})
    row = row_of(ALONG_BETA, "smart-paper", beta=0.5)
    results.save(ALONG_BETA.spec(row, "40%", 0), {"accuracy": 70.0})
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
        alpha, beta = csv.DictReader(file)
    assert (alpha["parameter"], alpha["value"], alpha["method"], alpha["mean"]) == ("alpha", "0.005", "smart", "91.0")
    assert (beta["parameter"], beta["value"], beta["noise"], beta["n"]) == ("beta", "0.5", "40%", "1")
    assert (out / "sensitivity.png").read_bytes().startswith(b"\x89PNG")
    assert "smart-paper, 40%" in (out / "sensitivity.svg").read_text()


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
    spec = RUNS.spec(row_of(RUNS, "er"), "300", 0)
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


def test_the_counter_example_refutes_the_printed_bound_alone():
    found = counter_example()
    product = sum(a * b for a, b in zip(found["new"], found["memory"], strict=True))
    assert product == pytest.approx(0.0, abs=1e-15)
    assert found["product"] >= 0
    assert found["rise"] == pytest.approx(sum(found["memory"]))
    assert found["printed_bound"] < found["rise"] <= min(found["l2_bound"], found["hoelder_bound"]) + 1e-12


@pytest.mark.usefixtures("no_runs")
def test_nothing_is_written_where_nothing_was_run(tmp_path):
    out = tmp_path / "out"
    for name in ("figure-sensitivity", "theory", "table3-tuning"):
        assert call(["reproduce", name, "--results", str(tmp_path / "none"), "--out", str(out)]) == 0
    assert not out.exists()


def test_all_is_everything_but_the_tuning():
    every = find_artefacts("all")
    assert every.keys() >= {*TABLES, "figure-sensitivity", "theory"}
    assert "table3-tuning" not in every
