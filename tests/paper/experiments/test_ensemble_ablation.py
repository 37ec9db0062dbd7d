"""The ablation of the default learner: what is run, what is kept, what is decided, and the command."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smartcl.cli.app import call
from smartcl.errors import UnavailableError
from smartcl.paper.datasets.development_streams import FIRST_SEED, DevelopmentStream
from smartcl.paper.experiments import ensemble_ablation
from smartcl.paper.experiments.catalogue import FIGURES, Artefact
from smartcl.paper.experiments.ensemble_ablation import (
    FILE,
    Ablation,
    AblationKey,
    AblationRuns,
    AblationScores,
    read_runs,
    read_stream,
    run_file,
    worth_of,
)

TINY = ("left", "right")
THREE = ("all", "member: network", "snapshots")


def tiny(seed: int, column: int) -> DevelopmentStream:
    X = np.random.default_rng(seed).normal(size=(150, 2)).astype(np.float32)
    return DevelopmentStream.of(X, X[:, column] > 0)


def nowhere(seed: int) -> DevelopmentStream:
    raise UnavailableError("no source has it")


@pytest.fixture
def ablation(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ablation]:
    """Two tiny streams, and one that cannot be had; two parts."""
    streams = {"left": lambda seed: tiny(seed, 0), "right": lambda seed: tiny(seed, 1), "nowhere": nowhere}
    monkeypatch.setattr(ensemble_ablation, "DEVELOPMENT_STREAMS", streams)
    made = Ablation(THREE, (*TINY, "nowhere"), seeds=1)
    monkeypatch.setitem(FIGURES, "ablation-ensemble", Artefact((), routine=False, ablation=lambda: made))
    read_stream.cache_clear()
    yield made
    read_stream.cache_clear()


def quiet(*_: object) -> None:
    pass


# --- runs and their file ----------------------------------------------------------------------------------------------


def test_a_run_that_is_there_is_not_made_again(
    ablation: Ablation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[AblationKey] = []

    def counted(key: AblationKey) -> AblationScores:
        made.append(key)
        if len(made) == 4:
            raise KeyboardInterrupt  # somebody stops it
        return AblationScores(90.0, 0.1, 0.02, 1.0)

    monkeypatch.setattr(ensemble_ablation, "run", counted)
    with pytest.raises(KeyboardInterrupt):
        ablation.make(tmp_path, None, 1, quiet)
    assert set(read_runs(tmp_path)) == set(made[:3])
    stopped = made.copy()
    ablation.make(tmp_path, None, 1, quiet)
    assert made[4:] == [key for key in ablation.asked() if key.stream in TINY and key not in stopped[:3]]
    ablation.make(tmp_path, None, 1, quiet)
    assert len(made) == 4 + 3
    ablation.make(tmp_path, 2, 1, quiet)  # one more seed
    assert {key.seed for key in made[7:]} == {FIRST_SEED + 1}


def test_a_damaged_line_is_a_run_not_made(tmp_path: Path) -> None:
    path, scores = tmp_path / FILE, AblationScores(90.0, 0.1, 0.02, 1.0)
    runs: AblationRuns = {AblationKey("moons", variant, 100): scores for variant in THREE}
    run_file(tmp_path).add(*({**key._asdict(), **asdict(each)} for key, each in runs.items()))
    assert read_runs(tmp_path) == runs
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1][:30], "[1]", lines[2]]))
    assert list(read_runs(tmp_path)) == [sorted(runs)[0], sorted(runs)[2]]
    assert read_runs(tmp_path / "nothing") == {}


def test_a_line_says_what_was_run_and_what_came_of_it(tmp_path: Path) -> None:
    run_file(tmp_path).add(
        {**AblationKey("moons", "all", 100)._asdict(), **asdict(AblationScores(93.2, 0.17, 0.008, 1.3))}
    )
    assert json.loads((tmp_path / FILE).read_text()) == {
        **{"stream": "moons", "variant": "all", "seed": 100},
        **{"accuracy": 93.2, "log_loss": 0.17, "calibration_error": 0.008, "cpu_seconds": 1.3},
    }


def test_a_run_that_fails_stops_no_other(ablation: Ablation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(key: AblationKey) -> AblationScores:
        if key.variant == "snapshots":
            raise FloatingPointError("overflow")
        return AblationScores(90.0, 0.1, 0.02, 1.0)

    monkeypatch.setattr(ensemble_ablation, "run", run)
    problems = ablation.make(tmp_path, None, 1, quiet)
    assert problems.left_out == {"nowhere": "no source has it"}
    assert problems.failed == {
        AblationKey(name, "snapshots", FIRST_SEED): "FloatingPointError: overflow" for name in TINY
    }
    assert len(read_runs(tmp_path)) == 4


def test_rows_after_the_end_alone_are_scored_where_there_are_any() -> None:
    """A learner that knows only what it was taught: the rows after the end tell what it answers there."""
    X = np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)
    y = (X[:, 0] > 0).astype(np.int64)
    y[150:] = 1 - y[150:]  # whoever learned the others is wrong on all of these
    model = ensemble_ablation.SmartClassifier("20kB", random_state=0, members=("ridge",))
    found = ensemble_ablation.answers(model, DevelopmentStream(X, y, y, 2, learned=150))
    assert found.shape == (50, 2)
    assert (found.argmax(axis=1) == y[150:]).mean() < 0.2


def test_workers_make_the_runs_that_this_process_makes(tmp_path: Path) -> None:
    """Data that come with scikit-learn, for other processes know nothing of a test's own."""
    small = Ablation(("all", "member: network"), ("digits-by-class",), seeds=1)
    for workers in (1, 2):
        assert small.make(tmp_path / str(workers), None, workers, quiet).failed == {}
    here, there = (read_runs(tmp_path / str(workers)) for workers in (1, 2))
    assert here.keys() == there.keys() == set(small.asked())
    assert all(here[key].accuracy == there[key].accuracy for key in here)


