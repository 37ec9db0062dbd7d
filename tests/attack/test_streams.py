"""A few of the random streams of the attack: every promise holds on each, and each can be drawn again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from benchmarks.attack import streams
from benchmarks.attack.streams import attack_streams, draw_stream
from smartcl.memory.schematic_memory import SchematicMemory


def test_every_promise_holds() -> None:
    tally = attack_streams(n=4, first=36)
    assert tally.rows()[-1] == ("faults", 0), tally.rows()
    assert tally.streams == 4
    assert tally.calls > 4 * 12


def test_a_number_is_a_stream() -> None:
    one, again, other = draw_stream(3), draw_stream(3), draw_stream(4)
    assert (one.memory, one.method, one.width) == (again.memory, again.method, again.width)
    for (x, y), (x_again, y_again) in zip(one.batches, again.batches, strict=True):
        np.testing.assert_array_equal(dense(x), dense(x_again))
        np.testing.assert_array_equal(y, y_again)
    assert (one.memory, one.width) != (other.memory, other.width)


def test_streams_are_of_all_kinds() -> None:
    drawn = [draw_stream(number) for number in range(40)]
    assert {stream.sparse for stream in drawn} == {False, True}
    assert {str(stream.batches[0][0].dtype) for stream in drawn} == {"uint8", "float32"}
    assert {stream.width for stream in drawn} >= {1, 7, 8000, 50_000}
    assert any(len(stream.batches[0][1]) == 1 for stream in drawn)
    assert any(max(y.max() for _, y in stream.batches) > 1 for stream in drawn)
    assert any(0 in np.diff(x.indptr) for stream in drawn if stream.sparse for x, _ in stream.batches)


def test_a_broken_promise_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: SchematicMemory, *_: object) -> None:
        raise RuntimeError("kept 1000 of 900 bytes")

    monkeypatch.setattr(SchematicMemory, "select", forgetful)
    tally = streams.attack_stream(1)
    assert tally.faults["RuntimeError: kept  of  bytes"] > 0
    assert tally.first["RuntimeError: kept  of  bytes"] == 1


def dense(x: np.ndarray | sparse.csr_array) -> np.ndarray:
    return x.toarray() if sparse.issparse(x) else x
