"""A journal of what was acknowledged since the last save: appended, checksummed, on the disk before the answer.

A journal is a folder of segments, each named by the number of its first entry. An entry is a head of 21 bytes (length
of its text, checksum, number, kind) and its text. The checksum is a CRC-32 over all that follows it. Entries are
numbered in their order; a number whose entry the disk did not take is left out. What ``append`` takes is written and
synced by the next ``sync``, so that many share one.
"""

from __future__ import annotations

import os
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, TypeAlias

MAGIC = b"smartcl-journal-1\n"
HEAD = struct.Struct("<IIQB")
#: The part of the head that the checksum covers: number and kind.
COVERED = struct.Struct("<QB")
ENDING = ".log"
#: A text of an entry is no longer than this: what a damaged head says of its length is not believed beyond.
MOST_BYTES = 1 << 28


class EntryKind(IntEnum):
    """What an entry tells."""

    #: Rows with labels that were accepted.
    ROWS = 1
    #: A row was predicted and waits for its label.
    PREDICTED = 2
    #: This number of accepted rows, the next ones, were learned together.
    STEP = 3
    #: The columns were recognised.
    BEGUN = 4
    #: The model went back to a saved version.
    BACK = 5


KINDS = frozenset(map(int, EntryKind))


class Entry(NamedTuple):
    """One entry: its number, what it tells, and its text."""

    number: int
    kind: EntryKind
    text: bytes


#: Is told the number of an entry, and what the disk had against it, if anything.
Settled: TypeAlias = Callable[[int, OSError | None], None]


class Waiting(NamedTuple):
    """An entry that is not on the disk yet, and who is told when it is, or that it cannot be."""

    entry: Entry
    told: Settled | None


@dataclass(frozen=True)
class Repair:
    """What was wrong with a journal when it was opened: how many bytes were put aside, and where."""

    nbytes: int
    file: str


@dataclass
class Segment:
    """One file of a journal; ``first`` is the number of its first entry."""

    path: Path
    first: int
    nbytes: int


