"""``smartcl events`` as a user meets it."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path

import pytest

from event_examples import example_days, write_files
from smartcl.cli.app import call
from smartcl.events.event_model import EventModel

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


LAST_DAYS = [f"{place},9999-12-{day:02},word,{day % 3}\n" for day in range(1, 32) for place in ("A", "B")]
PATIENCE = 5.0

ODD_FILES = {
    "deep JSON": ("c.jsonl", "[" * 100_000, "record 1: not a JSON object"),
    "400 digits": (
        "c.jsonl",
        '{"city": "A", "day": "2014-01-01", "keyword": "x", "count": 1' + "0" * 400 + "}",
        "a count",
    ),
    "half a character": (
        "c.jsonl",
        '{"city": "\\ud800", "day": "2014-01-01", "keyword": "x", "count": 1}',
        r"record 1, column 'city': expected a text in Unicode, got '\ud800'",
    ),
    "year 10000": ("c.csv", "city,day,keyword,count\nA,10000-01-01,x,1\n", "expected an ISO date"),
    "64 years": (
        "c.csv",
        "city,day,keyword,count\nA,2014-01-01,x,1\nA,2014-01-02,x,1\nA,2078-01-01,x,1\n",
        "record 3, column 'day': 2078-01-01 is mistyped, or rows are missing: 23,374 days without counts",
    ),
    "the end of time": (
        "c.csv",
        "".join(["city,day,keyword,count\n", *LAST_DAYS]),
        "a horizon of 1 after 9999-12-31 reaches past 9999-12-31, the last date there is",
    ),
}


@pytest.mark.parametrize("case", ODD_FILES)
def test_odd_files_are_one_line(
    case: str, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, text, message = ODD_FILES[case]
    (tmp_path / name).write_text(text)
    (tmp_path / "last.csv").write_text("city,day\nA,9999-12-10\nB,9999-12-12\n")
    events = ["--events", str(tmp_path / "last.csv")] if case == "the end of time" else []
    assert call([*command, "--counts", str(tmp_path / name), *events]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_a_horizon_beyond_all_days_is_refused_at_once(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for horizon in ("100000000", str(10**30)):
        start = time.monotonic()
        assert call([*command, "--horizon", horizon]) == 2
        assert time.monotonic() - start < PATIENCE
        assert "too few days" in capsys.readouterr().err


DAMAGED = {
    "incomplete": '{"format": "smartcl-model", "version": 1}',
    "cut off": '{"format": "smartcl-mo',
    "empty": "",
    "deep": "[" * 100_000,
    "other": '{"name": "my web app", "version": "1.0"}',
}


@pytest.mark.parametrize("case", DAMAGED)
@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_a_damaged_model_is_told_before_training_and_left_alone(
    case: str, overwrite: list[str], command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    monkeypatch.setattr("smartcl.learners.learner.Learner.observe", lambda *_: pytest.fail("trained"))
    out = tmp_path / "model"
    out.mkdir()
    (out / "model.json").write_text(DAMAGED[case])
    assert call([*command, "--out", str(out), *overwrite]) == 2
    said = capsys.readouterr().err
    assert "--out must be a new folder or hold a whole saved model" in said
    assert said.count("\n") == 1
    assert (out / "model.json").read_text() == DAMAGED[case]
    assert len(list(out.iterdir())) == 1


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "arrays.safetensors")


def test_a_full_disk_is_found_before_training(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smartcl.saving.atomic.write_file", no_space)
    monkeypatch.setattr("smartcl.learners.learner.Learner.observe", lambda *_: pytest.fail("trained"))
    assert call([*command, "--out", str(tmp_path / "deep" / "model")]) == 1
    assert "deep/model: nothing can be written there: No space left on device" in capsys.readouterr().err
    assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_disk_that_fills_up_in_the_meantime_costs_no_result(
    as_json: list[str],
    command: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("smartcl.events.forecast.EventForecast.save", no_space)
    assert call([*command, "--out", str(tmp_path / "model"), *as_json]) == 1
    captured = capsys.readouterr()
    assert captured.err == "smartcl: arrays.safetensors: No space left on device\n"
    assert "saved:" not in captured.out
    assert json.loads(captured.out)["forecast"] if as_json else "Backtest" in captured.out


def test_a_folder_may_be_called_anything(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call([*command, "--out", str(tmp_path / "[/red] größer")]) == 0
    assert "[/red] größer (model" in capsys.readouterr().out


MISTAKES = {
    "huge seed": (["--seed", str(2**32)], "--seed"),
    "learning rate": (["--set", "lr=1e30"], "lr must be a number in (0, 10], got '1e30'"),
    "infinite strength": (["--set", "distill=1e400"], "distill must be a number in [0, 1e+06], got '1e400'"),
    "huge strength": (["--set", "beta=1e300"], "beta must be a number in"),
    "negative patience": (["--set", "patience=-5"], "patience must be a whole number from 1 to 255, got '-5'"),
    "huge network": (["--set", "hidden=1000000,1000000"], "hidden must fit the machine's"),
    "below a file": (["--out", f"{__file__}/model"], "is a file"),
    "half a character in a column": (["--place", "\udc80"], "expected a text in Unicode"),
    "no such file": (["--counts", "nowhere.csv"], "there is no file nowhere.csv"),
    "other file": (["--counts", __file__], "the name of a table must end in"),
    "column": (["--place", "town"], "has no column 'town': it has 'day', 'keyword', 'count', 'city'"),
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
