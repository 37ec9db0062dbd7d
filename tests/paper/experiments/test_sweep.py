"""Sweeps: only what is missing runs, failures stop nothing, files are whole or absent."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from smartcl.cli.app import call
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.engines.engine import attempt
from smartcl.paper.experiments.paper_tables import memory
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_lines import RunLines
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.run_table import Row, Table
from smartcl.paper.experiments.sweep import missing, sweep
from smartcl.paper.report.explanations import EXPLANATIONS

QUICK = {"hidden": (8,), "iterations": 1}


def spec(seed: int, **more: str) -> RunSpec:
    return RunSpec.of(QUICK, dataset="disjoint-digits", method="er", memory="20 samples", seed=seed, **more)


class Here:
    """An engine without processes that counts what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[RunSpec] = []

    def outcomes(self, work, specs):
        self.asked += specs
        for one in specs:
            yield attempt(work, one)


def test_a_sweep_makes_what_is_missing_and_collects_failures(tmp_path):
    results = ResultFolder(tmp_path)
    specs = [spec(0), spec(1), spec(0), spec(0, noise="foreign:0.5"), RunSpec("no-such-data", "er")]
    seen = []
    failures = sweep(missing(specs, results), results, Here(), seen.append)
    assert list(failures) == [specs[-1]]
    assert "there is no data set" in failures[specs[-1]]
    assert [outcome.result is None for outcome in seen] == [False, False, False, True]
    assert missing(specs, results) == [specs[-1]]
    again = Here()
    sweep(missing([*specs[:2], spec(2)], results), results, again)
    assert again.asked == [spec(2)]


def test_a_run_on_a_stand_in_is_saved_as_that_and_never_as_what_was_asked(tmp_path):
    asked = RunSpec("disjoint-mnist", "er")
    made = RunSpec("disjoint-mnist", "er", source="scikit-learn's digits")
    results = ResultFolder(tmp_path)
    failures = sweep([asked], results, Here(), work=lambda _: {"accuracy": 1.0, "spec": made.as_dict()})
    assert failures[asked] == "it learned from scikit-learn's digits, not from MNIST, and is saved as that"
    assert results.load(asked) is None
    assert results.load(made) == {"key": made.key, "accuracy": 1.0, "spec": made.as_dict()}


@pytest.mark.filterwarnings("always:scikit-learn")
def test_without_mnist_a_table_is_of_its_stand_in_throughout(tmp_path, capsys, monkeypatch):
    """What is there of MNIST is not mixed in; what was made of the stand-in is not made again, nor shown as MNIST."""
    table = Table("tiny", "A table", "disjoint-mnist", (Row("ER", "er", QUICK),), ("10", "20"), memory, {}, 1)
    monkeypatch.setitem(TABLES, "tiny", table)
    ResultFolder(tmp_path).save(table.specs()[0], {"accuracy": 99.0, "stream": "disjoint-mnist"})
    monkeypatch.setenv("SMARTCL_DATA", str(tmp_path / "empty"))
    monkeypatch.setattr("smartcl.paper.datasets.mnist.MIRRORS", ())
    monkeypatch.setenv("PATH", "")
    asked: list[RunSpec] = []

    class Counted(Here):
        def outcomes(self, work, specs):
            asked.extend(specs)
            return super().outcomes(work, specs)

    monkeypatch.setattr("smartcl.paper.experiments.engines.local.LocalEngine", lambda _: Counted())
    for expected in (2, 2):
        assert call(["reproduce", "tiny", "--results", str(tmp_path), "--json"]) == 0
        captured = capsys.readouterr()
        said = json.loads(captured.out)
        assert "stand in for MNIST" in captured.err
        assert [cell["n"] for cell in said["cells"]] == [1, 1]
        assert all(cell["mean"] != 99.0 for cell in said["cells"])
        assert said["streams"] == ["disjoint-digits (scikit-learn's digits: MNIST could not be had)"]
        assert len(asked) == expected
    assert call(["reproduce", "tiny", "--results", str(tmp_path), "--json", "--show"]) == 0
    assert [cell["mean"] for cell in json.loads(capsys.readouterr().out)["cells"]] == [99.0, None]


class Parses:
    """Counts how often each file is parsed, by its content."""

    def __init__(self, monkeypatch) -> None:
        self.texts: Counter[bytes] = Counter()
        original = RunLines._parse
        monkeypatch.setattr(RunLines, "_parse", lambda lines, text: self.texts.update([text]) or original(lines, text))


@pytest.mark.parametrize(
    "command",
    [
        ["reproduce", "small", "--paired"],
        ["reproduce", "small", "--show", "--json"],
        ["report"],
        ["report", "--markdown", "page.md"],
    ],
)
def test_each_result_file_is_parsed_once(command, tmp_path, capsys, small_table, monkeypatch):
    results = ResultFolder(tmp_path / "results")
    wanted = small_table.specs()
    for made in wanted:
        results.save(made, {"accuracy": float(made.seed), "accuracy_matrix": [[1.0]], "spec": made.as_dict()})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr("smartcl.paper.report.markdown_page.SHOWN", (small_table,))
    monkeypatch.setitem(EXPLANATIONS, "small", "")
    parses = Parses(monkeypatch)
    assert call(command) == 0
    assert list(parses.texts.values()) == [1]


