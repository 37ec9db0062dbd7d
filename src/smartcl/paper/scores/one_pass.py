"""One pass over a real stream, some rows at a time: each is answered, then learned. What it cost is measured too."""

from __future__ import annotations

import pickle
import time
from typing import Any, Protocol

import numpy as np

from smartcl.data.batch import Doubles, Ints
from smartcl.paper.datasets.real_tables import AnyRows
from smartcl.paper.datasets.real_tasks import UNSCORED_ROWS, LearnedRows
from smartcl.paper.scores.probability_scores import stream_scores


class Contender(Protocol):
    """What learns rows as they come: a probability for each row and class."""

    def learn(self, rows: AnyRows, y: Ints) -> None: ...

    def scores(self, rows: AnyRows) -> Doubles: ...


def one_pass(contender: Contender, learned: LearnedRows, step: int) -> dict[str, Any]:
    """Learn row by row or in batches of ``step``, and score all answers but those to the first 50 rows.

    Seconds are of the processor, for answering and learning; the state is what the contender needs to go on, in bytes.
    """
    rows, taught, truth, classes = learned.rows, learned.taught, learned.truth, learned.classes
    found = np.full((len(truth), classes), np.nan)
    wall, cpu = time.perf_counter(), time.process_time()
    for start in range(0, len(truth), step):
        part, labels = rows[start : start + step], taught[start : start + step]
        if start >= UNSCORED_ROWS:
            found[start : start + step] = contender.scores(part)
        contender.learn(part, labels)
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    return {
        **stream_scores(as_probabilities(found[UNSCORED_ROWS:]), truth[UNSCORED_ROWS:]),
        "rows": len(truth),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "rows_a_second": len(truth) / cpu_seconds,
        "pickled_bytes": state_nbytes(contender),
    }


def as_probabilities(scores: Doubles) -> Doubles:
    """Rows that sum to one; a row without any score says that all classes are equally likely.

    >>> as_probabilities(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    total = scores.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(scores, total, out=np.full(scores.shape, 1 / scores.shape[1]), where=total > 0))


def state_nbytes(contender: Any) -> int:
    """What a contender says of itself, else the size of its pickle."""
    own = getattr(contender, "state_nbytes", None)
    return len(pickle.dumps(contender)) if own is None else int(own())
