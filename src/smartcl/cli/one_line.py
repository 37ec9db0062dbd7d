"""Messages on stderr: one line beside the results, no longer than the screen is wide.

Any error becomes such a line, with an exit code for wrong input or for a failing environment.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

import typer
from rich.cells import cell_len

from smartcl.errors import UnavailableError

#: The length of a line where there is no screen, as in a log.
LOG_COLUMNS = 400
LEAST_COLUMNS = 40
#: A longer word, such as a path, is shortened before the sentence around it is.
LONG_WORD = 24
GAP = "..."

#: Wrong arguments or input; anything else that goes wrong is the environment's: the disk, the network, the memory.
WRONG, ENVIRONMENT = 2, 1

#: A path that the system does not take is a wrong argument.
WRONG_PATHS = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP)


def say(message: str) -> None:
    """An error: one line that the screen is wide enough for."""
    _write(message, screen_columns())


def note(message: str) -> None:
    """Print a note on stderr; it may take more than one line of the screen."""
    _write(f"note: {message}", max(LOG_COLUMNS, screen_columns()))


def screen_columns() -> int:
    """The width of the terminal behind stderr, or what the variable COLUMNS says, or ``LOG_COLUMNS``."""
    told = os.environ.get("COLUMNS", "")
    columns = int(told) if told.isdecimal() else 0
    if not columns:
        with suppress(OSError, ValueError):
            columns = os.get_terminal_size(sys.stderr.fileno()).columns
    return max(columns or LOG_COLUMNS, LEAST_COLUMNS)


def counted(number: int, thing: str) -> str:
    """A count with its noun.

    >>> counted(1, "class"), counted(2000, "class"), counted(0, "row")
    ('1 class', '2,000 classes', '0 rows')
    """
    return f"{number:,} {thing}" + ("" if number == 1 else "es" if thing.endswith("s") else "s")


def one_line(text: str, columns: int) -> str:
    """The text on one line of at most ``width`` columns: long words are cut first, then the middle.

    >>> one_line("there is no file /home/someone/with/a/very/long/path/counts.csv", columns=48)
    'there is no file /home/someone...path/counts.csv'
    >>> one_line("expected a number of at least one\\nand got none of them", columns=40)
    'expected a number of at ...none of them'
    """
    text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in " ".join(text.split()))
    while (excess := cell_len(text) - columns) > 0:
        words = text.split(" ")
        longest = max(range(len(words)), key=lambda place: len(words[place]))
        if len(words[longest]) <= LONG_WORD:
            return _without_middle(text, columns, end=columns // 3)
        room = max(LONG_WORD, cell_len(words[longest]) - excess)
        words[longest] = _without_middle(words[longest], room, end=room // 2)
        text = " ".join(words)
    return text


def _without_middle(text: str, columns: int, end: int) -> str:
    """The beginning and the end of a text that is too long."""
    start = columns - len(GAP) - end
    head, tail = text[:start], text[len(text) - end :]
    while cell_len(head) > start:
        head = head[:-1]
    while cell_len(tail) > end:
        tail = tail[1:]
    return f"{head}{GAP}{tail}"


def _write(message: str, columns: int) -> None:
    encoding = sys.stderr.encoding or "utf-8"
    known = message.encode(encoding, "replace").decode(encoding)
    with suppress(OSError):  # the reader has closed stderr
        print(one_line(f"smartcl: {known}", columns), file=sys.stderr)


def verdict(error: Exception) -> tuple[int, str | None]:
    """The exit code, and what to say, if anything."""
    match error:
        case typer.TyperException():
            return error.exit_code, error.format_message()
        case BrokenPipeError():
            return ENVIRONMENT, None  # the reader of the output has closed it
        case OSError():
            wrong = error.errno in WRONG_PATHS or isinstance(error, FileNotFoundError)
            return WRONG if wrong else ENVIRONMENT, described(error)
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