def test_a_file_that_changes_is_read_again(tmp_path, monkeypatch):
    results, parses = ResultFolder(tmp_path), Parses(monkeypatch)
    for accuracy in (1.0, 2.0):
        results.save(spec(0), {"accuracy": accuracy})
        assert [results.load(spec(0))["accuracy"] for _ in range(3)] == [accuracy] * 3
    assert parses.texts.total() == 2
    results.file("disjoint-digits").path.unlink()
    assert results.load(spec(0)) is None


def test_a_result_that_cannot_be_saved_is_a_failure_of_its_run_alone(tmp_path):
    results = ResultFolder(tmp_path)
    failures = sweep([spec(0), spec(1)], results, Here(), work=lambda one: {"accuracy": [1.0, float("nan")][one.seed]})
    assert list(failures) == [spec(1)]
    assert failures[spec(1)].startswith("ValueError")
    assert results.load(spec(0))["accuracy"] == 1.0


def test_a_damaged_result_is_a_run_not_made(tmp_path):
    results = ResultFolder(tmp_path)
    results.save(spec(0), {"accuracy": 1.0})
    assert results.load(spec(0))["accuracy"] == 1.0
    results.file("disjoint-digits").path.write_text("{")
    assert missing([spec(0)], results) == [spec(0)]


def test_saving_that_fails_leaves_the_old_result(tmp_path):
    results = ResultFolder(tmp_path)
    results.save(spec(0), {"accuracy": 1.0})
    with pytest.raises(TypeError):
        results.save(spec(0), {"accuracy": object()})
    assert results.load(spec(0))["accuracy"] == 1.0
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["disjoint-digits.jsonl"]


@pytest.fixture
def small_table(monkeypatch):
    table = Table(
        "small",
        "A small table",
        "disjoint-digits",
        (Row("ER", "er", QUICK, printed="ER"), Row("SMART", "smart", QUICK)),
        ("10", "20"),
        memory,
        {"ER": ((1.0, 0.1), (2.0, 0.2))},
        seeds=2,
    )
    monkeypatch.setitem(TABLES, "small", table)
    return table


def test_reproduce_runs_shows_and_prints(tmp_path, capsys, small_table):
    folder = ["--results", str(tmp_path)]
    assert call(["reproduce", "small", *folder, "--workers", "2", "--json"]) == 0
    captured = capsys.readouterr()
    said = json.loads(captured.out)
    assert (said["rows"], said["columns"]) == (["ER", "SMART"], ["10", "20"])
    assert [cell["n"] for cell in said["cells"]] == [2, 2, 2, 2]
    assert [cell["published"] for cell in said["cells"]] == [1.0, 2.0, None, None]
    assert said["streams"] == ["disjoint-digits"]
    lines = captured.err.splitlines()  # no terminal: a line for each of the eight runs
    assert [line.split()[0] for line in lines] == [f"{i}/8" for i in range(1, 9)]
    assert lines[-1].endswith("all done")
    assert call(["reproduce", "small", *folder, "--show", "--paired"]) == 0
    shown = capsys.readouterr()
    assert "(2)" in shown.out
    assert "SMART − ER" in shown.out
    assert shown.err == ""


def test_a_cell_is_the_mean_and_deviation_of_its_runs(tmp_path, small_table):
    results, row = ResultFolder(tmp_path), small_table.rows[0]
    for seed, accuracy in enumerate((80.0, 90.0, 85.0)):
        results.save(small_table.spec(row, "10", seed), {"accuracy": accuracy})
    cell = small_table.cell(row, "10", 3, results)
    assert (cell["mean"], cell["std"], cell["n"]) == (85.0, 5.0, 3)
    assert small_table.cell(row, "20", 3, results)["mean"] is None


def test_mistakes_are_named(capsys):
    mistakes = {
        ("tabel1",): "known are table1",
        ("table1", "--row", "nobody"): "has no row of the method 'nobody'",
        ("all", "--row", "er"): "go with one table",
        ("table1", "--address", "head:6379"): "it goes with --engine ray",
        ("table1", "--engine", "ray", "--address", "head:6379", "--workers", "2"): "--workers is for this machine",
    }
    for arguments, message in mistakes.items():
        assert call(["reproduce", *arguments]) == 2
        assert message in capsys.readouterr().err


def test_failures_are_listed_after_the_table_and_are_no_mistake_of_the_arguments(
    tmp_path, capsys, small_table, monkeypatch
):
    monkeypatch.setattr(
        "smartcl.paper.experiments.sweep.sweep", lambda specs, *_: {specs[0]: "OSError: full", specs[1]: "why"}
    )
    assert call(["reproduce", "small", "--results", str(tmp_path), "--json"]) == 1
    captured = capsys.readouterr()
    assert [cell["n"] for cell in json.loads(captured.out)["cells"]] == [0, 0, 0, 0]
    assert captured.err.splitlines() == [
        "smartcl: failed: disjoint-digits er hidden=(8,) iterations=1, 10 samples, seed 0: OSError: full",
        "smartcl: failed: disjoint-digits er hidden=(8,) iterations=1, 20 samples, seed 0: why",
    ]
