"""A long call tells how far it is if asked to, and answers ctrl-C within a second with nothing changed."""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from helpers import assert_same_state
from smartcl import SmartClassifier
from smartcl.estimator.verbose import RowsLearned

ROWS, COLUMNS = 200_000, 10


def rows(n: int) -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(n, COLUMNS))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def quick(**more: Any) -> SmartClassifier:
    return SmartClassifier("20kB", **{"method": "er", "hidden": (8,), "iterations": 1, "random_state": 0, **more})


# --- verbose ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def line_for_each_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smartcl.estimator.verbose.LINE_SECONDS", 0.0)


@pytest.mark.usefixtures("line_for_each_batch")
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_lines_count_the_rows_up_to_all_of_them(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    getattr(quick(verbose=1), call)(*rows(230))
    lines = capsys.readouterr().out.splitlines()
    found = [re.match(r"\[SmartClassifier\] (\d+) of 230 rows learned, [\d,]+ rows/s", line) for line in lines]
    assert [int(each[1]) for each in found if each] == [50, 100, 150, 200, 230]


@pytest.mark.usefixtures("line_for_each_batch")
def test_rows_of_weight_zero_are_not_counted(capsys: pytest.CaptureFixture[str]) -> None:
    quick(verbose=1).fit(*rows(60), sample_weight=np.arange(60) % 2)
    assert "] 30 of 30 rows learned" in capsys.readouterr().out


@pytest.mark.usefixtures("line_for_each_batch")
def test_nothing_is_said_unless_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    quick().fit(*rows(120)).partial_fit(*rows(60))
    assert capsys.readouterr() == ("", "")


def test_short_calls_say_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    model = quick(verbose=1)
    for _ in range(3):
        model.partial_fit(*rows(60))
    assert capsys.readouterr().out == ""


def test_lines_are_two_seconds_apart_and_the_last_tells_of_all(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, 2.5, 3.0, 5.0, 5.5])
    monkeypatch.setattr("smartcl.estimator.verbose.time.monotonic", lambda: next(clock))
    told = RowsLearned("A", 500, verbose=1)
    for reached in (100, 200, 300, 400, 500):
        told.reached(reached)
    assert capsys.readouterr().out.splitlines() == [
        "[A] 200 of 500 rows learned, 80 rows/s, about 4 s left",
        "[A] 400 of 500 rows learned, 80 rows/s, about 1 s left",
        "[A] 500 of 500 rows learned, 91 rows/s",
    ]


@pytest.mark.usefixtures("line_for_each_batch")
def test_what_is_told_changes_no_result_and_is_no_other_model(tmp_path: Any) -> None:
    X, y = rows(300)
    silent = quick().partial_fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    telling = quick(verbose=1).partial_fit(X[:150], y[:150])
    telling.save(tmp_path)
    for model in (telling, SmartClassifier.load(tmp_path)):
        assert model.verbose == 1
        model.set_params(verbose=2).partial_fit(X[150:], y[150:])
        assert_same_state(model.learner_.state_dict(), silent.learner_.state_dict())


@pytest.mark.usefixtures("line_for_each_batch")
def test_an_output_that_cannot_be_written_to_undoes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        def write(self, _: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Gone())
    assert quick(verbose=1).fit(*rows(60)).learner_.batches == 2


@pytest.mark.parametrize("verbose", [-1, 0.5, "yes", None])
def test_verbose_is_a_whole_number(verbose: Any) -> None:
    with pytest.raises(ValueError, match="verbose must be a whole number >= 0, got"):
        quick(verbose=verbose).fit(*rows(60))


# --- ctrl-C -----------------------------------------------------------------------------------------------------------


@contextmanager
def ctrl_c_after(seconds: float) -> Iterator[Callable[[], float]]:
    """Strikes as ctrl-C does; how long ago that was."""
    due = time.monotonic() + seconds
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield lambda: time.monotonic() - due
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that strikes as ctrl-C does")
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
@pytest.mark.parametrize("labels", ["numbers", "text"])
def test_ctrl_c_is_answered_within_a_second_and_nothing_has_changed(call: str, labels: str) -> None:
    X, y = rows(ROWS)
    y = y if labels == "numbers" else np.array(["no", "yes"])[y]
    model = SmartClassifier("20kB", random_state=0).partial_fit(X[:500], y[:500])
    before, fitted = model.learner_.state_dict(), model._fitted
    # while rows are checked, at the first batches, and after hundreds
    for seconds in (0.005, 0.05, 0.2, 2.0):
        with ctrl_c_after(seconds) as since:
            with pytest.raises(KeyboardInterrupt):
                getattr(model, call)(X, y)
            assert since() < 1.0
        assert model._fitted is fitted
    assert_same_state(model.learner_.state_dict(), before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that strikes as ctrl-C does")
def test_ctrl_c_leaves_a_model_that_had_learned_nothing_without_a_trace() -> None:
    model = SmartClassifier("20kB", random_state=0)
    before = dict(vars(model))
    for seconds in (0.005, 0.2, 1.0):
        with ctrl_c_after(seconds) as since:
            with pytest.raises(KeyboardInterrupt):
                model.partial_fit(*rows(ROWS))
            assert since() < 1.0
        assert {name: value for name, value in vars(model).items() if name != "_lock"} == before
    X, y = rows(500)
    as_ever = SmartClassifier("20kB", random_state=0).partial_fit(X, y)
    assert_same_state(model.partial_fit(X, y).learner_.state_dict(), as_ever.learner_.state_dict())
