"""Rows in as few bits as a model of the stream allows: levels, phrases, and a prefix code for each context.

What comes next in a row depends on what came last: after a run of nothing, or after a low or a high level, other symbols
are likely. So there is one prefix code for each class of the last symbol. A code is learned from rows, held and charged
with them, and replaced by a better one when that pays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Bools, Ints
from smartcl.memory.levels import Levels
from smartcl.memory.nonzeros import Nonzeros, spans
from smartcl.memory.phrases import MOST_PHRASES, Pairs, Symbols, apply_pairs, learn_pairs, spelled
from smartcl.memory.prefix_code import MAX_BITS, code_lengths, codes_of, first_symbols, is_complete
from smartcl.memory.row_text import END, Meaning, fits_runs, long_runs, meaning, n_run_symbols, write_text
from smartcl.memory.schema import Bytes
from smartcl.saved import Saved

#: The classes of levels that a context may tell apart; beside them there is one for all else, or one for everything.
LEVEL_CLASSES = (0, 1, 2, 4)
_THREE = np.arange(3)


class Coded(NamedTuple):
    """Bytes of rows one after the other, and how many each has."""

    arena: Bytes
    lengths: Ints


class _Reading(NamedTuple):
    """What reading takes, made of a code once: not held with the rows, and no larger for more of them."""

    steps: Ints  #: by context and the next bits: up to three symbols, how many, their bits, the context after them
    meaning: Meaning


@dataclass(frozen=True, slots=True, eq=False)
class RowCode:
    """How rows of numbered levels become bytes.

    >>> rows = Nonzeros(np.array([2, 0]), np.array([3, 4]), np.array([1, 2], dtype=np.float32))
    >>> code = RowCode.learn(rows, Levels(np.array([7, 9], dtype=np.float32), True), n_columns=20, room=100)
    >>> coded = code.write(rows)
    >>> coded.arena, coded.lengths, code.nbytes
    (array([138,   0], dtype=uint8), array([1, 1]), 20)
    """

    levels: Levels
    n_runs: int
    n_classes: int
    pairs: Pairs
    packed_lengths: Bytes

    def __post_init__(self) -> None:
        for array in (self.pairs, self.packed_lengths):
            array.flags.writeable = False

    @classmethod
    def learn(cls, rows: Nonzeros, levels: Levels, n_columns: int, room: int, beside: int = 0) -> RowCode:
        """A code for rows like these, of columns and numbers of levels.

        It has as many phrases and contexts as let most rows into ``room`` bytes, with its tables and the bytes that
        each row takes ``beside`` its text.
        """
        n_runs = n_run_symbols(n_columns)
        text = write_text(rows, n_runs).symbols
        n_symbols = 1 + n_runs + len(levels)
        barred = np.append(long_runs(n_runs), END)
        options = [
            (_bytes_a_row(left, pairs, n_runs, levels, classes, len(rows), room, beside), pairs, left, classes)
            for pairs, left in learn_pairs(text, n_symbols, barred)
            for classes in LEVEL_CLASSES
        ]
        _, pairs, left, classes = min(options, key=lambda option: option[0])
        counts = _counts(left, pairs, n_runs, len(levels), classes)
        lengths = np.stack([code_lengths(np.maximum(1, 8 * some)) for some in counts])
        return cls(levels, n_runs, classes, pairs.astype(_symbol_dtype(n_symbols + len(pairs))), _nibbles(lengths))

    @property
    def nbytes(self) -> int:
        return self.levels.nbytes + self.pairs.nbytes + self.packed_lengths.nbytes

    @property
    def n_symbols(self) -> int:
        """Without phrases."""
        return 1 + self.n_runs + len(self.levels)

    @property
    def lengths(self) -> Bytes:
        """The bits of each symbol and phrase, by context."""
        shape = _n_contexts(self.n_classes), self.n_symbols + len(self.pairs)
        both = np.stack([self.packed_lengths >> 4, self.packed_lengths & 15], axis=1).reshape(-1)
        return both[: shape[0] * shape[1]].reshape(shape)

    def codable(self, rows: Nonzeros) -> Bools:
        """Which rows of columns and numbers of levels can be written: no unknown value, no run too long."""
        return rows.all_of((rows.values > 0) & fits_runs(rows.gaps, self.n_runs))

    def write(self, rows: Nonzeros) -> Coded:
        """Rows of columns and numbers of levels as bytes."""
        text = write_text(rows, self.n_runs)
        symbols = apply_pairs(text.symbols, self.pairs, self.n_symbols).astype(np.int64)
        contexts = _contexts(symbols, _last_classes(self.pairs, self.n_runs, len(self.levels), self.n_classes))
        lengths = self.lengths
        codes = np.stack([codes_of(some) for some in lengths])[contexts, symbols]
        bits = lengths[contexts, symbols].astype(np.int64)
        row = (symbols == END).cumsum() - (symbols == END)
        rest_row = np.repeat(np.arange(len(rows)), text.rests)
        heads = np.bincount(row, bits, minlength=len(rows)).astype(np.int64)
        tails = np.bincount(rest_row, text.rest_bits, minlength=len(rows)).astype(np.int64)
        nbytes = -(-(heads + tails) // 8)
        starts = 8 * (nbytes.cumsum() - nbytes)
        arena = np.zeros(8 * int(nbytes.sum()), dtype=np.uint8)
        _set_bits(arena, _placed(starts, row, bits), bits, codes)
        _set_bits(arena, _placed(starts + heads, rest_row, text.rest_bits), text.rest_bits, text.rest)
        return Coded(np.packbits(arena), nbytes)

    def read(self, arena: Bytes, starts: Ints, lengths: Ints) -> Nonzeros | None:
        """Rows of columns and numbers of levels; None if a row does not end in its bytes."""
        if not len(starts):
            return Nonzeros(starts, starts, np.zeros(0, dtype=np.float32))
        own = np.concatenate([arena[spans(starts, lengths)], np.zeros(16, dtype=np.uint8)])
        begins = 8 * (lengths.cumsum() - lengths)
        reading = _reading(self)
        steps, ends = _walk(own, begins, 8 * lengths, reading.steps)
        if (ends > begins + 8 * lengths).any():
            return None
        held = (steps >> 36) & 3
        phrases = np.stack([steps & 0xFFF, (steps >> 12) & 0xFFF, (steps >> 24) & 0xFFF], axis=2)[held[:, :, None] > _THREE]
        means = reading.meaning
        row = np.repeat(np.arange(len(starts)), held.sum(axis=1))
        if int((phrases == END).sum()) != len(starts):
            return None
        rest_bits = means.rest_bits[phrases]
        long = np.flatnonzero(rest_bits)
        at = _placed(ends, row[long], rest_bits[long])
        if (at + rest_bits[long] > (begins + 8 * lengths)[row[long]]).any():
            return None
        passed = means.steps[phrases]
        rest = _get_bits(own, at, rest_bits[long])
        passed[long] += rest
        reached = passed.cumsum() - passed
        reached -= reached[np.searchsorted(row, np.arange(len(starts)))][row]
        reached[long] += rest
        counts = means.counts[phrases]
        inside = spans(means.starts[phrases], counts)
        columns = means.columns[inside] + np.repeat(reached, counts)
        n_values = np.bincount(row, counts, minlength=len(starts)).astype(np.int64)
        return Nonzeros(n_values, columns, means.numbers[inside].astype(np.float32))

    def widen(self, n_features: int) -> RowCode:
        return replace(self, levels=self.levels.widen(n_features))

    def state_dict(self) -> dict[str, Any]:
        return {
            "levels": self.levels.state_dict(),
            "n_runs": self.n_runs,
            "n_classes": self.n_classes,
            "pairs": self.pairs,
            "packed_lengths": self.packed_lengths,
        }

    @classmethod
    def from_state(cls, saved: Saved, n_features: int) -> RowCode:
        """What ``state_dict`` described, if it can be a code of rows of so many features."""
        levels = Levels.from_state(saved.part("levels"), n_features)
        n_runs = saved.whole("n_runs", low=1, high=n_run_symbols(2**40))
        n_classes = saved.whole("n_classes", low=0, high=max(LEVEL_CLASSES))
        n_symbols = 1 + n_runs + len(levels)
        pairs = saved.array("pairs", (None, 2), "uint8", "uint16")
        if len(pairs) > MOST_PHRASES or (pairs >= n_symbols + np.arange(len(pairs))[:, None]).any() or not pairs.all():
            saved.refuse("pairs", f"must be at most {MOST_PHRASES}, each of symbols and phrases before it")
        size = _n_contexts(n_classes) * (n_symbols + len(pairs))
        packed = saved.array("packed_lengths", (-(-size // 2),), "uint8")
        code = cls(levels, n_runs, n_classes, np.array(pairs), np.array(packed))
        if not all(is_complete(lengths) for lengths in code.lengths) or (size % 2 and packed[-1] & 15):
            saved.refuse("packed_lengths", "must be the lengths of complete codes")
        return code


def _symbol_dtype(count: int) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if count <= 2**8 else np.uint16


def _counts(text: Symbols, pairs: Pairs, n_runs: int, n_levels: int, n_classes: int) -> Ints:
    """How often each symbol and phrase follows each context in this text."""
    symbols, n_all = text.astype(np.int64), 1 + n_runs + n_levels + len(pairs)
    contexts = _contexts(symbols, _last_classes(pairs, n_runs, n_levels, n_classes))
    n_contexts = _n_contexts(n_classes)
    counts: Ints = np.bincount(contexts * n_all + symbols, minlength=n_contexts * n_all)
    return counts.reshape(n_contexts, n_all)


def _bytes_a_row(
    text: Symbols, pairs: Pairs, n_runs: int, levels: Levels, n_classes: int, n_rows: int, room: int, beside: int
) -> float:
    """About how many bytes a row of such texts takes in ``room`` bytes, its share of the tables included."""
    counts = _counts(text, pairs, n_runs, len(levels), n_classes)
    likely = np.maximum(1, 8 * counts)
    bits = float((counts * np.log2(likely.sum(axis=1, keepdims=True) / likely)).sum())
    tables = counts.size / 2 + pairs.size * _symbol_dtype(counts.shape[1])().itemsize + levels.nbytes
    return (bits / (8 * max(1, n_rows)) + 0.5 + beside) / max(1e-3, 1 - tables / room)


def _n_contexts(n_classes: int) -> int:
    return 1 + n_classes


def _last_classes(pairs: Pairs, n_runs: int, n_levels: int, n_classes: int) -> Ints:
    """The class of each symbol and phrase: that of its last symbol; 0 for runs and ends."""
    classes = np.zeros(1 + n_runs + n_levels + len(pairs), dtype=np.int64)
    if n_classes:
        classes[1 + n_runs : 1 + n_runs + n_levels] = 1 + np.arange(n_levels) * n_classes // n_levels
    for place, last in enumerate(pairs[:, 1].tolist(), start=1 + n_runs + n_levels):
        classes[place] = classes[last]
    return classes


def _contexts(symbols: Ints, classes: Ints) -> Ints:
    """The class of the symbol before each; a row begins like after a run."""
    return classes[np.concatenate([[END], symbols[:-1]])] if len(symbols) else symbols


def _nibbles(lengths: Bytes) -> Bytes:
    flat = lengths.reshape(-1)
    flat = np.concatenate([flat, np.zeros(flat.size % 2, dtype=np.uint8)])
    return (flat[0::2] << 4) | flat[1::2]


@lru_cache(maxsize=8)
def _reading(code: RowCode) -> _Reading:
    lengths, pairs = code.lengths, code.pairs
    classes = _last_classes(pairs, code.n_runs, len(code.levels), code.n_classes)
    after = np.where(np.arange(len(classes)) == END, len(lengths), classes)
    first = np.stack([first_symbols(some) for some in lengths])
    context = np.repeat(np.arange(len(lengths)), 1 << MAX_BITS)
    window = np.tile(np.arange(1 << MAX_BITS), len(lengths))
    used = np.zeros_like(window)
    steps = np.zeros_like(window)
    going = np.ones(len(window), dtype=np.bool_)
    for place in range(3):
        current = np.minimum(context, len(lengths) - 1)
        symbol = first[current, (window << used) & ((1 << MAX_BITS) - 1)]
        bits = lengths[current, symbol].astype(np.int64)
        going &= (used + bits <= MAX_BITS) & (context < len(lengths))
        steps += np.where(going, (symbol << (12 * place)) + (1 << 36), 0)
        used += np.where(going, bits, 0)
        context = np.where(going, after[symbol], context)
    steps += (used << 38) + (context << (42 + MAX_BITS))
    at_end = np.full(1 << MAX_BITS, len(lengths) << (42 + MAX_BITS))
    return _Reading(np.concatenate([steps, at_end]), meaning(spelled(pairs, code.n_symbols), code.n_runs))


def _walk(own: Bytes, begins: Ints, n_bits: Ints, table: Ints) -> tuple[Ints, Ints]:
    """All rows read side by side, a few symbols of each at a time: each row's steps, and where its text ends."""
    wide = own.astype(np.uint32)
    windows = (wide[:-2] << 16) | (wide[1:-1] << 8) | wide[2:]
    n_contexts = len(table) >> MAX_BITS
    at, last = begins.copy(), begins + n_bits + 1
    context = np.zeros(len(at), dtype=np.int64)
    who = np.arange(len(at))
    position, limit = at, last
    walked: list[tuple[Ints, Ints]] = []
    while len(who):
        window = (windows[position >> 3] >> (24 - MAX_BITS - (position & 7)).astype(np.uint32)) & ((1 << MAX_BITS) - 1)
        step = table[context + window]
        position = position + ((step >> 38) & 15)
        context = (step >> 42) & ~((1 << MAX_BITS) - 1)
        walked.append((who, step))
        if len(walked) % 4 == 0:
            going = (context >> MAX_BITS < n_contexts - 1) & (position < limit)
            at[who] = np.minimum(position, limit)
            if not going.all():
                who, position, context, limit = who[going], position[going], context[going], limit[going]
    steps = np.zeros((len(begins), len(walked)), dtype=np.int64)
    for place, (rows, step) in enumerate(walked):
        steps[rows, place] = step
    return steps, at


def _placed(starts: Ints, row: Ints, bits: Ints) -> Ints:
    """Where each of these pieces begins: one after the other from the start of its row."""
    before = bits.cumsum() - bits
    first = np.searchsorted(row, np.arange(len(starts)))
    offset = np.concatenate([before, [0]])[first]
    return starts[row] + before - offset[row]


def _set_bits(bits: Bytes, at: Ints, counts: Ints, numbers: Ints) -> None:
    last = np.repeat(at + counts - 1, counts)
    places = spans(at, counts)
    bits[places] = (np.repeat(numbers, counts) >> (last - places)) & 1


def _get_bits(own: Bytes, at: Ints, counts: Ints) -> Ints:
    numbers = np.zeros(len(at), dtype=np.int64)
    places = spans(at, counts)
    bits = (own[places >> 3] >> (7 - (places & 7)).astype(np.uint8)) & 1
    np.add.at(numbers, np.repeat(np.arange(len(at)), counts), bits.astype(np.int64) << (np.repeat(at + counts - 1, counts) - places))
    return numbers
