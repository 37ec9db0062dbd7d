"""Many runs on one machine: all cores, one thread each; what is done stays done."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import torch

from smartcl.experiments.results import ResultFolder
from smartcl.experiments.run import run
from smartcl.experiments.spec import RunSpec

#: Called after each run with the spec and, if it failed, the reason.
Finished = Callable[[RunSpec, str | None], None]


def missing(specs: Sequence[RunSpec], results: ResultFolder) -> list[RunSpec]:
    """The runs not made yet, each once."""
    return [spec for spec in dict.fromkeys(specs) if results.load(spec) is None]


def sweep(
    specs: Sequence[RunSpec],
    results: ResultFolder,
    finished: Finished = lambda spec, reason: None,
    workers: int | None = None,
    data_dir: Path | None = None,
) -> dict[RunSpec, str]:
    """Make every missing run; a run that fails stops no other. Returns the failures with their reasons."""
    failures: dict[RunSpec, str] = {}
    workers = workers or os.cpu_count() or 1
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=quiet_worker) as pool:
        futures = {pool.submit(_run_and_save, spec, results, data_dir): spec for spec in missing(specs, results)}
        try:
            for future in as_completed(futures):
                spec, error = futures[future], future.exception()
                if error is not None:
                    failures[spec] = f"{type(error).__name__}: {error}"
                finished(spec, failures.get(spec))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(pool._processes.values()):
                process.terminate()
            raise
    return failures


def quiet_worker() -> None:
    """One thread each; ctrl-C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)


def _run_and_save(spec: RunSpec, results: ResultFolder, data_dir: Path | None) -> None:
    results.save(spec, run(spec, data_dir=data_dir))
