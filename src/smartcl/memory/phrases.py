"""Phrases: pairs of symbols that come together often become one symbol, again and again (byte-pair encoding)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints

#: Symbols in the order they come, and pairs of them: phrase ``i`` is ``pairs[i]``, of symbols and phrases before it.
Symbols = NDArray[np.int16]
Pairs = NDArray[Any]

#: How many phrases may be held; more than the last were worth a per cent of a row's bytes, and take time to find.
STEPS = (0, 16, 32, 64, 128, 256)
MOST_PHRASES = max(STEPS)


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
    yield _as_array(pairs), text
    while len(pairs) < MOST_PHRASES and len(text) > 1:
        first, second = text[:-1].astype(np.int64), text[1:].astype(np.int64)
        together = np.bincount((first * most + second)[(first != 0) & second_allowed[second]], minlength=1)
        best = int(together.argmax())
        if not together[best]:
            break
        pairs.append(divmod(best, most))
        second_allowed[n_symbols + len(pairs) - 1] = second_allowed[pairs[-1][0]]
        text = _joined(text, *pairs[-1], n_symbols + len(pairs) - 1)
        if len(pairs) in STEPS:
            yield _as_array(pairs), text
    if len(pairs) not in STEPS:
        yield _as_array(pairs), text


def apply_pairs(text: Symbols, pairs: Pairs, n_symbols: int) -> Symbols:
    """The text with phrases in place of their pairs, in the order in which they were learned."""
    for number, (first, second) in enumerate(pairs.tolist()):
        text = _joined(text, first, second, n_symbols + number)
    return text


def spelled(pairs: Pairs, n_symbols: int) -> list[list[int]]:
    """All symbols, then all phrases, in plain symbols.

    >>> spelled(np.array([[1, 2], [3, 1]]), 3)
    [[0], [1], [2], [1, 2], [1, 2, 1]]
    """
    words = [[symbol] for symbol in range(n_symbols)]
    for first, second in pairs.tolist():
        words.append(words[first] + words[second])
    return words


def _as_array(pairs: list[tuple[int, int]]) -> Ints:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _joined(text: Symbols, first: int, second: int, phrase: int) -> Symbols:
    """The text with ``phrase`` wherever ``first`` is followed by ``second``; of overlapping places, the earlier."""
    places = np.flatnonzero((text[:-1] == first) & (text[1:] == second))
    if not len(places):
        return text
    if first == second:
        begins = np.diff(places, prepend=-2) != 1
        since = np.arange(len(places)) - np.maximum.accumulate(np.where(begins, np.arange(len(places)), 0))
        places = places[since % 2 == 0]
    text = text.copy()
    text[places] = phrase
    kept = np.ones(len(text), dtype=np.bool_)
    kept[places + 1] = False
    return text[kept]
