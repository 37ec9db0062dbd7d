"""The two threads of a service: one that learns, whatever the number of models, and one that syncs journals."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

log = logging.getLogger("smartcl.serve")


class Learns(Protocol):
    """What the learner's thread works on."""

    def learn_next(self) -> float | None:
        """Learn one step; seconds until there is something to do again, 0: at once, None: nothing is known of."""

    def save_if_due(self, now: float) -> float:
        """Save where it is time; seconds until the next look."""


class LearnerThread(threading.Thread):
    """Learns step after step, model after model in turn; between two steps it does what it is called for."""

    def __init__(self) -> None:
        super().__init__(name="smartcl-learner", daemon=True)
        self._news = threading.Condition()
        self._models: deque[Learns] = deque()
        self._calls: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._ends = self._woken = False

    def add(self, model: Learns) -> None:
        """Learn the rows of this model too."""
        with self._news:
            self._models.append(model)
            self._woken = True
            self._news.notify()

    def remove(self, model: Learns) -> None:
        with self._news:
            self._models.remove(model)

    def wake(self) -> None:
        """There are rows to learn."""
        with self._news:
            self._woken = True
            self._news.notify()

    def call(self, work: Callable[[], T]) -> Future[T]:
        """Do this between two steps."""
        future: Future[T] = Future()
        with self._news:
            if self._ends:
                raise RuntimeError("the learner has ended")
            self._calls.append((future, work))
            self._news.notify()
        return future

    def end(self) -> None:
        """End after what was called for; rows that wait are not learned any more."""
        with self._news:
            self._ends = True
            self._news.notify()
        self.join()

    def run(self) -> None:
        while True:
            with self._news:
                self._woken = False
            pause = self._one_turn()
            with self._news:
                if self._calls or self._woken or pause == 0:
                    continue
                if self._ends:
                    return
                self._news.wait(pause)

    def _one_turn(self) -> float:
        """Do what was called for, then one step of each model; seconds until there is something to do."""
        while self._calls:
            future, work = self._calls.popleft()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work())
                except BaseException as error:
                    future.set_exception(error)
        pause, now = 1.0, time.monotonic()
        for model in list(self._models):
            try:
                wait = model.learn_next()
                due = model.save_if_due(now)
                pause = min(pause, due if wait is None else min(wait, due))
            except Exception:  # a model's defect must not end the others'
                log.exception("the learner failed")
            if self._calls:
                return 0.0
        return pause


class JournalThread(threading.Thread):
    """Syncs journals in groups: what comes within ``seconds`` shares one sync."""

    def __init__(self, seconds: float) -> None:
        super().__init__(name="smartcl-journal", daemon=True)
        self.seconds = seconds
        self._news = threading.Condition()
        self._unsynced: dict[int, Callable[[], None]] = {}
        self._ends = False

    def wake(self, sync: Callable[[], None], key: int) -> None:
        """Sync this journal soon."""
        with self._news:
            self._unsynced[key] = sync
            self._news.notify()

    def end(self) -> None:
        with self._news:
            self._ends = True
            self._news.notify()
        self.join()

    def run(self) -> None:
        while True:
            with self._news:
                while not self._unsynced and not self._ends:
                    self._news.wait()
                if self._ends and not self._unsynced:
                    return
            if self.seconds and not self._ends:
                time.sleep(self.seconds)
            with self._news:
                syncs, self._unsynced = list(self._unsynced.values()), {}
            for sync in syncs:
                try:
                    sync()
                except Exception:
                    log.exception("a journal could not be synced")
