"""Threads that share a model: whatever their timing, the outcome is that of some order of their calls.

Two threads learn a few batches each, others predict and save meanwhile. All orders in which the batches can have been
learned are few enough to be tried out one after the other: the model must end as after one of them, and what was
predicted or saved on the way must be as after the beginning of one.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.attack.models import Kind, check_probabilities, difference, fingerprint, probe_rows
from benchmarks.attack.tries import NEVER, SURVIVED, FaultError, Findings, first_line, run, scratch
from smartcl import SmartClassifier

KINDS = (*(Kind("smart", form) for form in ("dense", "wide", "sparse")), Kind("er", "dense"), Kind("gdumb", "dense"))
#: Seconds between switches of threads: every moment may be one.
OFTEN = 1e-5

#: Whose batches were learned, one after the other.
Order = tuple[int, ...]


def attack(
    tries: int, kinds: Sequence[Kind] = KINDS, batches: int = 3, *, seed: int = 0, until: float = NEVER
) -> Findings:
    """Let threads meet that often, each learner with so many batches."""
    return run(partial(_attempt, kinds, batches), range(seed, seed + tries), until=until)


def _attempt(kinds: Sequence[Kind], batches: int, seed: int) -> str:
    kind = kinds[seed % len(kinds)]
    _outcomes(kind, batches)  # before threads switch often, and only for the kinds that have their turn
    model = _start(kind)
    predictions: list[bytes] = []
    errors: list[str] = []
    with scratch() as root, _switching(OFTEN):
        learners = [_thread(errors, _learn, model, kind, number, batches) for number in (0, 1)]
        over = threading.Event()
        lookers = [
            _thread(errors, _repeat, over, _predict, model, predictions),
            _thread(errors, _repeat, over, _save, model, Path(root) / "model"),
            _thread(errors, _repeat, over, _save, model, Path(root) / f"model-{seed}"),
        ]
        for thread in (*lookers, *learners):
            thread.start()
        for thread in learners:
            thread.join()
        over.set()
        for thread in lookers:
            thread.join()
        if errors:
            raise FaultError(f"a thread raised {errors[0].split(':')[0]}", f"{kind}; {errors[0]}")
        _check(kind, batches, model, predictions, [path for path in Path(root).iterdir() if path.is_dir()])
    return SURVIVED


def _check(kind: Kind, batches: int, model: SmartClassifier, predictions: list[bytes], folders: list[Path]) -> None:
    states, answers = _outcomes(kind, batches)
    whole = [state for order, state in states.items() if len(order) == 2 * batches]
    end = fingerprint(model)
    if all(difference(end, state) for state in whole):
        raise FaultError("the model ends as after no order of its batches", str(kind))
    if not set(predictions) <= answers:
        raise FaultError("a prediction is that of no finished batch", str(kind))
    for folder in folders:
        saved = fingerprint(SmartClassifier.load(folder))
        if all(difference(saved, state) for state in states.values()):
            raise FaultError("what was saved is no finished batch's state", str(kind))


@cache
def _outcomes(kind: Kind, batches: int) -> tuple[dict[Order, dict[str, str]], set[bytes]]:
    """The state and the answers after every beginning of every order of the batches."""
    states, answers = {}, set()
    for order in _orders(batches):
        model = _start(kind)
        learned = [0, 0]
        for thread in order:
            model.partial_fit(*_batch(kind, thread, learned[thread]))
            learned[thread] += 1
        states[order] = fingerprint(model)
        answers.add(model.predict_proba(probe_rows(model.n_features_in_)).tobytes())
    return states, answers


def _orders(batches: int, begun: Order = ()) -> Iterator[Order]:
    yield begun
    for thread in (0, 1):
        if begun.count(thread) < batches:
            yield from _orders(batches, (*begun, thread))


def _start(kind: Kind) -> SmartClassifier:
    return kind.unfitted().partial_fit(*kind.rows(1))


def _batch(kind: Kind, thread: int, number: int) -> tuple[object, np.ndarray]:
    return kind.rows(100 * (thread + 1) + number)


def _learn(model: SmartClassifier, kind: Kind, thread: int, batches: int) -> None:
    for number in range(batches):
        model.partial_fit(*_batch(kind, thread, number))


def _predict(model: SmartClassifier, predictions: list[bytes]) -> None:
    rows = probe_rows(model.n_features_in_)
    answer = model.predict_proba(rows)
    check_probabilities(answer, rows.shape[0], len(model.classes_))
    predictions.append(answer.tobytes())


def _save(model: SmartClassifier, folder: Path) -> None:
    model.save(folder)
    SmartClassifier.load(folder)


def _repeat(over: threading.Event, action: Callable[..., None], *arguments: object) -> None:
    while True:
        action(*arguments)
        if over.is_set():
            return


def _thread(errors: list[str], action: Callable[..., None], *arguments: object) -> threading.Thread:
    def work() -> None:
        try:
            action(*arguments)
        except BaseException as error:
            errors.append(f"{type(error).__name__}: {first_line(error)}")

    return threading.Thread(target=work, daemon=True)


@contextmanager
def _switching(seconds: float) -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
