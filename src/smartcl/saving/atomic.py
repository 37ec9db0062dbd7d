"""Paths, and files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from reprlib import repr as shortened

#: What the system says of a path that cannot be.
IMPOSSIBLE = (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL)


def path_of(given: str | os.PathLike[str], what: str) -> Path:
    """A path, whether or not anything is there, or a ``ValueError`` if the system has no such paths.

    >>> path_of("a\\0b", "folder")
    Traceback (most recent call last):
    ValueError: folder must be a path that this system takes, got 'a\\x00b': embedded null byte
    """
    try:
        path = Path(given)
        path.stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno not in IMPOSSIBLE:
            raise
        why = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"{what} must be a path that this system takes, got {shortened(str(given))}: {why}") from None
    return path


def write_file(path: Path, data: bytes, beside: Path | None = None) -> None:
    """All of ``data`` under this name, or nothing new under it; on the disk when this returns.

    It is written under another name first, in the same folder or in ``beside``.
    """
    part = (beside or path.parent) / f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        _sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk too, where the system knows how."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


#: More than the last block of a full disk.
PROBE_NBYTES = 1 << 16


def check_writable(folder: Path) -> None:
    """Check by a trial that files can be written into the folder, which need not exist; the trial leaves no file."""
    made: list[Path] = []
    probe = folder / f".probe-{os.getpid()}.tmp"
    try:
        for each in (*reversed(folder.parents), folder):
            if each.exists() and not each.is_dir():
                raise ValueError(f"{folder} cannot be a folder to write into: {each} is a file")
            if not each.exists():
                each.mkdir()
                made.append(each)
        write_file(probe, bytes(PROBE_NBYTES))
        probe.unlink()
    except OSError as error:
        raise type(error)(error.errno, f"nothing can be written there: {error.strerror}", str(folder)) from None
    finally:
        for each in reversed(made):
            each.rmdir()


def check_file(path: Path) -> None:
    """Check by a trial that a file can be written under this name, in a folder that exists."""
    folder = path.absolute().parent
    if path_of(path, "a file to write").is_dir():
        raise ValueError(f"{path} is a folder, and a file is to be written there")
    if not folder.is_dir():
        raise ValueError(f"{path} must lie in a folder that is there, and {folder} is none")
    check_writable(folder)
