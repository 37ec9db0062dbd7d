"""An interrupt at any line of any call: the model is as before the call or as after it, and learns on like that one.

A trace raises ``KeyboardInterrupt`` where a line of the library is about to run. Every line that runs in any of the
calls is hit, in one of the calls that run it; further tries take any line of any call, or let a timer strike.
"""

from __future__ import annotations

import dis
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeAlias

import numpy as np
import torch

import smartcl
from benchmarks.attack.models import Kind, difference, fingerprint
from benchmarks.attack.tries import NEVER, REFUSED, SURVIVED, FaultError, Findings, first_line, run, scratch
from smartcl import SmartClassifier

LIBRARY = str(Path(smartcl.__file__).parent)
KINDS = (
    *(Kind("smart", form) for form in ("dense", "sparse", "wide")),
    *(Kind(method, "dense") for method in ("er", "der++", "gdumb", "smart-paper", "si")),
    *(Kind("er", "sparse"), Kind("smart-paper", "wide")),
)
#: The share of tries in which a timer strikes, between lines and within.
TIMED = 0.05
NOWHERE = "at no known line"

#: A file and a line of it.
Line: TypeAlias = tuple[str, int]
Call: TypeAlias = Callable[[SmartClassifier, Kind, Path], object]


# --- what is called ----------------------------------------------------------


def _learn(model: SmartClassifier, kind: Kind, folder: Path) -> object:
    return model.partial_fit(*kind.rows(3, 50))


def _learn_many(model: SmartClassifier, kind: Kind, folder: Path) -> object:
    return model.partial_fit(*kind.rows(4, 500))


def _learn_new_classes(model: SmartClassifier, kind: Kind, folder: Path) -> object:
    return model.partial_fit(*kind.rows(5, 50, n_classes=5))


def _fit(model: SmartClassifier, kind: Kind, folder: Path) -> object:
    return model.fit(*kind.rows(6, 60, n_classes=4))


def _predict(model: SmartClassifier, kind: Kind, folder: Path) -> object:
    return model.predict_proba(kind.rows(7)[0])


def _save(model: SmartClassifier, kind: Kind, folder: Path) -> object:
    return model.save(folder)


#: The calls, and whether there is a model before them.
CALLS: dict[str, tuple[Call, bool]] = {
    "first call": (_learn, False),
    "partial_fit": (_learn, True),
    "partial_fit of ten batches": (_learn_many, True),
    "partial_fit with new classes": (_learn_new_classes, True),
    "fit": (_fit, True),
    "predict_proba": (_predict, True),
    "save": (_save, True),
}


@dataclass(frozen=True)
class Case:
    """A call on a model of a kind."""

    kind: Kind
    call: str

    def __str__(self) -> str:
        return f"{self.kind}, {self.call}"

    @property
    def saves(self) -> bool:
        return self.call == "save"

    def start(self, folder: Path) -> SmartClassifier:
        """The model before the call, always the same; to be saved, it has changed since it was saved last."""
        if not CALLS[self.call][1]:
            return self.kind.unfitted()
        model = self.kind.fitted()
        if self.saves:
            model.save(folder)
            model.partial_fit(*self.kind.rows(8))
        return model

    def make(self, model: SmartClassifier, folder: Path) -> None:
        CALLS[self.call][0](model, self.kind, folder)

    def go_on(self, model: SmartClassifier) -> dict[str, str]:
        """What the model is after one more call."""
        return fingerprint(model.partial_fit(*self.kind.rows(9)))

    def seen(self, model: SmartClassifier, folder: Path) -> dict[str, str]:
        """What the call changes: the model, or what is saved of it."""
        return fingerprint(SmartClassifier.load(folder) if self.saves else model)


@dataclass(frozen=True)
class Expected:
    """What the call changes, before and after it, and the model one call later; all without an interrupt."""

    states: tuple[dict[str, str], dict[str, str]]
    later: tuple[dict[str, str], dict[str, str]]
    seconds: float


@cache
def _expected(case: Case) -> Expected:
    states, later = [], []
    with scratch() as root:
        for done in (False, True):
            folder = Path(root) / str(done)
            model = case.start(folder)
            start = time.perf_counter()
            if done:
                case.make(model, folder)
            seconds = time.perf_counter() - start
            states.append(case.seen(model, folder))
            later.append(case.go_on(model))
    return Expected((states[0], states[1]), (later[0], later[1]), seconds)


# --- where it is interrupted -------------------------------------------------


