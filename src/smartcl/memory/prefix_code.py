"""Prefix codes: frequent symbols in few bits, each code known from its length alone."""

from __future__ import annotations

import heapq

import numpy as np

from smartcl.data.batch import Ints
from smartcl.memory.schema import Bytes

#: The longest code, in bits: a symbol is found by looking at this number of bits.
MAX_BITS = 13


def code_lengths(counts: Ints) -> Bytes:
    """The bits of each symbol in Huffman's code for two counts or more, all positive; none more than ``MAX_BITS``.

    Where the rarest would take more, all rare ones count as somewhat less rare.

    >>> code_lengths(np.array([5, 1, 1, 1]))
    array([1, 3, 3, 2], dtype=uint8)
    """
    least = int(counts.sum()) >> MAX_BITS
    while True:
        lengths = _huffman(np.maximum(counts, least))
        if lengths.max() <= MAX_BITS:
            return lengths
        least = 2 * least + 1


def codes_of(lengths: Bytes) -> Ints:
    """The canonical codes of these lengths: shorter ones first, equal ones in the order of their symbols.

    >>> codes_of(np.array([1, 3, 3, 2], dtype=np.uint8))
    array([0, 6, 7, 2])
    """
    order = np.argsort(lengths, kind="stable")
    room = 1 << (MAX_BITS - lengths[order].astype(np.int64))
    codes = np.empty(len(lengths), dtype=np.int64)
    codes[order] = (room.cumsum() - room) >> (MAX_BITS - lengths[order].astype(np.int64))
    return codes


def is_complete(lengths: Bytes) -> bool:
    """Whether these are lengths of a code in which every sequence of bits means something.

    >>> is_complete(np.array([1, 2, 2])), is_complete(np.array([1, 1, 1]))
    (True, False)
    """
    if lengths.min() < 1 or lengths.max() > MAX_BITS:
        return False
    return int((1 << (MAX_BITS - lengths.astype(np.int64))).sum()) == 1 << MAX_BITS


def first_symbols(lengths: Bytes) -> Ints:
    """The symbol whose code begins each possible sequence of ``MAX_BITS`` bits."""
    order = np.argsort(lengths, kind="stable")
    return np.repeat(order, 1 << (MAX_BITS - lengths[order].astype(np.int64)))


def _huffman(counts: Ints) -> Bytes:
    n = len(counts)
    heap = [(count, place) for place, count in enumerate(counts.tolist())]
    heapq.heapify(heap)
    parents = np.zeros(2 * n - 1, dtype=np.int64)
    for parent in range(n, 2 * n - 1):
        first, second = heapq.heappop(heap), heapq.heappop(heap)
        parents[[first[1], second[1]]] = parent
        heapq.heappush(heap, (first[0] + second[0], parent))
    depths = np.zeros(2 * n - 1, dtype=np.int64)
    for node in range(2 * n - 3, -1, -1):
        depths[node] = depths[parents[node]] + 1
    return np.minimum(depths[:n], 255).astype(np.uint8)
