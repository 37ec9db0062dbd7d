"""A few runs side by side, each in a process and thread of its own, watched as they go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from smartcl.experiments.engines.worker import quiet_worker
from smartcl.experiments.run import run
from smartcl.experiments.spec import RunSpec
from smartcl.learners.learner import Learner

#: Called with a run's position, its batches learned, the batches in all, and a line about its memory.
Watch = Callable[[int, int, int, str], None]


def run_together(specs: Sequence[RunSpec], watch: Watch, data_dir: Path | None = None) -> list[dict[str, Any]]:
    """The results in the order of the specs. One thread each: two threads on a busy core wait for each other."""
    context = get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(len(specs), context, quiet_worker) as pool:
        news: Queue[tuple[int, int, int, str]] = manager.Queue()
        futures = [pool.submit(_watched_run, i, spec, news, data_dir) for i, spec in enumerate(specs)]
        _relay(news, futures, watch)
        return [future.result() for future in futures]


def _watched_run(
    position: int, spec: RunSpec, news: Queue[tuple[int, int, int, str]], data_dir: Path | None
) -> dict[str, Any]:
    def tell(done: int, total: int, learner: Learner) -> None:
        news.put((position, done, total, repr(learner.memory)))

    return run(spec, tell, data_dir)


def _relay(news: Queue[tuple[int, int, int, str]], futures: Sequence[Future[dict[str, Any]]], watch: Watch) -> None:
    while True:
        finished = not wait(futures, timeout=0).not_done
        try:
            while True:
                watch(*news.get(timeout=0.2))
        except Empty:
            if finished:
                return
