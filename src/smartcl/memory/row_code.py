"""Rows in as few bits as a model of the stream allows: levels, phrases, and a prefix code for each context.

What comes next in a row depends on what came last: after a run of nothing, a low level or a high one, other symbols are
likely. So there is one prefix code for each class of the last symbol. A code is learned from rows, held and charged
with them, and replaced by a better one when that pays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from smartcl.data.batch import Bools, Ints
from smartcl.memory.column_order import AS_THEY_ARE, ColumnOrder
from smartcl.memory.levels import Levels
from smartcl.memory.nonzeros import Nonzeros, spans
from smartcl.memory.prefix_code import (
    PADDING,
    code_lengths,
    codes_of,
    get_bits,
    is_complete,
    placed,
    set_bits,
    step_table,
    walk,
)
from smartcl.memory.row_text import (
    END,
    MOST_PHRASES,
    MOST_SPELLED,
    Meaning,
    Pairs,
    Symbols,
    apply_pairs,
    first_symbols_spelled,
    fits_runs,
    learn_pairs,
    long_runs,
    meaning,
    n_run_symbols,
    spelled,
    spelled_sizes,
    write_text,
)
from smartcl.memory.schema import Bytes
from smartcl.saving.saved import Saved

#: The classes of levels that a context may tell apart; beside them there is one for all else, or one for everything.
LEVEL_CLASSES = (0, 1, 2, 4)


class Coded(NamedTuple):
    """Bytes of rows one after the other, and how many each has."""

    arena: Bytes
    lengths: Ints


class _Reading(NamedTuple):
    """What reading takes, made of a code once: not held with the rows, and no larger for more of them."""

    steps: Ints
    meaning: Meaning


class _Writing(NamedTuple):
    """What writing takes, made of a code once.

    Codes and bits are those of each symbol, one context after the other; ``first`` says, by the symbol before, where
    those of its context begin.
    """

    codes: Ints
    bits: Ints
    first: Ints


@dataclass(frozen=True, slots=True, eq=False)
class RowCode:
    """How rows of numbered levels become bytes.

    >>> rows = Nonzeros(np.array([2, 0]), np.array([3, 4]), np.array([1, 2], dtype=np.float32))
    >>> code = RowCode.learn(rows, Levels(np.array([7, 9], dtype=np.float32), True), n_columns=20, room=100)
    >>> coded = code.write(rows)
    >>> coded.arena, coded.lengths, code.nbytes
    (array([64,  0], dtype=uint8), array([1, 1]), 25)
    """

    levels: Levels
    n_runs: int
    n_classes: int
    pairs: Pairs
    packed_lengths: Bytes
    order: ColumnOrder = AS_THEY_ARE

    def __post_init__(self) -> None:
        for array in (self.pairs, self.packed_lengths):
            array.flags.writeable = False

    @classmethod
    def learn(
        cls,
        rows: Nonzeros,
        levels: Levels,
        n_columns: int,
        room: int,
        beside: int = 0,
        order: ColumnOrder = AS_THEY_ARE,
    ) -> RowCode:
        """A code for rows like these, of columns in this ``order`` and numbers of levels.

        It has as many phrases and contexts as let most rows into ``room`` bytes, with its tables and the bytes that
        each row takes ``beside`` its text.
        """
        n_runs = n_run_symbols(n_columns)
        text, rests = _text(rows, n_runs)
        n_symbols = 1 + n_runs + len(levels)
        barred = np.append(long_runs(n_runs), END)
        options = [
            (_bytes_a_row(left, pairs, n_runs, levels, classes, len(rows), room, beside + rests), pairs, left, classes)
            for pairs, left in learn_pairs(text, n_symbols, barred)
            for classes in LEVEL_CLASSES
        ]
        _, pairs, left, classes = min(options, key=lambda option: option[0])
        counts = _counts(left, pairs, n_runs, len(levels), classes)
        lengths = np.stack([code_lengths(np.maximum(1, 8 * some)) for some in counts])
        phrases = pairs.astype(_symbol_dtype(n_symbols + len(pairs)))
        return cls(levels, n_runs, classes, phrases, _nibbles(lengths), order)

    @property
    def nbytes(self) -> int:
        return self.levels.nbytes + self.pairs.nbytes + self.packed_lengths.nbytes + self.order.nbytes

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
        tables = _writing(self)
        place = _contexts(symbols, tables.first) + symbols
        codes, bits = tables.codes[place], tables.bits[place]
        row = (symbols == END).cumsum() - (symbols == END)
        rest_row = np.repeat(np.arange(len(rows)), text.rests)
        heads = np.bincount(row, bits, minlength=len(rows)).astype(np.int64)
        tails = np.bincount(rest_row, text.rest_bits, minlength=len(rows)).astype(np.int64)
        nbytes = -(-(heads + tails) // 8)
        starts = 8 * (nbytes.cumsum() - nbytes)
        arena = np.zeros(8 * int(nbytes.sum()), dtype=np.uint8)
        set_bits(arena, placed(starts, row, bits), bits, codes)
        set_bits(arena, placed(starts + heads, rest_row, text.rest_bits), text.rest_bits, text.rest)
        return Coded(np.packbits(arena), nbytes)

    def read(self, arena: Bytes, starts: Ints, lengths: Ints) -> Nonzeros | None:
        """Rows of columns and numbers of levels; None if a row does not end in its bytes."""
        if not len(starts):
            return Nonzeros(starts, starts, np.zeros(0, dtype=np.float32))
        own = np.concatenate([arena[spans(starts, lengths)], np.zeros(PADDING, dtype=np.uint8)])
        ends = 8 * lengths.cumsum()
        steps, means = _reading(self)
        phrases, counts, reached = walk(own, ends - 8 * lengths, ends, steps)
        if (reached > ends).any() or int((phrases == END).sum()) != len(starts):
            return None
        row = np.repeat(np.arange(len(starts)), counts)
        rest_bits = means.rest_bits[phrases]
        long = np.flatnonzero(rest_bits)
        at = placed(reached, row[long], rest_bits[long])
        if (at + rest_bits[long] > ends[row[long]]).any():
            return None
        passed = means.steps[phrases]
        rest = get_bits(own, at, rest_bits[long])
        passed[long] += rest
        column = passed.cumsum() - passed
        column -= np.repeat(column[counts.cumsum() - counts], counts)
        column[long] += rest
        n_values = means.counts[phrases]
        inside = spans(means.starts[phrases], n_values)
        columns = means.columns[inside] + np.repeat(column, n_values)
        n_values = np.bincount(row, n_values, minlength=len(starts)).astype(np.int64)
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
            "order": self.order.state_dict(),
        }

    @classmethod
    def from_state(cls, saved: Saved, n_features: int) -> RowCode:
        """What ``state_dict`` described, if it can be a code of rows of this number of features."""
        levels = Levels.from_state(saved.part("levels"), n_features)
        n_runs = saved.whole("n_runs", low=1, high=n_run_symbols(2**40))
        n_classes = saved.whole("n_classes", low=0, high=max(LEVEL_CLASSES))
        n_symbols = 1 + n_runs + len(levels)
        pairs = saved.array("pairs", (None, 2), "uint8", "uint16")
        if len(pairs) > MOST_PHRASES or (pairs >= n_symbols + np.arange(len(pairs))[:, None]).any() or not pairs.all():
            saved.refuse("pairs", f"must be at most {MOST_PHRASES}, each of symbols and phrases before it")
        if max(spelled_sizes(pairs, n_symbols)) > MOST_SPELLED:
            saved.refuse("pairs", f"must stand for at most {MOST_SPELLED} symbols each")
        if np.isin(first_symbols_spelled(pairs, n_symbols)[pairs[:, 1]], long_runs(n_runs)).any():
            saved.refuse("pairs", "must not have a long run after their first symbol")
        size = _n_contexts(n_classes) * (n_symbols + len(pairs))
        packed = saved.array("packed_lengths", (-(-size // 2),), "uint8")
        order = ColumnOrder.from_state(saved.part("order"), n_features)
        code = cls(levels, n_runs, n_classes, np.array(pairs), np.array(packed), order)
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


def bytes_a_row(rows: Nonzeros, levels: Levels, n_columns: int, room: int, beside: int) -> float:
    """About how many bytes a row like these takes in ``room`` bytes, all included, in a code without phrases."""
    n_runs = n_run_symbols(n_columns)
    (text, rests), none = _text(rows, n_runs), np.zeros((0, 2), dtype=np.uint8)
    return min(
        _bytes_a_row(text, none, n_runs, levels, classes, len(rows), room, beside + rests) for classes in LEVEL_CLASSES
    )


def _text(rows: Nonzeros, n_runs: int) -> tuple[Symbols, float]:
    """The rows as text, and the bytes a row that the last bits of its runs take beside it."""
    text = write_text(rows, n_runs)
    return text.symbols, float(text.rest_bits.sum()) / 8 / max(1, len(rows))


def _bytes_a_row(
    text: Symbols, pairs: Pairs, n_runs: int, levels: Levels, n_classes: int, n_rows: int, room: int, beside: float
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
    packed: Bytes = (flat[0::2] << np.uint8(4)) | flat[1::2]
    return packed


@lru_cache(maxsize=8)
def _reading(code: RowCode) -> _Reading:
    """Kept for the codes last read: making it takes as long as reading a few hundred rows."""
    n_contexts = _n_contexts(code.n_classes)
    classes = _last_classes(code.pairs, code.n_runs, len(code.levels), code.n_classes)
    after = np.where(np.arange(len(classes)) == END, n_contexts, classes)
    words = spelled(code.pairs, code.n_symbols)
    return _Reading(step_table(code.lengths, after), meaning(words, code.n_runs))


@lru_cache(maxsize=8)
def _writing(code: RowCode) -> _Writing:
    """Kept for the codes last written: making it takes as long as writing fifty rows."""
    classes, lengths = _last_classes(code.pairs, code.n_runs, len(code.levels), code.n_classes), code.lengths
    codes = np.concatenate([codes_of(some) for some in lengths])
    return _Writing(codes, lengths.reshape(-1).astype(np.int64), classes * lengths.shape[1])
