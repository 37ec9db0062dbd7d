"""One try after another in a process of its own: what crashes or hangs is a fault of that try and ends no other."""

from __future__ import annotations

import faulthandler
import math
import multiprocessing
import os
import resource
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

#: What ends a try well: an error of the promised form that changed nothing, or success.
REFUSED, SURVIVED = "refused", "survived"
#: The most that a worker may map, so that an absurd size is an error and not the end of the machine.
ADDRESS_SPACE = 10 * 2**30
#: Patience with a worker that uses no processor time, as a multiple of that with one that does.
IDLE = 10
IN_MEMORY = "/dev/shm"
EXAMPLES = 3
#: The moment, in seconds of ``time.monotonic``, at which an attack without a time limit ends.
NEVER = math.inf
LONGEST_MESSAGE = 400

#: What tells one try from the others: a seed, or a tuple that names the case.
Job: TypeAlias = Any


class FaultError(Exception):
    """A broken promise: the kind under which it is counted, and what is particular about this one."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind, self.detail = kind, detail


#: What became of a try: refused, survived, or a fault.
Outcome: TypeAlias = str | FaultError


@dataclass
class Findings:
    """How many tries were refused, how many survived, and which broke a promise, by the kind of promise."""

    refused: int = 0
    survived: int = 0
    faults: dict[str, list[str]] = field(default_factory=dict)

    @property
    def broken(self) -> int:
        return sum(len(examples) for examples in self.faults.values())

    @property
    def tries(self) -> int:
        return self.refused + self.survived + self.broken

    def add(self, job: Job, outcome: Outcome) -> None:
        if isinstance(outcome, FaultError):
            example = f"{job}: {outcome.detail}" if outcome.detail else str(job)
            self.faults.setdefault(outcome.kind, []).append(example)
        elif outcome == REFUSED:
            self.refused += 1
        else:
            self.survived += 1

    def merge(self, other: Findings) -> None:
        """Take in what was found elsewhere."""
        self.refused += other.refused
        self.survived += other.survived
        for kind, examples in other.faults.items():
            self.faults.setdefault(kind, []).extend(examples)

    def told_with(self, seed: int) -> Findings:
        """The same, each example with the seed that it was found with."""
        told = {kind: [f"seed {seed}, {example}" for example in examples] for kind, examples in self.faults.items()}
        return Findings(self.refused, self.survived, told)

    def figures(self, attack: str) -> list[tuple[str, float, str]]:
        """Lines for the table of benchmarks; every fault is one too many."""
        counts = (("tries", self.tries, "-"), ("refused", self.refused, "-"), ("survived", self.survived, "-"))
        total = ("faults", self.broken, "0")
        kinds = ((f"{kind} (first: {'; '.join(jobs[:EXAMPLES])})", len(jobs), "0") for kind, jobs in self.described())
        return [(f"{attack}: {what}", float(count), wanted) for what, count, wanted in (*counts, total, *kinds)]

    def described(self) -> list[tuple[str, list[str]]]:
        """The kinds of faults, the most frequent first."""
        return sorted(self.faults.items(), key=lambda item: -len(item[1]))


def run(attempt: Callable[[Job], str], jobs: Sequence[Job], patience: float = 60.0, until: float = NEVER) -> Findings:
    """What became of the jobs that were done by ``until``; ``patience`` is the seconds of the processor that
    one may take."""
    findings, waiting = Findings(), list(jobs)
    while waiting and time.monotonic() < until:
        for outcome in _outcomes(attempt, tuple(waiting), patience, until):
            findings.add(waiting.pop(0), outcome)
    return findings


def _outcomes(attempt: Callable[[Job], str], jobs: Sequence[Job], patience: float, until: float) -> Iterator[Outcome]:
    """The outcomes of a forked worker, up to and including the first job that it does not outlive.

    A job that was begun before ``until`` is ended, so that it can tidy up.
    """
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    worker = fork.Process(target=_work, args=(attempt, jobs, sender, until))
    worker.start()
    sender.close()
    try:
        for _ in jobs:
            if not _answers(receiver, worker.pid, patience):
                yield FaultError(f"no answer in {patience:g} s of the processor")
                return
            yield receiver.recv()
    except EOFError:
        worker.join()
        if worker.exitcode or time.monotonic() < until:
            yield FaultError(f"the process died with exit code {worker.exitcode}")
    finally:
        worker.kill()
        worker.join()
        receiver.close()


def _answers(receiver: Connection, worker: int | None, patience: float) -> bool:
    """Whether a worker answers within this number of processor seconds; on a busy machine they last longer.

    One that waits for something that never comes uses none: its patience is ``IDLE`` times as long.
    """
    begun, end = _seconds_of(worker), time.monotonic() + IDLE * patience
    while not receiver.poll(1.0):
        if time.monotonic() > end or _seconds_of(worker) - begun > patience:
            return False
    return True


def _seconds_of(process: int | None) -> float:
    """The processor time of a process, and of those that it has waited for; where nobody says, of the clock."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _work(attempt: Callable[[Job], str], jobs: Sequence[Job], sender: Connection, until: float) -> None:
    faulthandler.disable()
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", RuntimeWarning)
    warnings.filterwarnings("ignore", module=r"sklearn\.|pandas\.")
    for job in jobs:
        if time.monotonic() >= until:
            break
        sender.send(_outcome(attempt, job))
    sender.close()


def _outcome(attempt: Callable[[Job], str], job: Job) -> Outcome:
    try:
        return attempt(job)
    except FaultError as fault:
        return fault
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return FaultError(f"unexpected {type(error).__name__}", f"{first_line(error)} at {where}")


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder for a while, in memory where the system has such: disks are slow and not what is attacked."""
    return tempfile.TemporaryDirectory(dir=IN_MEMORY if Path(IN_MEMORY).is_dir() else None)


def first_line(error: BaseException) -> str:
    """The beginning of an error's message."""
    return (str(error).splitlines() or [""])[0][:120]


def check_message(error: BaseException, what: str) -> None:
    """A fault unless an error says what is wrong in one line that a person would read."""
    message = str(error)
    if len(message.splitlines()) != 1 or len(message) >= LONGEST_MESSAGE:
        raise FaultError("refused, but not in one short line", f"{what}; {type(error).__name__}: {first_line(error)}")
