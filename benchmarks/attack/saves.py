"""Saves that are killed, and saves that meet: a folder always holds one of the states that were saved in it, whole.

A saver is killed at any line of the library or at any moment; or two save into one folder while a third reads it, and
in half of these one of the two is killed.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.attack.interrupts import Case, Tracer, check_tidy, lines_of
from benchmarks.attack.models import Kind, difference, fingerprint
from benchmarks.attack.tries import NEVER, SURVIVED, FaultError, Findings, first_line, run, scratch
from smartcl import SmartClassifier

KINDS = (Kind("smart", "dense"), Kind("smart", "wide"), Kind("er", "sparse"))
KILLS_IN_A_ROW = 3
SAVES_OF_EACH = 10

State = dict[str, str]


def attack(tries: int, *, seed: int = 0, until: float = NEVER) -> Findings:
    """Disturb that many savers."""
    return run(_attempt, range(seed, seed + tries), until=until)


def _attempt(seed: int) -> str:
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    with scratch() as root:
        folder = Path(root) / "model"
        action = (_kill_at_a_line, _kill_at_a_moment, _meet)[rng.integers(3)]
        action(kind, folder, rng)
        check_tidy(kind, kind.fitted(), folder, f"{kind}, {action.__name__.strip('_').replace('_', ' ')}")
    return SURVIVED


def _kill_at_a_line(kind: Kind, folder: Path, rng: np.random.Generator) -> None:
    case = Case(kind, "save")
    model = case.start(folder)
    states = _states(case, model, folder)
    for number in rng.integers(_count_of_lines(case), size=KILLS_IN_A_ROW):
        tracer = Tracer(stop=int(number), strike=_die)
        os.waitpid(_started(partial(_save_traced, model, folder, tracer), folder), 0)
        _read(folder, states, f"{kind}, killed at line event {number}")


def _kill_at_a_moment(kind: Kind, folder: Path, rng: np.random.Generator) -> None:
    model = kind.fitted()
    start = time.perf_counter()
    model.save(folder)
    seconds = time.perf_counter() - start
    model.partial_fit(*kind.rows(8))
    states = _states(Case(kind, "save"), model, folder)
    for _ in range(KILLS_IN_A_ROW):
        child = _started(partial(model.save, folder), folder)
        time.sleep(float(rng.random()) * 3 * seconds)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        _read(folder, states, f"{kind}, killed at some moment")


def _meet(kind: Kind, folder: Path, rng: np.random.Generator) -> None:
    """Two savers of two states each, and a reader; one of the savers may be killed."""
    pairs = [[_learned(kind, seed), _learned(kind, seed + 1)] for seed in (10, 20)]
    states = [_saved_state(model, folder.with_name("apart")) for pair in pairs for model in pair]
    pairs[0][0].save(folder)
    children = [_started(partial(_save_in_turns, pair, folder), folder) for pair in pairs]
    try:
        victim = children[0] if rng.random() < 0.5 else None
        until = time.perf_counter() + float(rng.random())
        while children:
            _read(folder, states, f"{kind}, two savers")
            if victim in children and time.perf_counter() > until:
                os.kill(victim, signal.SIGKILL)
            for child in _ended(children):
                children.remove(child)
                _check_ended_well(child, folder, child == victim)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _ended(children: list[int]) -> list[int]:
    return [child for child in children if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)]


def _check_ended_well(child: int, folder: Path, killed: bool) -> None:
    _, status = os.waitpid(child, 0)
    if status and not killed:
        error = _error_file(folder, child)
        raise FaultError("a save failed beside another", error.read_text() if error.exists() else str(status))


def _learned(kind: Kind, seed: int) -> SmartClassifier:
    return kind.fitted().partial_fit(*kind.rows(seed))


def _states(case: Case, model: SmartClassifier, folder: Path) -> list[State]:
    """What the folder may hold: what it holds now, or the model."""
    return [case.seen(model, folder), _saved_state(model, folder.with_name("apart"))]


def _saved_state(model: SmartClassifier, folder: Path) -> State:
    model.save(folder)
    return fingerprint(SmartClassifier.load(folder))


def _read(folder: Path, states: list[State], what: str) -> None:
    try:
        state = fingerprint(SmartClassifier.load(folder))
    except Exception as error:
        raise FaultError(f"load raised {type(error).__name__}", f"{what}; {first_line(error)}") from None
    if all(difference(state, known) for known in states):
        raise FaultError("the folder holds none of the saved states", what)


def _save_traced(model: SmartClassifier, folder: Path, tracer: Tracer) -> None:
    with tracer.watching():
        model.save(folder)


def _save_in_turns(models: list[SmartClassifier], folder: Path) -> None:
    for number in range(SAVES_OF_EACH):
        models[number % len(models)].save(folder)


@cache
def _count_of_lines(case: Case) -> int:
    return len(lines_of(case))


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _started(action: Callable[[], object], folder: Path) -> int:
    """The process that does this; if it fails, it leaves a note."""
    child = os.fork()
    if child:
        return child
    try:
        action()
    except BaseException as error:
        _error_file(folder, os.getpid()).write_text(f"{type(error).__name__}: {first_line(error)}")
        os._exit(1)
    os._exit(0)


def _error_file(folder: Path, process: int) -> Path:
    return folder.with_name(f"error-{process}")
