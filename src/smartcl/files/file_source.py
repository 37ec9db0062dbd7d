"""Files as sources: CSV, JSON lines, Parquet and LIBSVM's format, plain or packed, from a mark on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from smartcl.columns.records import Records, Wanted
from smartcl.files.blocks import Block, Mark
from smartcl.files.byte_streams import Beginning, ByteStream, check_input, is_pipe, opened
from smartcl.files.formats import CSV, ENDINGS, FORMATS, JSONL, LIBSVM, PACKED, PARQUET
from smartcl.files.record_formats import (
    LONGEST_RECORD,
    LOOKS_LIKE,
    Piece,
    csv_records,
    delimiter_of,
    header_of,
    json_records,
    libsvm_records,
    parquet_blocks,
    pieces,
    record_end,
)

#: How a Parquet file begins.
MAGIC = b"PAR1"
UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class FileSource:
    """Files one after the other, ``-`` for stdin; a file's format is that of its name, or else of its first line.

    ``follow`` waits for more at the end of the last one; a file that takes its place is read next, from its beginning.
    """

    inputs: tuple[str, ...]
    format: str | None = None
    follow: bool = False

    def __post_init__(self) -> None:
        if not self.inputs:
            raise ValueError("there must be at least one input")
        for name in self.inputs:
            check_input(name)
        if any(is_pipe(name) and (self.format or format_told(name)) == PARQUET for name in self.inputs):
            raise ValueError("Parquet cannot be read from a pipe: its end comes first; name the file")
        if self.format is not None and self.format not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {self.format!r}")

    def blocks(self, marks: Mapping[str, Mark]) -> Iterator[Block]:
        for name in self.inputs:
            follow = self.follow and name == self.inputs[-1]
            yield from self._of_one(name, marks.get(name, Mark()), follow)

    def _of_one(self, name: str, mark: Mark, follow: bool) -> Iterator[Block]:
        told = self.format or format_told(name) or _parquet_inside(name)
        if told == PARQUET:
            yield from parquet_blocks(name, mark)
            return
        with opened(name) as file:
            stream = ByteStream(name, file, follow)
            yield from text_blocks(name, stream, mark, told, follow)
        while stream.replaced:
            with opened(name) as file:
                stream, beginning = ByteStream(name, file, follow), Beginning.of(name)
                for block in text_blocks(name, stream, Mark(), told, follow):
                    yield replace(block, beginning=beginning)


def format_told(name: str) -> str | None:
    """The format that the name of a file ends in.

    >>> format_told("mails.jsonl.gz"), format_told("-")
    ('jsonl', None)
    """
    path = Path(name)
    return ENDINGS.get(Path(path.stem).suffix.lower() if path.suffix.lower() in PACKED else path.suffix.lower())


def _parquet_inside(name: str) -> str | None:
    """Parquet, if a file begins like it, whatever it is called; of a pipe nothing is read."""
    if is_pipe(name):
        return None
    with Path(name).open("rb") as file:
        return PARQUET if file.read(len(MAGIC)) == MAGIC else None


def format_guessed(name: str, first: bytes) -> str:
    """The format of a text, by its first line; what is no text is refused."""
    if first.startswith(MAGIC):
        what = "from a pipe" if is_pipe(name) else "packed, or with another --format"
        raise ValueError(f"{name} is Parquet, which cannot be read {what}: name the plain file, with --format parquet")
    line = first.lstrip(b"\xef\xbb\xbf\r\n\t ").partition(b"\n")[0]
    if first.startswith(UTF16) or b"\0" in line:
        what = "a text in UTF-16" if first.startswith(UTF16) else "no text"
        raise ValueError(f"{name} is {what}: save it as UTF-8")
    if line.startswith(b"{"):
        return JSONL
    return LIBSVM if LOOKS_LIKE.match(line) else CSV


def text_blocks(name: str, stream: ByteStream, mark: Mark, told: str | None, follow: bool) -> Iterator[Block]:
    """The blocks of a text from a mark on; a place is an offset."""
    first = _first_bytes(stream)
    guessed = format_guessed(name, first)
    kind = told or guessed
    header: list[str] = []
    delimiter, begin = ",", 0
    if kind == CSV:
        begin = _first_record(first) or len(first)
        header = header_of(name, first[:begin])
        delimiter = delimiter_of(first[:begin].decode("utf-8", "replace"))

    def parse(piece: Piece, wanted: Wanted | None) -> Records:
        if piece.text is None:
            return Records({}, 1, np.zeros(0, dtype=np.int64), {0: "longer than a megabyte"})
        if kind == CSV:
            return csv_records(piece.text, header, delimiter, wanted)
        return json_records(piece.text, wanted) if kind == JSONL else libsvm_records(piece.text)

    offset = max(begin, mark.place)
    if offset > len(first):
        stream.skip(offset, len(first))
    for piece in pieces(stream, offset, kind == CSV, follow, first[offset:]):
        known = mark.records if piece.offset == mark.place else 0
        yield Block(name, piece.offset, lambda wanted, piece=piece: parse(piece, wanted), known)  # type: ignore[misc]


def _first_bytes(stream: ByteStream) -> bytes:
    """Enough of a text to see its first record."""
    first = b""
    while not _first_record(first) and len(first) <= LONGEST_RECORD and (data := stream.read()):
        first += data
    return first


def _first_record(text: bytes) -> int:
    """How many bytes the first record takes; none if it is not all there."""
    end = text.find(b"\n") + 1
    while end and record_end(text[:end], quoted=True) != end:
        end = text.find(b"\n", end) + 1
    return end