# --- the decision -----------------------------------------------------------------------------------------------------


def with_changes(changes: dict[tuple[str, int], float], seconds: float = 1.0) -> AblationRuns:
    """Pairs of runs: the whole learner is right in 90%, and a part less changes that by these points."""
    runs: AblationRuns = {}
    for (stream, seed), change in changes.items():
        runs[AblationKey(stream, "all", seed)] = AblationScores(90.0, 0.30, 0.02, 2.0)
        runs[AblationKey(stream, "part", seed)] = AblationScores(90.0 + change, 0.32, 0.02, seconds)
    return runs


def test_worth_by_hand() -> None:
    worth = worth_of("part", with_changes({("a", 1): -0.2, ("a", 2): -0.4, ("b", 1): 0.1, ("b", 2): 0.1}))
    assert worth is not None
    assert (worth.pairs, worth.affected) == (4, 4)
    assert worth.change == pytest.approx(-0.1)
    # deviations from the mean: -0.1, -0.3, 0.2, 0.2; squares add up to 0.18; 0.18 / 3 / 4
    assert worth.error == pytest.approx(math.sqrt(0.18 / 3 / 4))
    assert (worth.worst_stream, worth.worst_change) == ("a", pytest.approx(-0.3))
    assert worth.log_loss_change == pytest.approx(0.02)
    assert worth.cpu_ratio == pytest.approx(0.5)
    assert worth.verdict == "may go"  # 0.1 lost, standard error 0.12


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({("a", 1): -0.2, ("b", 1): -0.3}, "stays"),  # 0.25 lost, standard error 0.05
        ({("a", 1): -0.5, ("b", 1): 2.0}, "stays"),  # better in the mean, but one stream loses 0.5
        ({("a", 1): -0.9, ("a", 2): 0.3, ("b", 1): 0.4, ("b", 2): 0.4}, "may go"),  # -0.3 over the seeds of a
        ({("a", 1): 0.0, ("b", 1): 0.0}, "may go"),  # it changes nothing
        ({("a", 1): 0.3, ("b", 1): 0.3}, "may go"),  # it does harm
        ({("a", 1): 1.0}, "stays"),  # a single pair decides nothing
    ],
)
def test_the_rule_of_decision(changes: dict[tuple[str, int], float], verdict: str) -> None:
    worth = worth_of("part", with_changes(changes))
    assert worth is not None
    assert worth.verdict == verdict


