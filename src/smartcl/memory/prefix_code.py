"""Prefix codes, symbols written as bits, and bits read as symbols: many rows side by side.

Frequent symbols take few bits; each code is known from its length alone. A step of reading is what the next
``MAX_BITS`` bits of a row say in its present context: up to three symbols, the bits they take, and the context after
them. All steps there can be are one table, made of the codes' lengths; so reading a thousand rows takes as many NumPy
calls as reading the longest of them.
"""

from __future__ import annotations

import heapq

import numpy as np

from smartcl.data.batch import Ints
from smartcl.memory.nonzeros import narrow, spans
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


# A step in one number, from the lowest bit: three symbols, how many of them there are, their bits, the next context.
_SYMBOL_BITS, _COUNT_AT, _USED_AT, _CONTEXT_AT = 12, 36, 38, 42
_SYMBOLS_A_STEP = 3
_WINDOW = (1 << MAX_BITS) - 1

#: Bytes to be read beyond the last row, whatever they are.
PADDING = 16
# Rows that have ended are left out after this number of steps: fewer than it takes to read the padding.
_STEPS_A_LOOK = 4


def step_table(lengths: Bytes, after: Ints) -> Ints:
    """All steps, by context and next bits; ``lengths`` are those of the codes of each context.

    ``after`` is the context that follows each symbol; one more than there are means that the row ends.
    """
    n_contexts = len(lengths)
    first = np.stack([first_symbols(some) for some in lengths])
    context = np.repeat(np.arange(n_contexts), 1 << MAX_BITS)
    window = np.tile(np.arange(1 << MAX_BITS), n_contexts)
    used, steps = np.zeros_like(window), np.zeros_like(window)
    going = np.ones(len(window), dtype=np.bool_)
    for place in range(_SYMBOLS_A_STEP):
        current = np.minimum(context, n_contexts - 1)
        symbol = first[current, (window << used) & _WINDOW]
        bits = lengths[current, symbol].astype(np.int64)
        going &= (used + bits <= MAX_BITS) & (context < n_contexts)
        steps += np.where(going, (symbol << (_SYMBOL_BITS * place)) + (1 << _COUNT_AT), 0)
        used += np.where(going, bits, 0)
        context = np.where(going, after[symbol], context)
    steps += (used << _USED_AT) + (context << (_CONTEXT_AT + MAX_BITS))
    at_end = np.full(1 << MAX_BITS, n_contexts << (_CONTEXT_AT + MAX_BITS))
    return np.concatenate([steps, at_end])


def walk(padded: Bytes, begins: Ints, ends: Ints, table: Ints) -> tuple[Ints, Ints, Ints]:
    """The symbols of rows whose bits go from ``begins`` to ``ends`` at most: all of them, how many each row has, and
    the bit after each row's last; that is beyond its end where the row has none.
    """
    wide = padded.astype(np.uint32)
    windows = (wide[:-2] << 16) | (wide[1:-1] << 8) | wide[2:]
    ended = (len(table) >> MAX_BITS) - 1
    reached, limit = begins.copy(), ends + 1
    who, position, context = np.arange(len(begins)), begins, np.zeros(len(begins), dtype=np.int64)
    walked: list[tuple[Ints, Ints]] = []
    while len(who):
        window = windows[position >> 3] >> (24 - MAX_BITS - (position & 7)).astype(np.uint32)
        step = table[context + (window & _WINDOW)]
        position = position + ((step >> _USED_AT) & 15)
        context = (step >> _CONTEXT_AT) & ~_WINDOW
        walked.append((who, step))
        if len(walked) % _STEPS_A_LOOK == 0:
            going = (context >> MAX_BITS < ended) & (position < limit)
            reached[who] = np.where(context >> MAX_BITS < ended, np.minimum(position, limit), position)
            if not going.all():
                who, position, context, limit = who[going], position[going], context[going], limit[going]
    whose = np.concatenate([rows for rows, _ in walked])
    by_row = np.argsort(narrow(whose), kind="stable")
    steps = np.concatenate([step for _, step in walked])[by_row]
    held = (steps >> _COUNT_AT) & 3
    shifts = _SYMBOL_BITS * np.arange(_SYMBOLS_A_STEP)
    symbols = (steps[:, None] >> shifts) & ((1 << _SYMBOL_BITS) - 1)
    counts = np.bincount(whose[by_row], held, minlength=len(begins)).astype(np.int64)
    return symbols[np.arange(_SYMBOLS_A_STEP) < held[:, None]], counts, reached


def placed(starts: Ints, row: Ints, bits: Ints) -> Ints:
    """The start of each of these pieces, which follow each other from the start of their row."""
    before = bits.cumsum() - bits
    first = np.searchsorted(row, np.arange(len(starts)))
    offset = np.concatenate([before, [0]])[first]
    begins: Ints = starts[row] + before - offset[row]
    return begins


def set_bits(bits: Bytes, at: Ints, counts: Ints, numbers: Ints) -> None:
    """Write these numbers, each in its own width in bits, from these places on; ``bits`` has one bit in each byte."""
    last = np.repeat(at + counts - 1, counts)
    places = spans(at, counts)
    bits[places] = (np.repeat(numbers, counts) >> (last - places)) & 1


def get_bits(padded: Bytes, at: Ints, counts: Ints) -> Ints:
    """Read numbers, each of its own width in bits, from these places on."""
    places = spans(at, counts)
    bits = (padded[places >> 3] >> (7 - (places & 7)).astype(np.uint8)) & 1
    values = bits.astype(np.int64) << (np.repeat(at + counts - 1, counts) - places)
    return np.add.reduceat(values, counts.cumsum() - counts) if len(at) else at
