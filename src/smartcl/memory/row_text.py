"""Rows as texts of symbols: how many columns are skipped, then a level, and so on to the end of the row.

Symbol 0 ends a row. The next ``n_runs`` are runs of columns without a value; a long run leaves the last bits of its
length to be written beside the text. The others are levels, each of the next column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smartcl.data.batch import Bools, Ints
from smartcl.memory.nonzeros import Nonzeros
from smartcl.memory.phrases import Symbols

END = 0
#: Runs up to this length have a symbol each; beyond, each octave has four.
SHORT_RUNS = 32
_SHORT_BITS, _QUARTERS = 5, 4


class Text(NamedTuple):
    """Symbols of rows one after the other; beside each run that has some, its last bits and how many there are."""

    symbols: Symbols
    rest: Ints
    rest_bits: Ints
    rests: Ints  #: how many runs of each row have such bits


def n_run_symbols(n_columns: int) -> int:
    """How many symbols runs of up to ``n_columns`` take.

    >>> n_run_symbols(20), n_run_symbols(784)
    (20, 51)
    """
    return int(_run_symbols(np.array([max(1, n_columns)]))[0][0]) + 1


def fits_runs(gaps: Ints, n_runs: int) -> Bools:
    """Which gaps, none included, one of ``n_runs`` symbols stands for."""
    symbols: Ints = _run_symbols(np.maximum(gaps, 1))[0]
    return np.less(symbols, n_runs)


def write_text(rows: Nonzeros, n_runs: int) -> Text:
    """Rows of columns and numbers of levels, as text; no run may be too long for ``n_runs`` symbols."""
    gaps = rows.gaps
    skips = gaps > 0
    value_at = (1 + skips).cumsum() - 1 + rows.rows
    symbols = np.zeros(len(gaps) + int(skips.sum()) + len(rows), dtype=np.int16)
    symbols[value_at] = n_runs + rows.values.astype(np.int64)
    runs, rest, rest_bits = _run_symbols(gaps[skips])
    symbols[value_at[skips] - 1] = 1 + runs
    long = rest_bits > 0
    rests = np.bincount(rows.rows[skips][long], minlength=len(rows))
    return Text(symbols, rest[long], rest_bits[long], rests)


class Meaning(NamedTuple):
    """What each symbol and phrase stands for."""

    steps: Ints  #: the columns it passes, without the last bits of a long run at its begin
    rest_bits: Ints  #: how many those are
    counts: Ints  #: the values it has, ...
    starts: Ints  #: ... and where they begin in the two lists that follow:
    columns: Ints  #: the column of each, counted from where the symbol begins,
    numbers: Ints  #: and the number of its level


def meaning(words: list[list[int]], n_runs: int) -> Meaning:
    """The meaning of symbols and phrases that are spelled so; a long run is the first of a phrase only.

    >>> meaning([[END], [1], [2], [1, 2, 2]], n_runs=1)._asdict()["columns"]
    array([0, 1, 2])
    """
    shortest, bits = run_lengths(np.arange(n_runs))
    widths = [
        [0 if symbol == END else 1 if symbol > n_runs else int(shortest[symbol - 1]) for symbol in word]
        for word in words
    ]
    values = [[symbol > n_runs for symbol in word] for word in words]
    counts = np.array([sum(value) for value in values])
    before = [np.cumsum([0, *width])[:-1][value] for width, value in zip(widths, values, strict=True)]
    numbers = [symbol - n_runs for word in words for symbol in word if symbol > n_runs]
    return Meaning(
        np.array([sum(width) for width in widths]),
        np.array([int(bits[word[0] - 1]) if END < word[0] <= n_runs else 0 for word in words]),
        counts,
        counts.cumsum() - counts,
        np.concatenate(before).astype(np.int64),
        np.array(numbers, dtype=np.int64),
    )


def long_runs(n_runs: int) -> Ints:
    """The symbols of runs whose last bits are written beside the text."""
    return np.arange(1 + SHORT_RUNS, 1 + n_runs)


def run_lengths(runs: Ints) -> tuple[Ints, Ints]:
    """The shortest run of each of these symbols, and how many bits are missing.

    >>> run_lengths(np.array([0, 31, 32, 36]))
    (array([ 1, 32, 33, 65]), array([0, 0, 3, 4]))
    """
    octave, quarter = np.divmod(np.maximum(runs - SHORT_RUNS, 0), _QUARTERS)
    bits = octave + _SHORT_BITS - 2
    long = runs >= SHORT_RUNS
    return 1 + np.where(long, (_QUARTERS + quarter) << bits, runs), np.where(long, bits, 0)


def _run_symbols(lengths: Ints) -> tuple[Ints, Ints, Ints]:
    """The symbol of each run, counted from 0, its last bits and how many they are."""
    skipped = lengths - 1
    exponent = np.frexp(np.maximum(skipped, SHORT_RUNS).astype(np.float64))[1].astype(np.int64) - 1
    bits = exponent - 2
    long = skipped >= SHORT_RUNS
    symbols = SHORT_RUNS + (exponent - _SHORT_BITS) * _QUARTERS + ((skipped >> bits) & (_QUARTERS - 1))
    rest = skipped & ((1 << bits) - 1)
    return np.where(long, symbols, skipped), np.where(long, rest, 0), np.where(long, bits, 0)
