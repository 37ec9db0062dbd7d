"""The command line as a user meets it: results, and one line for each mistake."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import smartcl
from smartcl.cli.app import call
from smartcl.learners.methods import METHODS
from smartcl.paper.commands.run_command import _show

TINY = ["--dataset", "disjoint-digits", "--set", "iterations=1", "--set", "hidden=8"]
KEYS = {
    "accuracy",
    "accuracy_per_task",
    "accuracy_matrix",
    "samples_held",
    "memory_bytes",
    "budget_bytes",
    "features_kept",
    "cpu_seconds",
    "seconds",
    "spec",
}


def test_json_is_one_object_with_everything_promised(capsys):
    assert call(["run", *TINY, "--memory", "20 samples", "--noise", "foreign:0.3", "--seed", "3", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result.keys() >= KEYS
    assert result["spec"]["noise"] == "foreign:0.3"
    assert result["spec"]["parameters"] == {"hidden": [8], "iterations": 1}
    assert result["memory_bytes"] <= result["budget_bytes"] == 20 * 64
    assert result["accuracy"] == pytest.approx(sum(result["accuracy_per_task"]) / 5)


def test_the_same_run_twice_is_the_same(capsys):
    def once() -> dict[str, object]:
        assert call(["run", *TINY, "--json"]) == 0
        result = json.loads(capsys.readouterr().out)
        return {key: value for key, value in result.items() if "seconds" not in key}

    assert once() == once()


def test_people_get_a_table(capsys):
    assert call(["run", *TINY]) == 0
    out = capsys.readouterr().out
    assert all(words in out for words in ("accuracy, %", "balanced accuracy, %", "AUC", "task 5", "mean of tasks"))
    assert "features kept" in out
    assert "majority" not in out


def show(result: dict[str, object], n_tasks: int, capsys) -> str:
    scores = {"accuracy": 60.0, "balanced_accuracy": 51.0, "auc": 0.512}
    lists = {f"{name}_per_task": [value + i for i in range(n_tasks)] for name, value in scores.items()}
    facts = dict.fromkeys(("forgetting", "samples_held", "memory_bytes", "budget_bytes", "features_kept"), 1)
    spec = {"method": "smart", "noise": "none", "dataset": "civil-brazil"}
    _show({**scores, **lists, **facts, "seconds": 1.0, "cpu_seconds": 1.0, "stream": "civil", "spec": spec, **result})
    return capsys.readouterr().out


def test_forecasts_are_shown_beside_their_reference_lines(capsys):
    line = {"accuracy": 77.65, "balanced_accuracy": 50.0, "auc": 0.5}
    out = show({"task_names": ["Recife", "Natal"], "references": {"majority": line, "base_rate": line}}, 2, capsys)
    assert [row.split("│")[1:-1] for row in out.splitlines() if "Natal" in row or "base rate" in row] == [
        [" Natal               ", "       61.00 ", "                52.00 ", " 1.512 "],
        ["   base rate         ", "       77.65 ", "                50.00 ", " 0.500 "],
    ]
    assert "near chance" in " ".join(out.split())


def test_many_tasks_are_summed_up(capsys):
    out = show({"task_names": [f"state {i}" for i in range(40)]}, 40, capsys)
    assert "state" not in out.replace("states", "")
    assert [row.split("│")[2].strip() for row in out.splitlines() if "of 40 tasks" in row] == ["60.00", "99.00"]


def test_methods_are_listed(capsys):
    assert call(["methods"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in METHODS)


MISTAKES = {
    "method": (["--method", "smrt"], "unknown method 'smrt': did you mean smart"),
    "dataset": (["--dataset", "mnst"], "there is no data set 'mnst'"),
    "memory": (["--memory", "lots"], "memory must be"),
    "negative memory": (["--memory=-3"], "memory must be"),
    "memory below one sample": (["--memory", "3"], "memory must hold at least one sample"),
    "noise": (["--noise", "pink:0.1"], "noise must be one of"),
    "noise ratio": (["--noise", "flip:1.1"], "noise must be one of"),
    "seed": (["--seed", "one"], "--seed"),
    "negative seed": (["--seed", "-1"], "--seed"),
    "parameter name": (["--set", "alhpa=1"], "did you mean alpha"),
    "parameter value": (["--set", "alpha=big"], "alpha must be a number"),
    "parameter form": (["--set", "alpha"], "--set takes name=value"),
    "option": (["--sed", "1"], "--sed"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(mistake, capsys):
    arguments, message = MISTAKES[mistake]
    assert call(["run", *TINY, *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_the_version_is_told(capsys):
    assert call(["--version"]) == 0
    assert capsys.readouterr().out == f"smartcl {smartcl.__version__}\n"


def test_without_a_command_there_is_help_and_no_error(capsys):
    assert call([]) == 2
    captured = capsys.readouterr()
    assert "reproduce" in captured.out
    assert captured.err == ""


def test_an_interrupt_is_one_line(capsys, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("smartcl.learners.learner.Learner.observe", interrupt)
    assert call(["run", *TINY]) == 130
    assert capsys.readouterr().err == "smartcl: interrupted; nothing was left half-written\n"


def test_the_installed_command_runs():
    done = subprocess.run([sys.executable, "-m", "smartcl", "methods"], capture_output=True, text=True, check=True)
    assert "smart" in done.stdout


def test_the_demo_draws_and_tabulates(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("smartcl.paper.commands.demo_command.DATASET", "disjoint-digits")
    monkeypatch.setattr("smartcl.paper.commands.demo_command.PARAMETERS", (("hidden", (8,)), ("iterations", 1)))
    picture = tmp_path / "demo.svg"
    assert call(["demo", "--out", str(picture)]) == 0
    assert picture.read_text().startswith("<svg ")
    out = capsys.readouterr().out
    assert all(word in out for word in ("task 5", "mean", "samples held", "bytes", "features kept", "seconds"))


@pytest.mark.parametrize("out", ["picture.gif", "picture"])
def test_the_demo_refuses_other_pictures(out, capsys):
    assert call(["demo", "--out", out]) == 2
    assert "must end in .svg" in capsys.readouterr().err


def test_the_demo_names_a_missing_folder_before_it_trains(tmp_path, capsys):
    assert call(["demo", "--out", str(tmp_path / "nowhere" / "demo.svg")]) == 2
    assert "nowhere" in capsys.readouterr().err
