"""Runs side by side: their results, and an end at once when they are interrupted."""

from __future__ import annotations

import signal
import time
from multiprocessing import active_children, get_context
from pathlib import Path

import pytest

from smartcl.paper.experiments.engines.worker import deaf_to_interrupts
from smartcl.paper.experiments.spec import RunSpec
from smartcl.paper.experiments.together import run_together

ENDLESS = {"iterations": 100_000, "hidden": (4,)}


def test_an_interrupt_waits_for_no_run() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    spec = RunSpec.of(ENDLESS, dataset="disjoint-digits", method="finetune", memory="1kB")
    with pytest.raises(KeyboardInterrupt):
        run_together(
            [RunSpec.of({"hidden": (4,), "iterations": 1}, dataset=spec.dataset, method="er"), spec], interrupt
        )
    assert active_children() == []


def test_a_run_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match="ValueError: there is no data set 'mnst'"):
        run_together([RunSpec("mnst", "er")], lambda *_: None)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs to see what a process listens to")
def test_a_process_is_deaf_from_its_first_moment() -> None:
    def is_deaf(pid: int | str) -> bool:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        return bool(int(status["SigBlk"], 16) & 1 << (signal.SIGINT - 1))

    process = get_context("spawn").Process(target=time.sleep, args=(60,), daemon=True)
    with deaf_to_interrupts():
        process.start()
    assert is_deaf(process.pid or 0)
    assert not is_deaf("self")
    process.kill()
    process.join()
