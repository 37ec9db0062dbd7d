"""How long one waits at the door: for help, the version, a completion, ``import smartcl``, and a first model.

Each is a process of its own. They take turns, so that all meet the same noise, and the median of their CPU seconds
counts, less that of a Python that does nothing. On a machine with nothing else to do these are the seconds one waits.
Help and the estimator are also measured at an earlier commit in the same run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.__main__ import children_seconds
from benchmarks.earlier import HERE, sources_at
from benchmarks.timing import report
from smartcl.cli.app import COMMANDS

#: The last commit before the house had three parts.
BEFORE = "db1ae29"
ROUNDS = 9
#: Importing the estimator, beyond the libraries that it stands on: timed inside, for these take a hundred times longer.
BENEATH = "import scipy.sparse, sklearn.base, sklearn.utils.multiclass, sklearn.utils.validation, time, torch"
ESTIMATOR = "start = time.process_time(); import smartcl; smartcl.SmartClassifier; print(time.process_time() - start)"
FIRST_CALL = """
import numpy, smartcl
X = numpy.random.default_rng(0).normal(size=(50, 10))
smartcl.SmartClassifier().partial_fit(X, X[:, 0] > 0)
"""


@dataclass(frozen=True)
class Door:
    """Arguments for Python, and the folder that ``smartcl`` is imported from."""

    arguments: tuple[str, ...]
    source: Path = HERE / "src"
    #: What bash asks for in the environment, if it is a completion.
    words: str | None = None

    def seconds(self, bytecode: Path) -> float:
        """CPU seconds of a process, or those that it prints, with modules that were compiled before."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment.update(PYTHONPATH=str(self.source), PYTHONPYCACHEPREFIX=str(bytecode))
        if self.words is not None:
            place = str(self.words.count(" "))
            environment.update(_SMARTCL_COMPLETE="complete_bash", COMP_WORDS=self.words, COMP_CWORD=place)
        start = children_seconds()
        command = [sys.executable, *self.arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
        return float(done.stdout) if ESTIMATOR in self.arguments[-1] else children_seconds() - start


def smartcl(*arguments: str) -> Door:
    return Door(("-m", "smartcl", *arguments))


def code(text: str, source: Path = HERE / "src") -> Door:
    return Door(("-c", text), source)


def medians(doors: Sequence[Door]) -> list[float]:
    """The median seconds of each, in turns; the first turn compiles and does not count."""
    with tempfile.TemporaryDirectory() as bytecode:
        rounds = [[door.seconds(Path(bytecode)) for door in doors] for _ in range(ROUNDS + 1)][1:]
    return [median(seconds) for seconds in zip(*rounds, strict=True)]


def main() -> None:
    """Time all doors in the same run."""
    with sources_at(BEFORE) as before:
        estimator = f"{BENEATH}; {ESTIMATOR}"
        doors = {
            "python": code("pass"),
            "import": code("import smartcl"),
            "--help": smartcl("--help"),
            "--version": smartcl("--version"),
            "completion": Door(("-m", "smartcl"), words="smartcl train --ch"),
            **{name: smartcl(name, "--help") for name in COMMANDS},
            "first call": code(FIRST_CALL),
            "estimator": code(estimator),
            "estimator before": code(estimator, before),
            "--help before": Door(("-m", "smartcl", "--help"), before),
        }
        took = dict(zip(doors, medians(tuple(doors.values())), strict=True))
    beside = {name: seconds - took["python"] for name, seconds in took.items()}
    report(
        ("CPU s of Python's own start", took["python"], "-"),
        ("import smartcl: CPU s beside Python's start", beside["import"], "<= 0.1"),
        ("smartcl --help: CPU s beside Python's start", beside["--help"], "<= 0.3"),
        (f"smartcl --help at {BEFORE}: CPU s beside Python's start", beside["--help before"], "-"),
        ("smartcl --version: CPU s beside Python's start", beside["--version"], "<= 0.3"),
        ("a completion in bash: CPU s beside Python's start", beside["completion"], "<= 0.3"),
        *((f"smartcl {name} --help: CPU s beside Python's start", beside[name], "<= 0.3") for name in COMMANDS),
        ("the first 50 rows of a process: CPU s beside Python's start", beside["first call"], "-"),
        ("importing the estimator: CPU s beyond torch and scikit-learn", took["estimator"], "-"),
        ("the same / at " + BEFORE, took["estimator"] / took["estimator before"], "<= 0.7"),
    )


if __name__ == "__main__":
    main()
