"""Workers as actors of a Ray cluster. The folder of the model must be one that all nodes see."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import smartcl
from smartcl.errors import extra
from smartcl.scale.shard_work import ShardDone, ShardTask, work

#: How often an actor is begun again after it or its node was lost, and a task with it.
RETRIES = 5
QUIET: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}


class RayActors:
    """``count`` actors on the cluster at an address, or on one of this machine's own."""

    def __init__(self, count: int, address: str | None = None) -> None:
        ray, self._began = begin_ray(count, address)
        self._ray = ray
        kind = ray.remote(num_cpus=1, max_restarts=RETRIES, max_task_retries=RETRIES)(ShardActor)
        self._actors = [kind.remote() for _ in range(count)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end_ray(self._ray, self._began, self._actors)

    def done(
        self, tasks: Sequence[ShardTask], watch: Callable[[Sequence[int]], None] = lambda pids: None
    ) -> list[ShardDone]:
        """Do all tasks, each by the actor of its place."""
        ray = self._ray
        references = [self._actors[place % len(self._actors)].work.remote(task) for place, task in enumerate(tasks)]
        try:
            found: list[ShardDone] = ray.get(references)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        return found


def begin_ray(count: int, address: str | None) -> tuple[Any, bool]:
    """Ray, and whether it was begun here: where this process is connected already, that connection is used.

    Otherwise it is the cluster at the address, or one of this machine's own with room for ``count`` actors.
    """
    ray = extra("ray", "ray")
    if ray.is_initialized():
        return ray, False
    settings = {**QUIET, "runtime_env": {"py_modules": [str(Path(smartcl.__file__).parent)]}}
    if address is None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no statistics leave the machine
        settings |= {"num_cpus": count, "include_dashboard": False}
    ray.init(address=address or "local", **settings)
    return ray, True


def end_ray(ray: Any, began: bool, actors: Sequence[Any]) -> None:
    """End the actors, and Ray if it was begun for them."""
    for actor in actors:
        ray.kill(actor)
    if began:
        ray.shutdown()


class ShardActor:
    """An actor of Ray: it does tasks."""

    def __init__(self) -> None:
        os.environ["OMP_NUM_THREADS"] = "1"

    def work(self, task: ShardTask) -> ShardDone:
        return work(task)

    def process(self) -> int:
        """The id of its process, on its node."""
        return os.getpid()
