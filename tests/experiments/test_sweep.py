"""Sweeps: only what is missing runs, failures stop nothing, files are whole or absent."""

from __future__ import annotations

import json

import pytest

from smartcl.cli.app import call
from smartcl.experiments import tables
from smartcl.experiments.results import ResultFolder
from smartcl.experiments.spec import RunSpec
from smartcl.experiments.sweep import missing, sweep
from smartcl.experiments.tables import Row, Table

QUICK = {"hidden": (8,), "iterations": 1}


def spec(seed: int, **more: str) -> RunSpec:
    return RunSpec.of(QUICK, dataset="disjoint-digits", method="er", memory="20 samples", seed=seed, **more)


def test_a_sweep_makes_what_is_missing_and_collects_failures(tmp_path):
    results = ResultFolder(tmp_path)
    specs = [spec(0), spec(1), spec(0), spec(0, noise="foreign:0.5"), RunSpec("no-such-data", "er")]
    seen = []
    failures = sweep(specs, results, lambda run, reason: seen.append(run), workers=2)
    assert list(failures) == [specs[-1]]
    assert "there is no data set" in failures[specs[-1]]
    assert len(seen) == 4
    assert missing(specs, results) == [specs[-1]]
    stamp = results.path(specs[0]).stat().st_mtime_ns
    sweep(specs[:2], results, workers=1)
    assert results.path(specs[0]).stat().st_mtime_ns == stamp


def test_a_damaged_result_is_a_run_not_made(tmp_path):
    results = ResultFolder(tmp_path)
    results.save(spec(0), {"accuracy": 1.0})
    assert results.load(spec(0)) == {"accuracy": 1.0}
    results.path(spec(0)).write_text("{")
    assert missing([spec(0)], results) == [spec(0)]


def test_saving_that_fails_leaves_the_old_result(tmp_path):
    results = ResultFolder(tmp_path)
    results.save(spec(0), {"accuracy": 1.0})
    with pytest.raises(TypeError):
        results.save(spec(0), {"accuracy": object()})
    assert results.load(spec(0)) == {"accuracy": 1.0}
    assert len(list(results.path(spec(0)).parent.iterdir())) == 1


@pytest.fixture
def small_table(monkeypatch):
    table = Table(
        "small",
        "A small table",
        "disjoint-digits",
        (Row("ER", "er", QUICK, printed="ER"), Row("SMART", "smart", QUICK)),
        ("10", "20"),
        tables.memory,
        {"ER": ((1.0, 0.1), (2.0, 0.2))},
        seeds=2,
    )
    monkeypatch.setitem(tables.TABLES, "small", table)
    return table


def test_reproduce_runs_shows_and_prints(tmp_path, capsys, small_table):
    folder = ["--results", str(tmp_path)]
    assert call(["reproduce", "small", *folder, "--workers", "2", "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [cell["n"] for cell in cells] == [2, 2, 2, 2]
    assert [cell["published"] for cell in cells] == [1.0, 2.0, None, None]
    assert call(["reproduce", "small", *folder, "--show"]) == 0
    assert "(2)" in capsys.readouterr().out


def test_a_cell_is_the_mean_and_deviation_of_its_runs(tmp_path, small_table):
    results, row = ResultFolder(tmp_path), small_table.rows[0]
    for seed, accuracy in enumerate((80.0, 90.0, 85.0)):
        results.save(small_table.spec(row, "10", seed), {"accuracy": accuracy})
    cell = small_table.cell(row, "10", 3, results)
    assert (cell["mean"], cell["std"], cell["n"]) == (85.0, 5.0, 3)
    assert small_table.cell(row, "20", 3, results)["mean"] is None


def test_unknown_tables_and_rows_are_named(capsys):
    assert call(["reproduce", "tabel1"]) == 2
    assert "known are table1" in capsys.readouterr().err
    assert call(["reproduce", "table1", "--row", "nobody"]) == 2
    assert "has no row of the method 'nobody'" in capsys.readouterr().err


def test_runs_that_fail_are_no_mistake_of_the_arguments(tmp_path, capsys, small_table, monkeypatch):
    monkeypatch.setattr("smartcl.cli.reproduce.sweep", lambda specs, *_: {specs[0]: "OSError: no space"})
    assert call(["reproduce", "small", "--results", str(tmp_path)]) == 1
    assert "1 runs failed; the first, er: OSError: no space" in capsys.readouterr().err
