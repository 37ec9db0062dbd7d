"""Text in pieces of whole records: a file is read a megabyte at a time, and a record is never cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from smartcl.files.byte_streams import ByteStream

#: A record that is longer is passed over: it is a quotation mark that nobody closed, or no table at all.
LONGEST_RECORD = 1 << 20


class Piece(NamedTuple):
    """Whole records, and the offset of the first of them; None in the place of one that was too long."""

    offset: int
    text: bytes | None


def pieces(stream: ByteStream, offset: int, quoted: bool, follow: bool, rest: bytes = b"") -> Iterator[Piece]:
    """All that follows ``offset``: ``rest``, which was read already, and the stream.

    A line break inside quotation marks ends no record. The last record needs none,
    unless there may be more of it.
    """
    more = rest or stream.read()
    rest = b""
    while more:
        rest += more
        while cut := record_end(rest[:LONGEST_RECORD], quoted):
            yield Piece(offset, rest[:cut])
            offset, rest = offset + cut, rest[cut:]
        if len(rest) > LONGEST_RECORD:
            yield Piece(offset, None)
            passed, rest = _next_line(stream, rest)
            offset += passed
        more = stream.read()
    if rest and (stream.replaced or not follow):
        yield Piece(offset, rest)


def record_end(text: bytes, quoted: bool) -> int:
    """How many of these bytes are whole records.

    >>> record_end(b'1,2\\n3,"4\\n', quoted=True)
    4
    >>> record_end(b'1,2\\n3,"4\\n', quoted=False)
    9
    """
    last = text.rfind(b"\n") + 1
    if not quoted or not text.count(b'"', 0, last) % 2:
        return last
    data = np.frombuffer(text, dtype=np.uint8, count=last)
    breaks = np.flatnonzero(data == ord("\n"))
    open_quotes = np.searchsorted(np.flatnonzero(data == ord('"')), breaks) % 2
    ends = breaks[open_quotes == 0]
    return int(ends[-1]) + 1 if len(ends) else 0


def _next_line(stream: ByteStream, rest: bytes) -> tuple[int, bytes]:
    """Go to the next line break, whatever quotation marks say: how many bytes there were, and what comes after."""
    passed = 0
    while not (cut := rest.find(b"\n") + 1):
        passed += len(rest)
        rest = stream.read()
        if not rest:
            return passed, rest
    return passed + cut, rest[cut:]
