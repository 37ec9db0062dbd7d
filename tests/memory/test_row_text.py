"""Pairs that are joined together, against the same one after the other, symbol by symbol."""

from __future__ import annotations

from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smartcl.memory.row_text import apply_pairs, learn_pairs, spelled

N_SYMBOLS = 6


def one_by_one(text: list[int], pairs: list[tuple[int, int]]) -> list[int]:
    for number, (first, second) in enumerate(pairs):
        joined: list[int] = []
        place = 0
        while place < len(text):
            here = text[place : place + 2] == [first, second]
            joined.append(N_SYMBOLS + number if here else text[place])
            place += 2 if here else 1
        text = joined
    return text


@st.composite
def some_pairs(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Pairs of symbols and of phrases before them, none twice; symbol 0 is in none."""
    pairs: list[tuple[int, int]] = []
    for _ in range(draw(st.integers(0, 20))):
        symbols = st.integers(1, N_SYMBOLS + len(pairs) - 1)
        pair = draw(st.tuples(symbols, symbols))
        if pair not in pairs:
            pairs.append(pair)
    return pairs


@given(st.lists(st.integers(0, N_SYMBOLS - 1), min_size=1, max_size=200), some_pairs())
def test_joined_together_is_joined_one_after_the_other(text: list[int], pairs: list[tuple[int, int]]) -> None:
    found = apply_pairs(np.array(text, dtype=np.int16), np.array(pairs, dtype=np.uint16).reshape(-1, 2), N_SYMBOLS)
    assert found.dtype == np.int16
    assert found.tolist() == one_by_one(text, pairs)


@given(st.lists(st.integers(0, N_SYMBOLS - 1), min_size=2, max_size=400))
def test_what_was_learned_is_applied_as_it_was_learned_and_spells_the_text(text: list[int]) -> None:
    symbols = np.array(text, dtype=np.int16)
    for pairs, learned in learn_pairs(symbols, N_SYMBOLS, barred=np.array([0])):
        applied = apply_pairs(symbols, pairs, N_SYMBOLS)
        assert applied.tolist() == learned.tolist()
        words = spelled(pairs, N_SYMBOLS)
        assert list(chain.from_iterable(words[symbol] for symbol in applied)) == text
