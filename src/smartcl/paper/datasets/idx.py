"""The IDX format of the MNIST files: a magic number, the sizes, the bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

UNSIGNED_BYTE = 0x08


def read_idx(path: Path, ndim: int) -> NDArray[np.uint8]:
    """The array in an IDX file of unsigned bytes with ``ndim`` dimensions."""
    try:
        return parse_idx(path.read_bytes(), ndim)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def parse_idx(data: bytes, ndim: int) -> NDArray[np.uint8]:
    """The array in the bytes of an IDX file.

    >>> parse_idx(bytes([0, 0, 8, 1]) + bytes([0, 0, 0, 3]) + b"abc", ndim=1)
    array([97, 98, 99], dtype=uint8)
    """
    magic = bytes([0, 0, UNSIGNED_BYTE, ndim])
    if data[:4] != magic:
        raise ValueError(f"an IDX file of {ndim}-d bytes starts with {magic.hex()}, this one with {data[:4].hex()}")
    header = 4 + 4 * ndim
    if len(data) < header:
        raise ValueError(f"the IDX header takes {header} bytes, the file has {len(data)}")
    shape = tuple(int(size) for size in np.frombuffer(data, ">u4", count=ndim, offset=4))
    expected = header + int(np.prod(shape, dtype=object))
    if len(data) != expected:
        raise ValueError(f"the IDX header says {shape}, so {expected} bytes; the file has {len(data)}")
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape)
