"""A few runs side by side, each in a process and thread of its own, watched as they go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from smartcl.learners.learner import Learner
from smartcl.paper.experiments.engines.engine import Outcome, attempt
from smartcl.paper.experiments.engines.worker import deaf_to_interrupts, quiet_worker
from smartcl.paper.experiments.run import run
from smartcl.paper.experiments.spec import RunSpec

#: Called with a run's position, its batches learned, the batches in all, and a line about its memory.
Watch = Callable[[int, int, int, str], None]

SPAWN = get_context("spawn")


def run_together(specs: Sequence[RunSpec], watch: Watch, data_dir: Path | None = None) -> list[dict[str, Any]]:
    """The results in the order of the specs. One thread each: two threads on a busy core wait for each other."""
    channels, processes = [], []
    try:
        for spec in specs:
            ours, theirs = SPAWN.Pipe()
            channels.append(ours)
            processes.append(SPAWN.Process(target=_serve, args=(spec, theirs, data_dir), daemon=True))
            with deaf_to_interrupts():
                processes[-1].start()
            theirs.close()
        return _results(channels, watch)
    finally:
        for process in processes:
            if process.pid is not None:
                process.kill()  # at once: nothing of a run is kept but its result
                process.join()


def _results(channels: Sequence[Connection], watch: Watch) -> list[dict[str, Any]]:
    results: dict[int, dict[str, Any]] = {}
    while unfinished := [channel for position, channel in enumerate(channels) if position not in results]:
        for channel in wait(unfinished):
            position = channels.index(channel)
            try:
                news = channels[position].recv()
            except EOFError:
                raise RuntimeError("a run lost its process") from None
            if not isinstance(news, Outcome):
                watch(position, *news)
            elif news.result is None:
                raise RuntimeError(news.reason)
            else:
                results[position] = news.result
    return [results[position] for position in range(len(channels))]


def _serve(spec: RunSpec, channel: Connection, data_dir: Path | None) -> None:
    quiet_worker()

    def tell(done: int, total: int, learner: Learner) -> None:
        channel.send((done, total, repr(learner.memory)))

    channel.send(attempt(partial(run, progress=tell, data_dir=data_dir), spec))
