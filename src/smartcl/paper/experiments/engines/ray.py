"""Runs on a Ray cluster: the same specs, a task each, results streamed back to the driver as they finish."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import smartcl
from smartcl.paper.experiments.engines.engine import Outcome, Outcomes, Work, attempt, reason_of
from smartcl.paper.experiments.engines.worker import one_thread
from smartcl.paper.experiments.run_spec import RunSpec

#: How often a run is made anew after its worker or node was lost.
RETRIES = 3

#: Seconds a cluster may take to answer: Ray itself would try for minutes.
PATIENCE = 30.0

QUIET = {"logging_level": "ERROR", "log_to_driver": False}

# in a process of its own, which can be given up; Ray goes on trying in threads that nothing stops
KNOCK = f"import ray, sys; ray.init(address=sys.argv[1], **{QUIET})"


class RayEngine:
    """The cluster at an address (``host:port`` of its head, or ``auto``), else one on this machine for the sweep.

    Workers import the sources the driver runs; the libraries they need must be installed on every node.
    """

    def __init__(self, address: str | None = None, workers: int | None = None, patience: float = PATIENCE) -> None:
        self._ray = _import_ray()
        self.address, self.workers = address, workers
        if address is not None:
            _knock(address, patience)

    def outcomes(self, work: Work, specs: Sequence[RunSpec]) -> Outcomes:
        if not specs:
            return
        ray = self._ray
        self._connect()
        pending: dict[Any, RunSpec] = {}
        try:
            task = ray.remote(num_cpus=1, max_retries=RETRIES)(_attempt_alone)
            pending = {task.remote(work, spec): spec for spec in specs}
            while pending:
                for reference in ray.wait(list(pending))[0]:
                    spec = pending.pop(reference)
                    try:
                        outcome = ray.get(reference)
                    except ray.exceptions.RayError as error:
                        outcome = Outcome(spec, reason=reason_of(error))
                    yield outcome
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)
            ray.shutdown()

    def _connect(self) -> None:
        settings: dict[str, Any] = {**QUIET, "runtime_env": {"py_modules": [str(Path(smartcl.__file__).parent)]}}
        if self.address is None:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a sweep on one's own machine reports nothing
            settings |= {"num_cpus": self.workers, "include_dashboard": False}
        self._ray.init(address=self.address or "local", **settings)


def _attempt_alone(work: Work, spec: RunSpec) -> Outcome:
    one_thread()
    return attempt(work, spec)


def _import_ray() -> Any:
    try:
        import ray
    except ModuleNotFoundError:
        raise ModuleNotFoundError("the Ray engine needs Ray: pip install 'smartcl[ray]'", name="ray") from None
    return ray


def _knock(address: str, patience: float) -> None:
    """Fail in one line if no cluster answers there in time."""
    command = [sys.executable, "-c", KNOCK, address]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=patience)
    except subprocess.TimeoutExpired:
        raise ConnectionError(
            f"no Ray cluster answered at {address} within {patience:g} seconds; "
            "the address is host:port of the head node, with port 6379 unless it was started with another"
        ) from None
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ConnectionError(f"no Ray cluster could be joined at {address}: {last}") from None
