"""Whole records, however the bytes come."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from smartcl.files import record_formats as module
from smartcl.files.byte_streams import ByteStream
from smartcl.files.record_formats import LONGEST_RECORD, pieces


class Trickle(ByteStream):
    """Bytes that come a few at a time."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._data, self._sizes = data, sizes

    def read(self, nbytes: int = 0) -> bytes:
        size = self._sizes.pop(0) if self._sizes else len(self._data)
        data, self._data = self._data[:size], self._data[size:]
        return data


FIELDS = st.text(st.sampled_from('ab ,"\n'), max_size=6)


@given(
    st.lists(st.lists(FIELDS, min_size=2, max_size=2), min_size=1, max_size=8), st.lists(st.integers(1, 9), max_size=20)
)
def test_records_are_never_cut(rows: list[list[str]], sizes: list[int]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    data = text.getvalue().encode()
    found, offset = [], 0
    for piece in pieces(Trickle(data, sizes), 0, quoted=True, follow=False):
        assert piece.offset == offset
        assert piece.text is not None
        offset += len(piece.text)
        found += list(csv.reader(io.StringIO(piece.text.decode(), newline="")))
    assert [row for row in found if row] == rows
    assert offset == len(data)


def test_a_record_that_is_too_long_is_passed_over_alone(monkeypatch) -> None:
    monkeypatch.setattr(module, "LONGEST_RECORD", 10)
    data = b"short\n" + b"x" * 50 + b"\nlast\n"
    for sizes in ([], [3] * 40, [8, 30]):
        found = [piece.text for piece in pieces(Trickle(data, list(sizes)), 0, quoted=True, follow=False)]
        assert [text for text in found if text is None] == [None]
        assert b"".join(text for text in found if text is not None) == b"short\nlast\n"


def test_a_quotation_mark_that_nobody_closes_ends_at_the_longest_record(monkeypatch) -> None:
    monkeypatch.setattr(module, "LONGEST_RECORD", 40)
    data = b'a,1\nb,"2\n' + b"c,3\n" * 20
    texts = [piece.text for piece in pieces(Trickle(data, []), 0, quoted=True, follow=False)]
    assert b"".join(text or b"" for text in texts) == b"a,1\n" + b"c,3\n" * 20
    assert LONGEST_RECORD > 10**6


def test_who_follows_waits_for_the_end_of_a_record() -> None:
    assert [piece.text for piece in pieces(Trickle(b"a\nb", []), 0, quoted=False, follow=True)] == [b"a\n"]
