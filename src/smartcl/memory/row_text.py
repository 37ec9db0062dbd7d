"""Rows as texts of symbols: how many columns are skipped, then a level, and so on to the end of the row.

Symbol 0 ends a row. The next ``n_runs`` are runs of columns without a value; a long run leaves the last bits of its
length to be written beside the text. The others are levels, each of the next column. Pairs of symbols that often come
together become one symbol, a phrase, again and again (byte-pair encoding).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Bools, Ints
from smartcl.memory.nonzeros import Nonzeros

#: Symbols in the order they come, and pairs of them: phrase ``i`` is ``pairs[i]``, of symbols and phrases before it.
Symbols = NDArray[np.int16]
Pairs = NDArray[Any]
SymbolArray = TypeVar("SymbolArray", np.int16, np.int32)

#: How many phrases may be held; more than the last were worth a per cent of a row's bytes, and take time to find.
STEPS = (0, 16, 32, 64, 128, 256)
MOST_PHRASES = max(STEPS)
#: The most symbols that a phrase stands for: phrases of phrases could double 256 times, and reading spells each out.
MOST_SPELLED = 2**12


def learn_pairs(text: Symbols, n_symbols: int, barred: Ints) -> Iterator[tuple[Ints, Symbols]]:
    """No pair, the most frequent ones, and more of them, in a few steps, each time with the text they leave.

    ``barred`` symbols are never the second of a pair: what is read after them depends on more than the text. Symbol 0
    ends a row and is in no pair.

    >>> for pairs, text in learn_pairs(np.array([1, 2, 0] * 3 + [2, 1, 3, 0], dtype=np.int16), 4, np.array([0])):
    ...     print(pairs.tolist(), len(text))
    [] 13
    [[1, 2], [1, 3], [2, 5]] 8
    """
    pairs: list[tuple[int, int]] = []
    most = n_symbols + MOST_PHRASES
    second_allowed = np.ones(most, dtype=np.bool_)
    second_allowed[barred] = False
    sizes = [1] * n_symbols
    yield _as_array(pairs), text
    while len(pairs) < MOST_PHRASES and len(text) > 1:
        first, second = text[:-1].astype(np.int64), text[1:].astype(np.int64)
        together = np.bincount((first * most + second)[(first != 0) & second_allowed[second]], minlength=1)
        best = int(together.argmax())
        while together[best] and sizes[best // most] + sizes[best % most] > MOST_SPELLED:
            together[best] = 0
            best = int(together.argmax())
        if not together[best]:
            break
        pairs.append(divmod(best, most))
        sizes.append(sum(sizes[part] for part in pairs[-1]))
        second_allowed[n_symbols + len(pairs) - 1] = second_allowed[pairs[-1][0]]
        text = _joined(text, *pairs[-1], n_symbols + len(pairs) - 1)
        if len(pairs) in STEPS:
            yield _as_array(pairs), text
    if len(pairs) not in STEPS:
        yield _as_array(pairs), text


def apply_pairs(text: Symbols, pairs: Pairs, n_symbols: int) -> Symbols:
    """The text with phrases in place of their pairs, as if one after the other in the order in which they were learned.

    Pairs that cannot be in each other's way are taken together: about ten at a time.
    """
    if not len(pairs):
        return text
    most, phrase_of, round_of, rounds = _rounds(pairs.astype(np.int64).tobytes(), n_symbols)
    symbols = text.astype(np.int32)
    for number in range(1, rounds + 1):
        both = symbols[:-1] * most + symbols[1:]
        places = _without_overlap((round_of.take(both) == number).nonzero()[0])
        symbols[places] = phrase_of.take(both.take(places))
        symbols = _without(symbols, places + 1)
    return symbols.astype(np.int16)


class _Rounds(NamedTuple):
    """By the place ``first · most + second`` in a table: a pair's phrase, and in which round it is looked for; or 0."""

    most: int
    phrase_of: Symbols
    round_of: Symbols
    rounds: int


@lru_cache(maxsize=8)
def _rounds(packed: bytes, n_symbols: int) -> _Rounds:
    """A pair comes a round after all before it that it shares a symbol with, its first with their second or the other
    way round, and after those whose phrases it is made of: places of any others are never next to its own.
    """
    pairs = np.frombuffer(packed, dtype=np.int64).reshape(-1, 2)
    own: list[int] = []
    as_first, as_second = Counter[int](), Counter[int]()
    for first, second in pairs.tolist():
        made_of = [own[symbol - n_symbols] for symbol in (first, second) if symbol >= n_symbols]
        alone = [as_first[first], as_second[second]] if first == second else []
        own.append(1 + max([as_second[first], as_first[second], *made_of, *alone]))
        as_first[first], as_second[second] = max(as_first[first], own[-1]), max(as_second[second], own[-1])
    most = n_symbols + len(pairs)
    phrase_of, round_of = np.zeros(most * most, dtype=np.int16), np.zeros(most * most, dtype=np.int16)
    places = pairs[:, 0] * most + pairs[:, 1]
    phrase_of[places], round_of[places] = n_symbols + np.arange(len(pairs)), own
    return _Rounds(most, phrase_of, round_of, max(own))


def spelled(pairs: Pairs, n_symbols: int) -> list[list[int]]:
    """All symbols, then all phrases, in plain symbols.

    >>> spelled(np.array([[1, 2], [3, 1]]), 3)
    [[0], [1], [2], [1, 2], [1, 2, 1]]
    """
    words = [[symbol] for symbol in range(n_symbols)]
    for first, second in pairs.tolist():
        words.append(words[first] + words[second])
    return words


def spelled_sizes(pairs: Pairs, n_symbols: int) -> list[int]:
    """How many plain symbols each symbol and phrase stands for.

    >>> spelled_sizes(np.array([[1, 2], [3, 1]]), 3)
    [1, 1, 1, 2, 3]
    """
    sizes = [1] * n_symbols
    for first, second in pairs.tolist():
        sizes.append(sizes[first] + sizes[second])
    return sizes


def first_symbols_spelled(pairs: Pairs, n_symbols: int) -> Ints:
    """The plain symbol that each symbol and phrase begins with.

    >>> first_symbols_spelled(np.array([[1, 2], [3, 1]]), 3)
    array([0, 1, 2, 1, 1])
    """
    firsts = list(range(n_symbols))
    for first, _ in pairs.tolist():
        firsts.append(firsts[first])
    return np.array(firsts)


def _as_array(pairs: list[tuple[int, int]]) -> Ints:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _joined(text: Symbols, first: int, second: int, phrase: int) -> Symbols:
    """The text with ``phrase`` wherever ``first`` is followed by ``second``; of overlapping places, the earlier."""
    places = _without_overlap(np.flatnonzero((text[:-1] == first) & (text[1:] == second)))
    text = text.copy()
    text[places] = phrase
    return _without(text, places + 1)


def _without_overlap(places: Ints) -> Ints:
    """Of places next to each other, every other one."""
    begins = np.diff(places, prepend=-2) != 1
    if begins.all():
        return places
    since = np.arange(len(places)) - np.maximum.accumulate(np.where(begins, np.arange(len(places)), 0))
    every_other: Ints = places[since % 2 == 0]
    return every_other


def _without(text: NDArray[SymbolArray], places: Ints) -> NDArray[SymbolArray]:
    kept = np.ones(len(text), dtype=np.bool_)
    kept[places] = False
    return text[kept]


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