@dataclass
class RowJournal:
    """Appends entries, syncs them in groups, gives them back after a fall, and drops those that a save holds.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> journal = RowJournal.opened(folder)
    >>> number = journal.append(EntryKind.ROWS, b"[1, 2]"); journal.sync()
    >>> journal.close()
    >>> [(entry.number, entry.text) for entry in RowJournal.opened(folder).entries()]
    [(1, b'[1, 2]')]
    """

    folder: Path
    segments: list[Segment]
    next_number: int
    repairs: list[Repair] = field(default_factory=list)
    #: The last failure of the disk, until it takes entries again.
    failure: OSError | None = None
    _file: int | None = None
    _waiting: list[Waiting] = field(default_factory=list)
    #: Short: entries are numbered in the order they are appended.
    _append_lock: threading.Lock = field(default_factory=threading.Lock)
    #: Long: one group after the other is written. Who wants nothing to be synced for a while takes it first of all.
    sync_lock: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def opened(cls, folder: Path, least: int = 1) -> RowJournal:
        """The journal of a folder; a damaged end is put aside. New entries have numbers of at least ``least``."""
        folder.mkdir(parents=True, exist_ok=True)
        segments, repairs = list[Segment](), list[Repair]()
        for path in sorted(folder.glob(f"*{ENDING}")):
            first = int(path.stem) if path.stem.isdecimal() else least
            whole, last = _intact(path, first)
            size = path.stat().st_size
            if whole < size:
                repairs.append(_put_aside(path, whole, size))
            if last >= first:
                segments.append(Segment(path, first, whole))
                least = max(least, last + 1)
            else:
                path.unlink(missing_ok=True)
        return cls(folder, segments, least, repairs)

    def entries(self, first: int = 0) -> Iterator[Entry]:
        """All entries on the disk from this number on, in order."""
        for segment in self.segments:
            for entry, _ in _read(segment.path, segment.first):
                if entry.number >= first:
                    yield entry

    def append(self, kind: EntryKind, text: bytes, told: Settled | None = None) -> int:
        """Number an entry, to be written with the next ``sync``; ``told`` is called then, in the order of numbers."""
        with self._append_lock:
            number = self.next_number
            self.next_number += 1
            self._waiting.append(Waiting(Entry(number, kind, text), told))
        return number

    @property
    def unsynced(self) -> bool:
        """Whether something waits to be written."""
        return bool(self._waiting)

    def sync(self) -> None:
        """Write and sync all that waits. If the disk does not take it, who waits for it is told, and nothing is left.

        Entries without a waiting request stay and are tried again.
        """
        with self.sync_lock:
            with self._append_lock:
                group, self._waiting = self._waiting, []
            if not group:
                return
            try:
                self._write(group)
                self.failure = None
            except OSError as error:
                self.failure = error
                with self._append_lock:
                    self._waiting = [each for each in group if each.told is None] + self._waiting
                for each in group:
                    if each.told is not None:
                        each.told(each.entry.number, error)
                return
            for each in group:
                if each.told is not None:
                    each.told(each.entry.number, None)

    def cut(self, first: int) -> None:
        """Drop the segments whose entries all come before this number; new entries go into a new segment."""
        with self.sync_lock:
            self._close_file()
            ends = [*(segment.first for segment in self.segments), self.next_number][1:]
            kept = []
            for segment, end in zip(self.segments, ends, strict=True):
                if end <= first:
                    segment.path.unlink(missing_ok=True)
                else:
                    kept.append(segment)
            self.segments = kept

    @property
    def nbytes(self) -> int:
        """Bytes on the disk."""
        return sum(segment.nbytes for segment in self.segments)

    def close(self) -> None:
        with self.sync_lock:
            self.sync()
            self._close_file()

    def _write(self, group: list[Waiting]) -> None:
        fresh = self._file is None
        if fresh:
            self._open_file(group[0].entry.number)
        assert self._file is not None
        segment = self.segments[-1]
        data = b"".join(_written(each.entry) for each in group)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
            os.fsync(self._file)
        except OSError:
            self._undo(segment, fresh)
            raise
        segment.nbytes += len(data)

    def _undo(self, segment: Segment, fresh: bool) -> None:
        """Leave the file as it was before a group that could not be written."""
        assert self._file is not None
        try:
            if fresh:
                self.segments.pop()
                os.close(self._file)
                self._file = None
                segment.path.unlink(missing_ok=True)
            else:
                os.ftruncate(self._file, segment.nbytes)
                os.lseek(self._file, 0, os.SEEK_END)
        except OSError:
            self._close_file()  # the next group begins a new segment; the damaged end is put aside when it is opened

    def _open_file(self, first: int) -> None:
        path = self.folder / f"{first:020d}{ENDING}"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        try:
            os.write(handle, MAGIC)
            _sync_names(self.folder)
        except OSError:
            os.close(handle)
            path.unlink(missing_ok=True)
            raise
        self._file = handle
        self.segments.append(Segment(path, first, len(MAGIC)))

    def _close_file(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _written(entry: Entry) -> bytes:
    covered = COVERED.pack(entry.number, entry.kind)
    checksum = zlib.crc32(entry.text, zlib.crc32(covered))
    return HEAD.pack(len(entry.text), checksum, entry.number, entry.kind) + entry.text


def _read(path: Path, first: int) -> Iterator[tuple[Entry, int]]:
    """The entries of a segment up to the first that is not whole, and where each ends."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return
        place, least = len(MAGIC), first
        while len(head := file.read(HEAD.size)) == HEAD.size:
            length, checksum, number, kind = HEAD.unpack(head)
            text = file.read(length) if length <= MOST_BYTES else b""
            covered = COVERED.pack(number, kind)
            whole = len(text) == length and zlib.crc32(text, zlib.crc32(covered)) == checksum
            if not whole or number < least or kind not in KINDS:
                return
            place, least = place + HEAD.size + length, number + 1
            yield Entry(number, EntryKind(kind), text), place


def _intact(path: Path, first: int) -> tuple[int, int]:
    """How many bytes of a segment are whole entries, and the number of the last of them."""
    place, last = 0, first - 1
    with path.open("rb") as file:
        if file.read(len(MAGIC)) == MAGIC:
            place = len(MAGIC)
    for entry, end in _read(path, first):
        place, last = end, entry.number
    return place, last


def _put_aside(path: Path, whole: int, size: int) -> Repair:
    """Cut a damaged end off a segment; it stays beside the journal for who wants to look at it."""
    aside = path.with_suffix(".damaged")
    with path.open("rb") as file:
        file.seek(whole)
        end = file.read()
    with suppress(OSError):  # a full disk is no reason not to start
        aside.write_bytes(end)
    os.truncate(path, whole)
    return Repair(size - whole, aside.name)


def _sync_names(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
