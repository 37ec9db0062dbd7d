"""One row a call: each is predicted, then learned, by the default and by River's classifiers in the same run.

``python -m benchmarks row_by_row`` takes about five minutes. River is compared where it is installed (``make
compat-env``). Seconds are of CPU time. Rows are dicts before River's clock starts, and arrays before ours.
"""

from __future__ import annotations

import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from sklearn.datasets import make_classification

from benchmarks.timing import best_seconds, report
from smartcl import SmartClassifier
from smartcl.paper.datasets.real_streams import load_real_stream
from smartcl.paper.datasets.stream_suite import read_suite_file, stream_path

#: Members that learn in closed form and read no stored sample.
CLOSED_FORM = ["ridge", "logistic"]
#: Streams of the suite on which rows one by one are compared with fifties, and the rows of each.
SUITE, SUITE_ROWS = ("bananas", "sea-abrupt", "phishing"), 4000
LONG_CALL, FIFTIES = 1_000_000, 50_000


def ours(X: Any, y: Any, memory: str = "100kB", **arguments: Any) -> tuple[float, float]:
    """The accuracy of the estimator one row a call, and its rows a second."""
    model = SmartClassifier(memory, random_state=0, **arguments)
    start, right = time.process_time(), 0
    model.partial_fit(X[:1], y[:1])
    for at in range(1, len(y)):
        right += model.predict(X[at : at + 1])[0] == y[at]
        model.partial_fit(X[at : at + 1], y[at : at + 1])
    return 100 * right / (len(y) - 1), len(y) / (time.process_time() - start)


def rivers() -> Iterator[tuple[str, Callable[[], Any]]]:
    """River's classifiers, as its package makes them by default."""
    if find_spec("river") is None:
        print("River is left out: it is not installed", file=sys.stderr)
        return
    from river import forest, linear_model, multiclass, preprocessing, tree

    yield "River's ARF", lambda: forest.ARFClassifier(seed=0)
    yield "River's HAT", lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0)
    logistic = linear_model.LogisticRegression
    scaler = preprocessing.StandardScaler
    yield "River's logistic regression", lambda: scaler() | multiclass.OneVsRestClassifier(logistic())


def theirs(make: Callable[[], Any], X: Any, y: Any) -> tuple[float, float]:
    """The same of a classifier of River's."""
    model, rows, labels = make(), [dict(enumerate(row)) for row in X.tolist()], y.tolist()
    start, right = time.process_time(), 0
    for row, label in zip(rows, labels, strict=True):
        right += model.predict_one(row) == label
        model.learn_one(row, label)
    return 100 * right / len(y), len(y) / (time.process_time() - start)


def compared(name: str, X: Any, y: Any, accuracy: str, speed: str) -> Iterator[tuple[str, float, str]]:
    """Lines of one stream."""
    mine, pace = ours(X, y)
    yield f"{name}, default: accuracy", mine, accuracy
    yield f"{name}, default: rows a second", pace, speed
    for rival, make in rivers():
        right, rate = theirs(make, X, y)
        yield f"{name}, {rival}: accuracy", right, "-"
        yield f"{name}, {rival}: rows a second", rate, "-"
        if rival == "River's ARF":
            yield f"{name}: the default's rows a second over those of River's ARF", pace / rate, ">= 2"


def last_labels(X: Any, y: Any) -> Iterator[tuple[str, float, str]]:
    """What the last label is worth as an input of every member, beside what it is worth as an expert."""
    before = np.concatenate([y[:1], y[:-1]]).astype(np.float32)
    for name, rows, asked in (
        ("as an expert alone", X, False),
        ("as a column", np.column_stack([X, before]), False),
        ("with previous_label=True", X, True),
    ):
        right, _ = ours(rows, y, "1MB", previous_label=asked)
        yield f"elec, {len(y):,} rows, the last label {name}: accuracy", right, "-"


def after_fifty(X: Any, y: Any, step: int) -> float:
    """The accuracy of answers to fifty rows, which are then learned ``step`` at a time."""
    model, right = SmartClassifier("20kB", random_state=0), 0
    model.partial_fit(X[:50], y[:50], classes=np.unique(y))
    for start in range(50, len(y), 50):
        right += int((model.predict(X[start : start + 50]) == y[start : start + 50]).sum())
        for at in range(start, min(start + 50, len(y)), step):
            model.partial_fit(X[at : at + step], y[at : at + step])
    return 100 * right / (len(y) - 50)


