"""Runs on this machine: a process each, as many at a time as there are cores."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from signal import Signals
from typing import Any, NamedTuple

from smartcl.learners.stream_learner import StreamLearner
from smartcl.paper.experiments.engines.engine import Outcome, Outcomes, Work, attempt
from smartcl.paper.experiments.engines.worker import interrupts_ignored, quiet_worker
from smartcl.paper.experiments.run_spec import RunSpec

SPAWN = get_context("spawn")

#: Seconds from the end of a process's channel to its own.
GRACE = 10.0


class RunStep(NamedTuple):
    """How far a run is, and a line about its memory."""

    done: int
    total: int
    memory: str


#: Called after each batch of a run.
WatchStep = Callable[[RunSpec, RunStep], None]


class LocalEngine:
    """All cores unless told otherwise. A run whose process is killed (out of memory) is tried once more.

    Whoever gives a ``watch`` is told of every batch that any of the runs has learned.
    """

    def __init__(self, workers: int | None = None, watch: WatchStep | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1
        self.watch = watch

    def outcomes(self, work: Work, specs: Sequence[RunSpec]) -> Outcomes:
        waiting, lost = deque(specs), set[RunSpec]()
        busy: dict[Any, Worker] = {}
        idle: list[Worker] = []
        try:
            while waiting or busy:
                while waiting and len(busy) < self.workers:
                    worker = idle.pop() if idle else Worker(work, watched=self.watch is not None)
                    busy[worker.channel] = worker
                    worker.take(waiting.popleft())
                for channel in wait(list(busy)):
                    worker = busy[channel]
                    spec, news = worker.spec, worker.news()
                    if isinstance(news, RunStep):
                        if self.watch is not None:
                            self.watch(spec, news)
                        continue
                    del busy[channel]
                    if news is not None:
                        idle.append(worker)
                        yield news
                    elif spec in lost:
                        yield Outcome(spec, reason=f"its process ended twice, at last with {worker.ending()}")
                    else:
                        worker.ending()
                        lost.add(spec)
                        waiting.appendleft(spec)
        finally:
            for worker in (*busy.values(), *idle):
                worker.stop()


class Worker:
    """A process that makes one run at a time, and the channel to it."""

    spec: RunSpec

    def __init__(self, work: Work, watched: bool) -> None:
        self.channel, theirs = SPAWN.Pipe()
        self._process = SPAWN.Process(target=_serve, args=(work, watched, theirs), daemon=True)
        with interrupts_ignored():
            self._process.start()
        theirs.close()

    def take(self, spec: RunSpec) -> None:
        """Begin this run."""
        self.spec = spec
        with suppress(OSError):  # ended already: its channel is at its end, and there is no outcome
            self.channel.send(spec)

    def news(self) -> Outcome | RunStep | None:
        """What came of the run taken, or how far it is; None if the process is gone."""
        try:
            news = self.channel.recv()
        except (EOFError, OSError):
            return None
        assert isinstance(news, (Outcome, RunStep))
        return news

    def ending(self) -> str:
        """How the process, that is gone, came to its end."""
        self._process.join(GRACE)
        code = self._process.exitcode or 0
        self.stop()
        return Signals(-code).name if code < 0 else f"exit code {code}"

    def stop(self) -> None:
        """At once, whatever it is doing: results are saved by the parent alone."""
        self._process.kill()
        self._process.join()
        self.channel.close()


def _serve(work: Work, watched: bool, channel: Connection) -> None:
    quiet_worker()

    def tell(done: int, total: int, learner: StreamLearner) -> None:
        channel.send(RunStep(done, total, repr(learner.memory)))

    while True:
        channel.send(attempt(partial(work, progress=tell) if watched else work, channel.recv()))
