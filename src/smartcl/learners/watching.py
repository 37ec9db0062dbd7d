"""Watching a learner at work: how far it is, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable

from smartcl.learners.stream_learner import StreamLearner

#: Called with what is learned so far (batches, days), how much there is in all, and the learner.
TellProgress = Callable[[int, int, StreamLearner], None]


class RunTimer:
    """The time spent inside ``with``, by the wall and by the processor."""

    def __init__(self) -> None:
        self.wall, self.cpu = 0.0, 0.0

    def __enter__(self) -> None:
        self._start = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter() - self._start[0]
        self.cpu += time.process_time() - self._start[1]
