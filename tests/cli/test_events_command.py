"""``smartcl events`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from event_examples import example_days, write_files
from smartcl.cli.app import call
from smartcl.experiments.event_model import EventModel

QUICK = ["--set", "hidden=8", "--set", "iterations=2", "--memory", "20kB"]


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    counts, events = write_files(example_days(n_days=40), tmp_path)
    columns = ["--place", "city", "--date", "day"]
    return ["events", "--counts", str(counts), "--events", str(events), *columns, *QUICK]


def test_people_get_tables_and_a_folder(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "model"
    assert call([*command, "--out", str(out), "--horizon", "2"]) == 0
    shown = capsys.readouterr().out
    assert "Backtest" in shown
    assert all(word in shown for word in ("smart", "place base rate", "majority", "AUC", "Brier"))
    assert all(
        word in shown for word in ("Forecast of 2014-02-09", "2014-02-10 to", "city 5", "probability", "base rate")
    )
    assert {path.name for path in out.glob("*.csv")} == {"forecast.csv", "backtest.csv"}
    assert EventModel.load(out).horizon == 2

    model = (out / "model.json").read_bytes()
    assert call([*command, "--out", str(out)]) == 2
    assert "add --overwrite" in capsys.readouterr().err
    assert (out / "model.json").read_bytes() == model
    assert call([*command, "--out", str(out), "--overwrite"]) == 0
    assert EventModel.load(out).horizon == 1


def test_json_is_one_object_and_the_same_twice(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    def once() -> dict[str, object]:
        assert call([*command, "--json", "--seed", "3"]) == 0
        return json.loads(capsys.readouterr().out) | {"seconds": None}

    result = once()
    assert result == once()
    assert result["memory_bytes"] <= result["budget_bytes"] == 20_000
    assert len(result["forecast"]) == result["places"] == 6
    assert result["backtest"]["lines"].keys() == {"smart", "place base rate", "majority"}


MISTAKES = {
    "no such file": (["--counts", "nowhere.csv"], "there is no file nowhere.csv"),
    "other file": (["--counts", __file__], "the name of a table must end in"),
    "column": (["--place", "town"], "has no column 'town': it has 'city', 'day', 'keyword', 'count'"),
    "one column twice": (["--keyword", "city"], "must be four columns"),
    "horizon": (["--horizon", "0"], "--horizon"),
    "long horizon": (["--horizon", "30"], "too few days"),
    "method": (["--method", "smrt"], "did you mean smart"),
    "parameter": (["--set", "alhpa=1"], "did you mean alpha"),
    "memory": (["--memory", "lots"], "memory must be"),
    "memory below one sample": (["--memory", "3"], "memory must hold at least one sample"),
    "test day": (["--test-from", "tomorrow"], "--test-from: expected an ISO date"),
    "late test day": (["--test-from", "2015-01-01"], "must lie in 2014-01-03 to 2014-02-08"),
    "out": (["--out", __file__], "must be a folder"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(
    mistake: str, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, message = MISTAKES[mistake]
    assert call([*command, *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_an_interrupt_writes_nothing(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("smartcl.learners.learner.Learner.observe", interrupt)
    assert call([*command, "--out", str(tmp_path / "model")]) == 130
    assert capsys.readouterr().err == "smartcl: interrupted; nothing was left half-written\n"
    assert not (tmp_path / "model").exists()


def test_a_place_may_be_called_anything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts, events = write_files(example_days(n_days=40), tmp_path)
    for path in (counts, events):
        path.write_text(path.read_text().replace("city 0", "[red]São João[/red]"))
    assert (
        call(["events", "--counts", str(counts), "--events", str(events), "--place", "city", "--date", "day", *QUICK])
        == 0
    )
    assert "[red]São João[/red]" in capsys.readouterr().out
