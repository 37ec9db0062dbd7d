"""Random streams, as odd as streams come, and what must hold after every call whatever they are.

Each stream is drawn from its number alone: a fault is found again by ``attack_stream(number)``.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from scipy import sparse

from benchmarks.attack.tries import NEVER, REFUSED, SURVIVED, FaultError, Findings, run
from smartcl.data.batch import Batch, Rows
from smartcl.data.spec import InputSpec
from smartcl.estimator import SmartClassifier
from smartcl.learners.learner import Learner
from smartcl.learners.methods import METHODS, build_learner
from smartcl.memory import Budget

WIDTHS = (1, 2, 7, 30, 200, 1500, 8000, 50_000)
#: Values of a stream's largest batches, so that no stream takes long.
LARGEST_BATCH = 600_000
QUICK: dict[str, Any] = {"hidden": (8,), "iterations": 2, "epochs": 2, "replay": 10}
#: What a ``ValueError`` may say: the reasons the documentation gives.
REASONS = ("memory must hold at least one sample",)


@dataclass(frozen=True)
class Stream:
    """Batches of one kind, the budget to learn them in, and the method to do it."""

    number: int
    batches: list[tuple[Any, np.ndarray]]
    memory: int | str
    method: str
    alpha: float | None
    batch_size: int

    @property
    def width(self) -> int:
        return int(self.batches[0][0].shape[1])

    @property
    def sparse(self) -> bool:
        return sparse.issparse(self.batches[0][0])

    @property
    def spec(self) -> InputSpec:
        """As the first batch suggests it; classes that come later are added when they do."""
        x, y = self.batches[0]
        return InputSpec(self.width, int(y.max()) + 1, "uint8" if x.dtype == np.uint8 else "float32", self.sparse)

    def settings(self, method: str) -> dict[str, Any]:
        """Parameters small enough for hundreds of streams, as far as the method has them."""
        known = METHODS[method].parameters
        wanted = {**QUICK, **({} if self.alpha is None or method != "smart" else {"alpha": self.alpha})}
        return {name: value for name, value in wanted.items() if known.get(name)}


@dataclass
class Tally:
    """How many streams and calls there were, what was refused for a documented reason, and which promises broke."""

    streams: int = 0
    calls: int = 0
    refusals: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    #: The first stream on which each fault was seen.
    first: dict[str, int] = field(default_factory=dict)

    def add(self, fault: str, number: int) -> None:
        self.faults[fault] += 1
        self.first.setdefault(fault, number)

    def rows(self) -> list[tuple[str, int]]:
        """The counts, each with its name."""
        totals = [("streams", self.streams), ("calls", self.calls), ("refused as documented", self.refusals)]
        faults = [(f"fault: {fault} (stream {self.first[fault]})", n) for fault, n in self.faults.most_common()]
        return [*totals, ("faults", self.faults.total()), *faults]


def attack(tries: int, *, seed: int = 0, until: float = NEVER) -> Findings:
    """So many streams from the number ``seed`` on, each in a process that may die."""
    return run(_attempt, range(seed, seed + tries), until=until)


def _attempt(number: int) -> str:
    tally = attack_stream(number)
    if tally.faults:
        fault, count = tally.faults.most_common(1)[0]
        raise FaultError(fault, f"{count} calls")
    return REFUSED if tally.refusals else SURVIVED


def attack_streams(n: int = 500, first: int = 0) -> Tally:
    """Learn ``n`` random streams by the estimator and by a learner, and count what does not hold."""
    tally = Tally()
    for number in range(first, first + n):
        attack_stream(number, tally)
    return tally


def attack_stream(number: int, tally: Tally | None = None) -> Tally:
    """The stream of this number."""
    tally = Tally() if tally is None else tally
    stream = draw_stream(number)
    tally.streams += 1
    for calls in (estimator_calls(stream), learner_calls(stream)):
        for call in calls:
            tally.calls += 1
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    fault = call()
            except ValueError as error:
                documented = str(error).startswith(REASONS)
                tally.refusals += documented
                fault = None if documented else described(error)
            except Exception as error:  # whatever it is, it is a fault of its own kind
                fault = described(error)
            if fault is not None:
                tally.add(fault, number)
    return tally


def described(error: Exception) -> str:
    """The kind of an error, without the numbers in its message."""
    words = "".join(letter for letter in str(error) if not letter.isdigit())
    return f"{type(error).__name__}: {words[:60]}"


# --- what is called, and what must hold after each call ------------------------------------------------------------


#: Does one thing and says what no longer holds.
Call = Callable[[], str | None]


def estimator_calls(stream: Stream) -> Iterator[Call]:
    """``partial_fit`` and ``predict_proba`` on every batch, then ``fit`` on the last."""
    budget = Budget.parse(stream.memory, stream.spec.sample_nbytes).nbytes
    model = SmartClassifier(
        stream.memory,
        **{name: value for name, value in stream.settings("smart").items() if name != "epochs"},
        batch_size=stream.batch_size,
        random_state=stream.number,
    )

    def learn(how: Callable[..., object], x: Any, y: np.ndarray) -> str | None:
        how(x, y)
        return None if model.memory_.store.nbytes <= budget else "estimator: over budget"

    def predict(x: Any) -> str | None:
        return fault_of(model.predict_proba(x), (x.shape[0], len(model.classes_)), "estimator")

    for x, y in stream.batches:
        yield lambda x=x, y=y: learn(model.partial_fit, x, y)
        if hasattr(model, "learner_"):
            yield lambda x=x: predict(x)
    yield lambda: learn(model.fit, *stream.batches[-1])


def learner_calls(stream: Stream) -> Iterator[Call]:
    """``observe`` and ``predict_proba`` on every batch, the end of a task in the middle, and a reload at the end."""
    learner = build_learner(stream.method, stream.spec, stream.memory, stream.number, **stream.settings(stream.method))

    def observe(batch: Batch, end: bool) -> str | None:
        if int(batch.y.max()) >= learner.spec.n_classes:
            learner.add_classes(int(batch.y.max()) + 1)
        learner.end_task(batch) if end else learner.observe(batch)
        memory = learner.memory
        return None if memory.store.nbytes <= memory.budget.nbytes else f"{stream.method}: over budget"

    def predict(x: Rows) -> str | None:
        return fault_of(learner.predict_proba(x).numpy(), (x.shape[0], learner.spec.n_classes), stream.method)

    half = len(stream.batches) // 2
    for number, (x, y) in enumerate(stream.batches):
        batch = Batch(rows_of(x), torch.from_numpy(y), task=int(number >= half))
        yield lambda batch=batch: observe(batch, end=False)
        yield lambda batch=batch: predict(batch.x)
        if number == half - 1:
            yield lambda batch=batch: observe(batch, end=True)
    yield lambda: reload_fault(stream, learner)


def reload_fault(stream: Stream, learner: Learner) -> str | None:
    """A learner that takes over the state must give the same answers."""
    again = build_learner(stream.method, stream.spec, stream.memory, seed=1, **stream.settings(stream.method))
    again.load_state_dict(learner.state_dict())
    x = rows_of(stream.batches[-1][0])
    same = torch.equal(learner.predict_proba(x), again.predict_proba(x))
    return None if same else f"{stream.method}: other answers after a reload"


def fault_of(probabilities: np.ndarray, shape: tuple[int, int], who: str) -> str | None:
    """What is wrong with an answer, if something is."""
    if probabilities.shape != shape:
        return f"{who}: probabilities of a wrong shape"
    if not np.isfinite(probabilities).all() or (probabilities < 0).any():
        return f"{who}: probabilities that are none"
    if abs(probabilities.sum(axis=1) - 1).max() > 1e-4:
        return f"{who}: probabilities that do not sum to 1"
    return None


def rows_of(x: Any) -> Rows:
    return x if sparse.issparse(x) else torch.from_numpy(x)


# --- streams to draw from ------------------------------------------------------------------------------------------


def draw_stream(number: int) -> Stream:
    """A stream of four to seven batches: every oddity has an even chance to be part of it."""
    rng = np.random.default_rng([number, 0xA77AC4])
    width, as_csr, small_ints = int(rng.choice(WIDTHS)), bool(rng.integers(2)), bool(rng.integers(2))
    most_rows = max(1, min(30, LARGEST_BATCH // width))
    sizes = rng.integers(1, most_rows + 1, int(rng.integers(4, 8)))
    if rng.integers(2):
        sizes[0] = 1
    values = [draw_values(rng, int(size), width, small_ints) for size in sizes]
    if rng.integers(2):
        constant = rng.random(width) < 0.3
        for x in values:
            x[:, constant] = 1
    if rng.integers(2):
        values[1] = np.repeat(values[1][:1], len(values[1]), axis=0)
    labels = [draw_labels(rng, place, x) for place, x in enumerate(values)]
    return Stream(
        number,
        [(sparse.csr_array(x) if as_csr else x, y) for x, y in zip(values, labels, strict=True)],
        draw_memory(rng),
        "smart" if rng.integers(2) else str(rng.choice(list(METHODS))),
        rng.choice([None, 0.1, 10.0]),
        int(rng.choice([1, 7, 50])),
    )


def draw_values(rng: np.random.Generator, n_rows: int, width: int, small_ints: bool) -> np.ndarray:
    """Rows from empty to full, side by side."""
    density = rng.choice([0.0, 2 / width, 0.05, 1.0], (n_rows, 1))
    present = rng.random((n_rows, width)) < density
    if small_ints:
        return (rng.integers(1, 256, (n_rows, width)) * present).astype(np.uint8)
    scale = rng.choice([1e-3, 1.0, 1e3], (n_rows, 1))
    return (rng.normal(size=(n_rows, width)) * scale * present).astype(np.float32)


def draw_labels(rng: np.random.Generator, place: int, x: np.ndarray) -> np.ndarray:
    """By a feature; one class at first, and perhaps a third and a fourth late."""
    y = (x[:, 0] > np.median(x[:, 0])).astype(np.int64)
    if place == 0 and rng.integers(2):
        y[:] = 0
    if place >= 3 and rng.integers(2):
        y[rng.integers(len(y))] = 2 + int(rng.integers(2))
    return y


def draw_memory(rng: np.random.Generator) -> int | str:
    """From less than a sample takes to more than all of them do."""
    if rng.integers(4) == 0:
        return f"{rng.integers(1, 20)} samples"
    return int(10 ** rng.uniform(1.3, 5.3))
