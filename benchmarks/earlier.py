"""The sources as they were, beside those that are, for benchmarks that compare the two in one run."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parents[1]


@contextmanager
def sources_at(commit: str) -> Iterator[Path]:
    """A folder to import from, as it was at this commit."""
    archive = subprocess.run(["git", "archive", commit, "src"], cwd=HERE, stdout=subprocess.PIPE, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder) / "src"
