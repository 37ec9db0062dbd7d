"""Workers as processes of this machine: each does one task after the other, and is begun again if it dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread
from types import TracebackType
from typing import Any, Self

from smartcl.scale.shard_work import ShardDone, ShardTask, work

#: How often the same task is begun again without getting further: what kills it then is no accident.
MOST_DEATHS = 5


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: int | None = None


class Processes:
    """At most ``count`` workers, begun when they are first needed and kept from round to round.

    They are fresh processes and not copies of this one, for threads of a library do not survive a copy.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._workers: list[_Worker] = []
        self._context = multiprocessing.get_context("spawn")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()
        self._workers = []

    def done(
        self, tasks: Sequence[ShardTask], watch: Callable[[Sequence[int]], None] = lambda pids: None
    ) -> list[ShardDone]:
        """Do all tasks; ``watch`` is told the ids of the processes every now and then."""
        left, found = list(range(len(tasks))), dict[int, ShardDone]()
        deaths: list[tuple[str, int]] = []
        while len(found) < len(tasks):
            self._begin(min(self.count, len(left) + sum(worker.task is not None for worker in self._workers)))
            for worker in self._workers:
                if worker.task is None and left:
                    worker.task = left.pop(0)
                    worker.pipe.send(tasks[worker.task])
            busy = [worker for worker in self._workers if worker.task is not None]
            watch([worker.process.pid or 0 for worker in busy])
            ready = wait([each for worker in busy for each in (worker.pipe, worker.process.sentinel)], timeout=0.2)
            for worker in busy:
                if worker.pipe in ready or worker.process.sentinel in ready:
                    self._take(worker, tasks, found, left, deaths)
        return [found[place] for place in range(len(tasks))]

    def _take(
        self,
        worker: _Worker,
        tasks: Sequence[ShardTask],
        found: dict[int, ShardDone],
        left: list[int],
        deaths: list[tuple[str, int]],
    ) -> None:
        """What a worker has to say: that it is done, what went wrong, or nothing, because it is dead."""
        task = worker.task
        assert task is not None
        try:
            answer: Any = worker.pipe.recv() if worker.pipe.poll() else None
        except (EOFError, OSError):
            answer = None
        if isinstance(answer, ShardDone):
            found[task], worker.task = answer, None
            return
        if isinstance(answer, BaseException):
            raise answer
        if worker.process.is_alive():
            return
        worker.process.join()
        worker.pipe.close()
        self._workers.remove(worker)
        deaths.append(tasks[task].saved_at())
        times, code = deaths.count(deaths[-1]), worker.process.exitcode
        if times > MOST_DEATHS:
            raise RuntimeError(f"a worker died {times} times on the same rows, last with the exit code {code}")
        left.insert(0, task)

    def _begin(self, count: int) -> None:
        while len(self._workers) < count:
            here, there = self._context.Pipe()
            process = self._context.Process(target=serve_tasks, args=(there,), daemon=True)
            threads = {name: os.environ.get(name) for name in THREADS}
            os.environ.update(dict.fromkeys(THREADS, "1"))
            try:
                process.start()
            finally:
                for name, value in threads.items():
                    if value is None:
                        del os.environ[name]
                    else:
                        os.environ[name] = value
            there.close()
            self._workers.append(_Worker(process, here))


#: Of each worker one thread: there are as many workers as processors.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def serve_tasks(pipe: Connection) -> None:
    """A worker's life. Ctrl-C is the business of who began it, whose end ends it too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            task: ShardTask = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(work(task))
        except (ValueError, OSError, RuntimeError) as error:
            pipe.send(type(error)(*error.args) if type(error) in (ValueError, RuntimeError) else ValueError(str(error)))


def _end_with_parent() -> None:
    """End this process if the one that began it was killed: another may do its work again."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
