"""From any error to what a command ends with: an exit code, and one sentence."""

from __future__ import annotations

import errno

import typer

from smartcl.errors import UnavailableError

#: Wrong arguments or input; anything else that goes wrong is the environment's: the disk, the network, the memory.
WRONG, ENVIRONMENT = 2, 1

#: A path that cannot be is an argument that is wrong.
WRONG_PATHS = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP)


def verdict(error: Exception) -> tuple[int, str | None]:
    """The exit code, and what to say, if anything."""
    match error:
        case typer.TyperException():
            return error.exit_code, error.format_message()
        case BrokenPipeError():
            return ENVIRONMENT, None  # whoever read the output has enough of it
        case OSError():
            return WRONG if error.errno in WRONG_PATHS else ENVIRONMENT, described(error)
        case UnavailableError():
            return ENVIRONMENT, str(error)
        case MemoryError():
            return ENVIRONMENT, f"not enough memory: {error}"
        case RuntimeError() if "can't allocate memory" in str(error):  # as torch says it
            return ENVIRONMENT, f"not enough memory: {error}"
    return ENVIRONMENT, f"a defect of smartcl (SMARTCL_TRACEBACK=1 shows where): {type(error).__name__}: {error}"


def described(error: OSError) -> str:
    """The file and what is wrong with it.

    >>> described(FileNotFoundError(2, "No such file or directory", "counts.csv"))
    'counts.csv: No such file or directory'
    """
    reason = error.strerror or str(error) or type(error).__name__
    return reason if error.filename is None else f"{error.filename}: {reason}"
