"""Runs in processes of this machine: a killed one sinks no other, and none outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

import pytest

from smartcl.paper.experiments.engines.engine import Outcome
from smartcl.paper.experiments.engines.local import LocalEngine, RunStep
from smartcl.paper.experiments.engines.worker import interrupts_ignored
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.sweep import results_of
from smartcl.paper.experiments.task_run import run

QUICK = {"hidden": (4,), "iterations": 1}
ENDLESS = {"hidden": (4,), "iterations": 100_000}


def spec(seed: int) -> RunSpec:
    return RunSpec("disjoint-digits", "er", seed=seed)


def killed_at(fatal: dict[int, int], diary: Path, spec: RunSpec) -> dict[str, Any]:
    """A run that notes its start, and kills its process the first so many times it is made."""
    with diary.open("a") as file:
        file.write(f"{spec.seed}\n")
    times = diary.read_text().split().count(str(spec.seed))
    if times <= fatal.get(spec.seed, 0):
        os.kill(os.getpid(), signal.SIGKILL)
    if spec.seed == 9:
        raise ValueError("nine is\nnot allowed")
    return {"accuracy": float(spec.seed), "process": os.getpid()}


def test_a_killed_process_is_made_anew_and_its_run_tried_once_more(tmp_path):
    """Seed 1 kills its process once, seed 2 always; seed 9 raises; the neighbours know nothing of it."""
    diary = tmp_path / "diary"
    work = partial(killed_at, {1: 1, 2: 99}, diary)
    outcomes = {o.spec.seed: o for o in LocalEngine(2).outcomes(work, [spec(s) for s in (0, 1, 2, 3, 9, 5)])}
    results = {seed: outcome.result["accuracy"] for seed, outcome in outcomes.items() if outcome.result}
    assert results == {0: 0.0, 1: 1.0, 3: 3.0, 5: 5.0}
    assert outcomes[2].reason == "its process ended twice, at last with SIGKILL"
    assert outcomes[9].reason == "ValueError: nine is not allowed"
    assert sorted(diary.read_text().split()) == ["0", "1", "1", "2", "2", "3", "5", "9"]
    assert os.getpid() not in {outcome.result["process"] for outcome in outcomes.values() if outcome.result}


def slow(diary: Path, spec: RunSpec) -> dict[str, Any]:
    with diary.open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(60 if spec.seed else 0)
    return {}


def alive(process: int) -> bool:
    """Running, and not merely waiting to be reaped."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_gone(processes: set[int], seconds: float = 30.0) -> bool:
    deadline = time.monotonic() + seconds
    while any(alive(process) for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def workers_in(diary: Path) -> set[int]:
    return {int(line) for line in diary.read_text().split()} if diary.exists() else set()


def test_closing_early_stops_what_is_in_flight(tmp_path):
    diary = tmp_path / "diary"
    outcomes = LocalEngine(2).outcomes(partial(slow, diary), [spec(0), spec(1), spec(2)])
    assert next(outcomes) == Outcome(spec(0), {})
    outcomes.close()
    assert workers_in(diary)
    assert all_gone(workers_in(diary))


SWEEP = """
import sys
from functools import partial
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_local import slow, spec
from smartcl.paper.experiments.engines.local import LocalEngine
if __name__ == "__main__":
    list(LocalEngine(2).outcomes(partial(slow, Path(sys.argv[2])), [spec(1), spec(2)]))
"""


def test_workers_go_with_a_parent_killed_outright(tmp_path):
    diary, script = tmp_path / "diary", tmp_path / "sweep.py"
    script.write_text(SWEEP)
    parent = subprocess.Popen([sys.executable, str(script), str(Path(__file__).parent), str(diary)])
    try:
        while len(workers_in(diary)) < 2:
            assert parent.poll() is None
            time.sleep(0.05)
    finally:
        parent.kill()
        parent.wait()
    assert all_gone(workers_in(diary))


def test_runs_are_watched_batch_by_batch_and_come_out_as_without():
    specs = [RunSpec.of(QUICK, dataset="disjoint-digits", method=method, memory="1kB") for method in ("er", "finetune")]
    seen: dict[RunSpec, list[RunStep]] = {one: [] for one in specs}
    watched = results_of(specs, LocalEngine(2, lambda one, step: seen[one].append(step)))
    assert [step.done for step in seen[specs[0]]] == [step.done for step in seen[specs[1]]] == list(range(1, 21))
    assert {step.total for steps in seen.values() for step in steps} == {20}
    assert seen[specs[0]][-1].memory.startswith(f"{watched[0]['samples_held']} samples in")
    alone = [run(one) for one in specs]
    assert [result["accuracy_matrix"] for result in watched] == [result["accuracy_matrix"] for result in alone]
    assert active_children() == []


def test_an_interrupt_waits_for_no_run():
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    specs = [
        RunSpec.of(QUICK, dataset="disjoint-digits", method="er"),
        RunSpec.of(ENDLESS, dataset="disjoint-digits", method="finetune", memory="1kB"),
    ]
    with pytest.raises(KeyboardInterrupt):
        results_of(specs, LocalEngine(2, interrupt))
    assert active_children() == []


def test_a_run_that_fails_says_why_and_stops_the_others():
    endless = RunSpec.of(ENDLESS, dataset="disjoint-digits", method="finetune", memory="1kB")
    with pytest.raises(RuntimeError, match="ValueError: there is no data set 'mnst'"):
        results_of([endless, RunSpec("mnst", "er")], LocalEngine(2))
    assert active_children() == []


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs to see what a process listens to")
def test_a_process_is_deaf_from_its_first_moment() -> None:
    def is_deaf(pid: int | str) -> bool:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        return bool(int(status["SigBlk"], 16) & 1 << (signal.SIGINT - 1))

    process = get_context("spawn").Process(target=time.sleep, args=(60,), daemon=True)
    with interrupts_ignored():
        process.start()
    assert is_deaf(process.pid or 0)
    assert not is_deaf("self")
    process.kill()
    process.join()