def test_pairs_with_the_same_answers_are_told_apart() -> None:
    runs = with_changes({("a", 1): 0.0, ("a", 2): 0.0, ("b", 1): 0.1})
    runs[AblationKey("a", "part", 1)] = runs[AblationKey("a", "all", 1)]  # the others differ in accuracy or log loss
    worth = worth_of("part", runs)
    assert worth is not None
    assert (worth.pairs, worth.affected) == (3, 2)


def test_only_pairs_count() -> None:
    runs = with_changes({("a", 1): -0.2, ("b", 1): -0.4})
    del runs[AblationKey("a", "all", 1)]
    worth = worth_of("part", runs)
    assert worth is not None
    assert (worth.pairs, worth.change) == (1, pytest.approx(-0.4))
    del runs[AblationKey("b", "all", 1)]
    assert worth_of("part", runs) is None


# --- the command ------------------------------------------------------------------------------------------------------


def reproduced(results: Path, *arguments: str) -> int:
    return call(["reproduce", "ablation-ensemble", "--workers", "1", "--results", str(results), *arguments])


@pytest.mark.usefixtures("ablation")
def test_the_command_runs_once_and_prints_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reproduced(tmp_path) == 0
    said = capsys.readouterr()
    assert "verdict" in said.out
    assert "member: network" in said.out
    assert "names of numbers" in said.out
    assert "nowhere is left out: no source has it" in said.err
    assert "6/6 right without snapshots, seed 100: " in said.err
    assert len(read_runs(tmp_path)) == 6
    monkeypatch.setattr(ensemble_ablation, "run", lambda key: pytest.fail(f"ran {key}"))
    assert reproduced(tmp_path, "--json") == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert data["runs"] == 6
    assert [line["variant"] for line in data["variants"]] == ["member: network", "snapshots"]
    assert data["streams"]["left"]["seeds"] == 1
    assert data["streams"]["nowhere"] is None


@pytest.mark.usefixtures("ablation")
def test_show_runs_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ensemble_ablation, "run", lambda key: pytest.fail(f"ran {key}"))
    assert reproduced(tmp_path / "results", "--show") == 0
    assert "0 runs" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("ablation")
def test_a_part_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduced(tmp_path, "--row", "snapshots", "--column", "right") == 0
    assert list(read_runs(tmp_path)) == [AblationKey("right", name, FIRST_SEED) for name in ("all", "snapshots")]
    capsys.readouterr()
    for wrong, said in (
        (("--row", "snapshot"), "ablation-ensemble has no row 'snapshot'"),
        (("--column", "up"), "ablation-ensemble has no column 'up': it has left, right, nowhere"),
        (("--engine", "ray"), "leave --engine out"),
        (("--data", "."), "set SMARTCL_DATA"),
    ):
        arguments = ["reproduce", "ablation-ensemble", "--results", str(tmp_path), *wrong]
        assert call(arguments) == 2
        assert said in capsys.readouterr().err


@pytest.mark.usefixtures("ablation")
def test_a_failure_is_told_at_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(key: AblationKey) -> AblationScores:
        raise MemoryError("all of it is taken")

    monkeypatch.setattr(ensemble_ablation, "run", run)
    assert reproduced(tmp_path, "--column", "left") == 1
    assert "failed: left all, seed 100: MemoryError: all of it is taken" in capsys.readouterr().err
