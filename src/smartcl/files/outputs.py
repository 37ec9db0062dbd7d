"""Whether what a long run makes can be kept: asked before it begins."""

from __future__ import annotations

import os
from pathlib import Path

from smartcl.atomic import path_of, write_file

#: More than the last block of a full disk.
PROBE_NBYTES = 1 << 16


def check_writable(folder: Path) -> None:
    """Prove that files can be written into the folder, which need not be there yet; nothing of the proof stays."""
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
    """Prove that a file can be written under this name, in a folder that is there."""
    folder = path.absolute().parent
    if path_of(path, "a file to write").is_dir():
        raise ValueError(f"{path} is a folder, and a file is to be written there")
    if not folder.is_dir():
        raise ValueError(f"{path} must lie in a folder that is there, and {folder} is none")
    check_writable(folder)
