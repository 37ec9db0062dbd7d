"""Text from data, made safe for a terminal: control characters are shown and have no effect."""

from __future__ import annotations

import sys
import unicodedata
from typing import TextIO

#: Control characters, halves of a character, and what breaks a line: Unicode's categories.
CONTROLS = ("Cc", "Cs", "Zl", "Zp")
#: What changes the direction of the text that follows: a name could look like another one.
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def visible(text: str, keep: str = "") -> str:
    r"""The text with control characters written as Python writes them, but for those to ``keep``.

    >>> print(visible("a\x1b[2Jb\u202ec\n"))
    a\x1b[2Jb\u202ec\n
    >>> visible("naïve 日本　\n", keep="\n")
    'naïve 日本\u3000\n'
    """
    if text.isprintable():
        return text
    return "".join(char if char in keep or not _controls(char) else repr(char)[1:-1] for char in text)


def _controls(char: str) -> bool:
    return unicodedata.category(char) in CONTROLS or char in DIRECTIONS


def tell(text: object) -> None:
    """Print lines for people."""
    print(visible(str(text), keep="\n"))


def data_output() -> TextIO | VisibleText:
    """Standard output for data: as they are into a file or a pipe, with control characters shown on a terminal."""
    return VisibleText(sys.stdout) if sys.stdout.isatty() else sys.stdout


class VisibleText:
    """What is written to a terminal, control characters shown; for whoever needs no more than ``write``."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def write(self, text: str) -> int:
        return self._terminal.write(visible(text, keep="\n"))
