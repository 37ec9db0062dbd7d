"""Importing the estimator, beyond torch and scikit-learn, in turns with the code before the house had three parts."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from benchmarks.timing import report

HERE = Path(__file__).parents[1]
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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive = subprocess.run(["git", "archive", BEFORE, "src"], cwd=HERE, stdout=subprocess.PIPE, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder / "before", filter="data")
        sources = (folder / "before" / "src", HERE / "src")
        rounds = [[seconds(source, folder / "bytecode") for source in sources] for _ in range(ROUNDS + 1)][1:]
    before, now = (min(times) for times in zip(*rounds, strict=True))
    report(
        (f"CPU ms of importing the estimator, at {BEFORE}", 1e3 * before, "-"),
        ("CPU ms of importing the estimator", 1e3 * now, "-"),
        ("now / before", now / before, "<= 0.7"),
    )


if __name__ == "__main__":
    main()