class Tracer:
    """Notes every line of the library that is about to run; at the one numbered ``stop`` it interrupts instead."""

    def __init__(self, stop: int | None = None, strike: Callable[[], None] | None = None) -> None:
        self.lines: list[Line] = []
        self.stop = stop
        self.strike = strike or _interrupt

    @contextmanager
    def watching(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        return self._step if frame.f_code.co_filename.startswith(LIBRARY) else None

    def _step(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        if event == "line" and frame.f_lasti not in _with_exits(frame.f_code):
            self.lines.append((frame.f_code.co_filename, frame.f_lineno))
            if self.stop == len(self.lines) - 1:
                self.strike()
        return self._step


def _interrupt() -> None:
    raise KeyboardInterrupt


@cache
def _with_exits(code: CodeType) -> frozenset[int]:
    """Where a ``with`` block is about to be left: a line event, but no moment at which an interrupt can arrive."""
    steps = list(dis.get_instructions(code))
    nothing = [step.opname == "LOAD_CONST" and step.argval is None for step in steps]
    exits = {i for i in range(len(steps) - 2) if all(nothing[i : i + 3])}
    # On the way out with a value to return, that is put aside first.
    return frozenset(steps[i].offset for i in exits | {i - 1 for i in exits if steps[i - 1].opname == "SWAP"})


@contextmanager
def _timer(seconds: float) -> Iterator[None]:
    """An interrupt so many seconds from now, if the block runs that long."""

    def strike(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, strike)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def lines_of(case: Case) -> list[Line]:
    """The lines that run in an uninterrupted call, in order."""
    with scratch() as root:
        model, tracer = case.start(Path(root) / "model"), Tracer()
        with tracer.watching():
            case.make(model, Path(root) / "model")
    return tracer.lines


@dataclass(frozen=True)
class Strike:
    """A case, and the number of the line event to interrupt, or the share of the call's time after which to."""

    case: Case
    moment: int | float

    def __str__(self) -> str:
        moment = f"line event {self.moment}" if self.at_a_line else f"timer at {self.moment:.4f} of the call"
        return f"{self.case}, {moment}"

    @property
    def at_a_line(self) -> bool:
        return isinstance(self.moment, int)


def _plan(tries: int, cases: Sequence[Case], rng: np.random.Generator) -> list[Strike]:
    """Each line in one of the calls that run it, then any line again; and some timers."""
    events: dict[Line, dict[Case, list[int]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        for number, line in enumerate(lines_of(case)):
            events[line][case].append(number)
    timers = [Strike(cases[rng.integers(len(cases))], float(rng.random())) for _ in range(round(TIMED * tries))]
    lines, wanted = list(events), tries - len(timers)
    chosen = [*rng.permutation(len(lines)), *rng.integers(len(lines), size=wanted)][:wanted]
    strikes = [_drawn(events[lines[i]], rng) for i in chosen]
    return sorted([*strikes, *timers], key=lambda strike: cases.index(strike.case))


def _drawn(events: dict[Case, list[int]], rng: np.random.Generator) -> Strike:
    case = list(events)[rng.integers(len(events))]
    return Strike(case, int(rng.choice(events[case])))


# --- what must hold ----------------------------------------------------------


def attack(tries: int, cases: Sequence[Case] = (), *, seed: int = 0, until: float = NEVER) -> Findings:
    """Interrupt that many calls, of these cases or of all."""
    cases = cases or [Case(kind, call) for kind in KINDS for call in CALLS]
    return run(_attempt, _plan(tries, cases, np.random.default_rng(seed)), until=until)


def _attempt(strike: Strike) -> str:
    case, expected = strike.case, _expected(strike.case)
    with scratch() as root:
        folder = Path(root) / "model"
        model = case.start(folder)
        unsaved = fingerprint(model)
        interrupted, where = _struck(strike, model, folder)
        _check_torch(where)
        seen = _safely(partial(case.seen, model, folder), where)
        not_before, not_after = (difference(state, seen) for state in expected.states)
        if not_before and not_after:
            detail = f"{where}; {not_before} is not as before, {not_after} not as after"
            raise FaultError("neither before nor after", detail)
        if not interrupted and (not_after or where != NOWHERE):
            raise FaultError("the interrupt was swallowed", where)
        if case.saves and difference(unsaved, fingerprint(model)):
            raise FaultError("an interrupted save changed the model", where)
        place = difference(expected.later[1 if not_before else 0], _safely(partial(case.go_on, model), where))
        if place:
            raise FaultError("the next call ends elsewhere", f"{where}; {place}")
        if case.saves:
            check_tidy(case.kind, model, folder, where)
    return REFUSED if interrupted else SURVIVED


def _struck(strike: Strike, model: SmartClassifier, folder: Path) -> tuple[bool, str]:
    """Make the call; whether it was interrupted, and at which line of the library, if that is known."""
    tracer = Tracer(int(strike.moment)) if strike.at_a_line else None
    try:
        with tracer.watching() if tracer else _timer(strike.moment * _expected(strike.case).seconds):
            strike.case.make(model, folder)
        interrupted = False
    except KeyboardInterrupt:
        interrupted = True
    if tracer is None or len(tracer.lines) <= strike.moment:
        return interrupted, NOWHERE
    file, line = tracer.lines[-1]
    return interrupted, f"{Path(file).relative_to(LIBRARY)}:{line}"


def _check_torch(where: str) -> None:
    """A fault if gradients stay off; what is left flushed, no later try shall meet."""
    torch.set_flush_denormal(False)
    if not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
        raise FaultError("gradients are left switched off", where)


def _safely(look: Callable[[], dict[str, str]], where: str) -> dict[str, str]:
    try:
        return look()
    except Exception as error:
        raise FaultError(f"afterwards, {type(error).__name__}", f"{where}; {first_line(error)}") from None


def check_tidy(kind: Kind, model: SmartClassifier, folder: Path, where: str) -> None:
    """A fault if, after one more save, there are more files than after as many saves without an interrupt."""
    model.save(folder)
    count = sum(path.is_file() for path in folder.rglob("*"))
    if count > _files_after_saves(kind):
        raise FaultError("files pile up", f"{where}; {count} files")


@cache
def _files_after_saves(kind: Kind) -> int:
    """How many files a folder holds that was saved several times in peace."""
    with scratch() as root:
        model = kind.fitted()
        for seed in range(4):
            model.save(root)
            model.partial_fit(*kind.rows(seed))
        model.save(root)
        return sum(path.is_file() for path in Path(root).rglob("*"))
