"""The journal: what was synced is there again after any damage to its end, and a disk that is full changes nothing."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartcl.serve import row_journal as module
from smartcl.serve.row_journal import EntryKind, RowJournal

TEXTS = st.lists(st.lists(st.binary(max_size=40), max_size=4), max_size=5)


def texts(journal: RowJournal, first: int = 0) -> list[bytes]:
    return [entry.text for entry in journal.entries(first)]


@settings(max_examples=60)
@given(groups=TEXTS, where=st.floats(0, 1), flips=st.booleans(), value=st.integers(1, 255))
def test_damage_anywhere_leaves_the_entries_before_it(
    groups: list[list[bytes]], where: float, flips: bool, value: int
) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        journal = RowJournal.opened(folder)
        for group in groups:
            for text in group:
                journal.append(EntryKind.ROWS, text)
            journal.sync()
        journal.close()
        written = [text for group in groups for text in group]
        assert texts(RowJournal.opened(folder)) == written
        for path in folder.glob("*.log"):
            data = bytearray(path.read_bytes())
            at = int(where * (len(data) - 1))
            if flips:
                data[at] ^= value
            path.write_bytes(data if flips else data[:at])
        again = RowJournal.opened(folder)
        left = texts(again)
        assert left == written[: len(left)]
        again.append(EntryKind.STEP, b"next")
        again.close()
        assert texts(RowJournal.opened(folder)) == [*left, b"next"]


def test_damaged_bytes_are_counted_and_kept_aside(tmp_path: Path) -> None:
    journal = RowJournal.opened(tmp_path)
    journal.append(EntryKind.ROWS, b"whole")
    journal.close()
    path = next(tmp_path.glob("*.log"))
    path.write_bytes(path.read_bytes() + b"half an entry")
    again = RowJournal.opened(tmp_path)
    assert [(repair.nbytes, (tmp_path / repair.file).read_bytes()) for repair in again.repairs] == [
        (13, b"half an entry")
    ]
    assert texts(again) == [b"whole"]


def test_a_full_disk_tells_who_waits_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, told = RowJournal.opened(tmp_path), list[tuple[int, int | None]]()

    def tell(number: int, error: OSError | None) -> None:
        told.append((number, None if error is None else error.errno))

    journal.append(EntryKind.ROWS, b"first", tell)
    journal.sync()
    write = os.write

    def half(handle: int, data: bytes) -> int:
        if len(data) < 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, bytes(data)[: len(data) // 2])

    with monkeypatch.context() as full:
        full.setattr(module.os, "write", half)
        journal.append(EntryKind.ROWS, b"second", tell)
        journal.append(EntryKind.STEP, b"1")
        journal.sync()
        assert journal.failure is not None
    journal.append(EntryKind.ROWS, b"third", tell)
    journal.sync()
    assert told == [(1, None), (2, errno.ENOSPC), (4, None)]
    assert journal.failure is None
    journal.close()
    # a step that was made is told of once the disk takes it
    assert texts(RowJournal.opened(tmp_path)) == [b"first", b"1", b"third"]


def test_a_cut_drops_what_a_save_holds_and_no_more(tmp_path: Path) -> None:
    journal = RowJournal.opened(tmp_path)
    for number in range(1, 7):
        journal.append(EntryKind.ROWS, str(number).encode())
        journal.sync()
        if number in (2, 4):
            journal.cut(0)
    journal.cut(4)
    assert texts(journal) == [b"3", b"4", b"5", b"6"]
    assert texts(journal, 5) == [b"5", b"6"]
    journal.cut(7)
    assert (texts(journal), journal.nbytes, list(tmp_path.glob("*.log"))) == ([], 0, [])
    assert journal.append(EntryKind.ROWS, b"7") == 7
    journal.close()
    assert texts(RowJournal.opened(tmp_path)) == [b"7"]


def test_numbers_go_on_after_all_was_cut(tmp_path: Path) -> None:
    assert RowJournal.opened(tmp_path, least=12).append(EntryKind.ROWS, b"") == 12
