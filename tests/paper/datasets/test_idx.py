from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from smartcl.paper.datasets.idx_files import parse_idx, read_idx


def idx_bytes(array: np.ndarray) -> bytes:
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


@given(arrays(np.uint8, array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5)))
def test_what_was_written_is_read(array: np.ndarray) -> None:
    np.testing.assert_array_equal(parse_idx(idx_bytes(array), array.ndim), array)


@given(st.binary(max_size=40), st.integers(1, 3))
def test_other_bytes_are_refused_or_are_that_array(data: bytes, ndim: int) -> None:
    try:
        array = parse_idx(data, ndim)
    except ValueError:
        return
    assert idx_bytes(array) == data


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda data: data[:-1], "the file has 21"),
        (lambda data: data + b"!", "the file has 23"),
        (lambda data: data[:10], "header takes 16 bytes, the file has 10"),
        (lambda data: b"\x00\x00\x0d\x03" + data[4:], "starts with 00000803, this one with 00000d03"),
        (lambda data: b"", "starts with"),
        (lambda data: data[:4] + b"\xff" * 12, "so"),
    ],
)
def test_a_spoilt_file_is_named_with_what_is_wrong(tmp_path: Path, spoil: object, complaint: str) -> None:
    path = tmp_path / "images"
    path.write_bytes(spoil(idx_bytes(np.arange(6, dtype=np.uint8).reshape(1, 2, 3))))
    with pytest.raises(ValueError, match=complaint) as refusal:
        read_idx(path, ndim=3)
    assert str(path) in str(refusal.value)
