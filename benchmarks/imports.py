"""Importing the estimator, beyond torch and scikit-learn, in turns with the code before the house had three parts."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.earlier import HERE, sources_at
from benchmarks.timing import report

BEFORE = "db1ae29"
ROUNDS = 15
BENEATH = "import scipy.sparse, sklearn.base, sklearn.utils.multiclass, sklearn.utils.validation, time, torch"
TIMED = "start = time.process_time(); import smartcl; smartcl.SmartClassifier; print(time.process_time() - start)"


def seconds(source: Path, bytecode: Path) -> float:
    """CPU seconds of one import in an interpreter of its own, with modules that were compiled before."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment.update(PYTHONPATH=str(source), PYTHONPYCACHEPREFIX=str(bytecode))
    command = [sys.executable, "-c", f"{BENEATH}; {TIMED}"]
    return float(subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment).stdout)


def main() -> None:
    """Take turns; the first of each compiles and does not count."""
    with sources_at(BEFORE) as source, tempfile.TemporaryDirectory() as bytecode:
        sources = (source, HERE / "src")
        rounds = [[seconds(each, Path(bytecode)) for each in sources] for _ in range(ROUNDS + 1)][1:]
    before, now = (min(times) for times in zip(*rounds, strict=True))
    report(
        (f"CPU ms of importing the estimator, at {BEFORE}", 1e3 * before, "-"),
        ("CPU ms of importing the estimator", 1e3 * now, "-"),
        ("now / before", now / before, "<= 0.7"),
    )


if __name__ == "__main__":
    main()
