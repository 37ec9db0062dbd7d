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