def mixed_rows(count: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Dicts of ten raw columns: numbers, names, a date, a truth value, some of them missing."""
    rng = np.random.default_rng(0)
    for at in range(count):
        numbers = {f"number {n}": float(value) for n, value in enumerate(rng.normal(size=5))}
        names = {"city": f"city {rng.integers(40)}", "plan": str(rng.choice(["free", "plus"])), "sky": None}
        row = {**numbers, **names, "day": f"2024-{1 + at % 12:02}-{1 + at % 28:02}", "new": bool(at % 3)}
        yield row, "yes" if numbers["number 0"] + (row["plan"] == "plus") > 0 else "no"


def dicts() -> Iterator[tuple[str, float, str]]:
    """Milliseconds of ``learn_one`` and ``predict_one`` with raw dicts, batches that come due included."""
    model, spent = SmartClassifier("100kB", random_state=0), {"learn_one": 0.0, "predict_one": 0.0}
    rows = list(mixed_rows(6000))
    for at, (row, label) in enumerate(rows):
        start = time.process_time()
        if at >= 2000:
            model.predict_one(row)
        middle = time.process_time()
        model.learn_one(row, label)
        if at >= 2000:
            spent["predict_one"] += middle - start
            spent["learn_one"] += time.process_time() - middle
    for name, seconds in spent.items():
        wanted = "<= 1" if name == "learn_one" else "-"
        yield f"{name} of a dict with ten mixed columns: milliseconds", 1e3 * seconds / 4000, wanted


def long_call() -> Iterator[tuple[str, float, str]]:
    """A call of very many rows: its time a row, its memory, and how long an interrupt waits for an answer."""
    X, y = make_classification(LONG_CALL, 10, n_informative=8, random_state=0)
    X = X.astype(np.float32)
    fifties, at_once = SmartClassifier("100kB", random_state=0), SmartClassifier("100kB", random_state=0)
    start = time.process_time()
    for at in range(0, FIFTIES, 50):
        fifties.partial_fit(X[at : at + 50], y[at : at + 50])
    pace = (time.process_time() - start) / FIFTIES
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    at_once.partial_fit(X, y)
    seconds = (time.process_time() - start) / LONG_CALL
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    yield "1,000,000 rows x 10 in one call: seconds a row over those in fifties", seconds / pace, "<= 1.3"
    yield "1,000,000 rows x 10 in one call: memory beside the rows, MB", more * 1024 / 1e6, "<= 200"
    learned, struck = at_once.learner_.counts.total, 0.0

    def strike(signum: int, frame: object) -> None:
        nonlocal struck
        struck = time.monotonic()
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, 3.0)
    try:
        at_once.partial_fit(X, y)
    except KeyboardInterrupt:
        yield "ctrl-C in such a call: seconds to the answer", time.monotonic() - struck, "<= 1"
    yield "rows that counted of the interrupted call", float(at_once.learner_.counts.total - learned), "0"


def main() -> None:
    """Measure all of it in one run."""
    elec = load_real_stream("elec")
    many, classes = make_classification(10_000, 20, n_informative=12, n_classes=5, random_state=0)
    lines = [
        *compared("elec one row a call", elec.X, elec.y, ">= 87.5", "-"),
        *compared("20 columns and 5 classes one row a call", many.astype(np.float32), classes, "-", ">= 1,500"),
    ]
    lines += last_labels(elec.X[:15_000], elec.y[:15_000])
    right, pace = ours(elec.X[:20_000], elec.y[:20_000], members=CLOSED_FORM)
    lines.append(("elec, 20,000 rows, closed form alone: rows a second", pace, ">= 8,000"))
    lines.append(("elec, 20,000 rows, closed form alone: accuracy", right, "-"))
    model = SmartClassifier("100kB", random_state=0).partial_fit(elec.X[:10_020], elec.y[:10_020])
    for at in range(10_020, 10_030):
        model.partial_fit(elec.X[at : at + 1], elec.y[at : at + 1])
    seconds = best_seconds([lambda: model.predict_proba(elec.X[10_030:10_031])], calls=100)[0]
    lines.append(("predict_proba of one row, elec: milliseconds", 1e3 * seconds, "<= 0.3"))
    for name in SUITE:
        suite = read_suite_file(stream_path(name))
        X, y = (each[:SUITE_ROWS] for each in suite.with_seed(0))
        differ = abs(after_fifty(X, y, 1) - after_fifty(X, y, 50))
        lines.append((f"{name}: accuracy one by one less that in fifties, labels as late", differ, "<= 0.3"))
    report(*lines, *dicts(), *long_call())


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
