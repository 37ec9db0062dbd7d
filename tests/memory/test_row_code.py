"""Rows in code are read back as they were written, in about as many bits as their symbols are worth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from smartcl.memory.levels import Levels, exact_levels, learn_levels
from smartcl.memory.nonzeros import Nonzeros, nonzeros_of_dense
from smartcl.memory.prefix_code import MAX_BITS, code_lengths, codes_of, is_complete
from smartcl.memory.row_code import RowCode
from smartcl.memory.row_text import (
    MOST_SPELLED,
    apply_pairs,
    learn_pairs,
    long_runs,
    n_run_symbols,
    run_lengths,
    spelled,
    spelled_sizes,
    write_text,
)
from smartcl.memory.schema import Schema
from smartcl.saving.saved import Saved


def digits() -> Nonzeros:
    x = load_digits().data.astype(np.float32)
    return nonzeros_of_dense(x, Schema.full(64))


def rows_of(rng: np.random.Generator, n_rows: int, width: int, n_levels: int) -> Nonzeros:
    """Numbers of levels: rows from empty to full, some with their values side by side, some far apart."""
    density = rng.choice([0.0, 0.01, 0.5, 1.0], (n_rows, 1))
    x = rng.integers(1, n_levels + 1, (n_rows, width)) * (rng.random((n_rows, width)) < density)
    return nonzeros_of_dense(x.astype(np.float32), Schema.full(width))


@given(
    seed=st.integers(0, 2**32 - 1),
    width=st.sampled_from([1, 2, 33, 70, 900]),
    n_levels=st.sampled_from([1, 2, 5, 200]),
    n_rows=st.integers(0, 30),
)
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read(seed: int, width: int, n_levels: int, n_rows: int) -> None:
    rng = np.random.default_rng(seed)
    levels = Levels(np.arange(1, n_levels + 1, dtype=np.float32), exact=False)
    code = RowCode.learn(rows_of(rng, 20, width, n_levels), levels, width, room=2000)
    rows = rows_of(rng, n_rows, width, n_levels)  # others than it was learned from
    assert code.codable(rows).all()
    coded = code.write(rows)
    order = rng.permutation(n_rows)
    found = code.read(coded.arena, (coded.lengths.cumsum() - coded.lengths)[order], coded.lengths[order])
    assert found is not None
    for got, expected in zip(found.arrays, rows.take(order).arrays, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_rows_take_about_their_entropy() -> None:
    """Symbols that are independent: no code does better, and this one at most 5% and a byte a row worse."""
    rng = np.random.default_rng(0)
    shares = np.array([0.5, 0.2, 0.15, 0.1, 0.04, 0.01])
    x = rng.choice(6, p=shares, size=(2000, 100)).astype(np.float32) + 1
    rows = nonzeros_of_dense(x, Schema.full(100))
    code = RowCode.learn(rows, Levels(np.arange(1, 7, dtype=np.float32), True), 100, room=10**6)
    entropy = -float((shares * np.log2(shares)).sum()) * 100 / 8
    assert entropy < code.write(rows).lengths.mean() < 1.05 * entropy + 1


def test_phrases_and_contexts_save_bytes_where_rows_have_a_shape() -> None:
    rows = digits()
    levels = learn_levels(rows, rows, 64, 4, scales_room=0)
    numbered = levels.numbered(rows)
    symbols = write_text(numbered, n_run_symbols(64)).symbols
    counts = np.bincount(symbols)[np.unique(symbols)]
    alone = float((counts * np.log2(counts.sum() / counts)).sum()) / 8 / len(rows)
    code = RowCode.learn(numbered.take(np.arange(1000)), levels, 64, room=10**5)
    assert code.write(numbered.take(np.arange(1000, 1797))).lengths.mean() < 0.9 * alone
    small = RowCode.learn(numbered.take(np.arange(1000)), levels, 64, room=500)
    assert small.nbytes < 120 < code.nbytes


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=300))
@settings(max_examples=50, deadline=None)
def test_a_prefix_code_is_complete_and_near_the_entropy(counts: list[int]) -> None:
    lengths = code_lengths(np.array(counts))
    assert is_complete(lengths)
    texts = {f"{code:0{length}b}" for code, length in zip(codes_of(lengths).tolist(), lengths.tolist(), strict=True)}
    assert len(texts) == len(counts)
    assert not any(other != text and other.startswith(text) for text in texts for other in texts)
    share = np.array(counts) / sum(counts)
    assert (share * lengths).sum() < (share * -np.log2(share)).sum() + 1.05


def test_no_code_is_too_long_to_be_looked_up() -> None:
    fibonacci = [1, 1]
    while len(fibonacci) < 40:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert code_lengths(np.array(fibonacci)).max() <= MAX_BITS


@given(st.lists(st.integers(0, 4), max_size=200))
@settings(max_examples=50)
def test_phrases_spell_the_text(symbols: list[int]) -> None:
    text = np.array([*symbols, 0], dtype=np.int16)
    for pairs, left in learn_pairs(text, 5, np.array([0, 3])):
        words = spelled(pairs, 5)
        assert [symbol for word in left.tolist() for symbol in words[word]] == text.tolist()
        assert not any({0, 3} & set(word[1:]) for word in words[5:])
        np.testing.assert_array_equal(apply_pairs(text, pairs, 5), left)


def learned_of_far_values() -> RowCode:
    """A code with phrases whose rows have runs longer than 32: those leave their last bits beside the text."""
    rows = rows_of(np.random.default_rng(0), 40, 200, 4)
    code = RowCode.learn(rows, Levels(np.arange(1, 5, dtype=np.float32), False), 200, room=20_000)
    assert len(code.pairs) > 40
    assert len(long_runs(code.n_runs)) > 0
    return code


@pytest.mark.parametrize("kind", ["a long run", "a phrase that begins with one"])
def test_a_saved_phrase_with_a_long_run_inside_is_refused(kind: str) -> None:
    """Such a phrase would be written without the last bits of the run, and its rows read back as others."""
    code = learned_of_far_values()
    state = code.state_dict()
    pairs = state["pairs"] = np.array(state["pairs"])
    run = int(long_runs(code.n_runs)[0])
    pairs[-2] = run, code.n_symbols - 1
    pairs[-1] = code.n_symbols - 1, run if kind == "a long run" else code.n_symbols + len(pairs) - 2
    with pytest.raises(ValueError, match=r"pairs must not have a long run after their first symbol"):
        RowCode.from_state(Saved(state, "state"), 200)


def test_a_saved_phrase_of_too_many_symbols_is_refused() -> None:
    """Each phrase is twice the one before: spelled out, the last would have more symbols than any memory holds."""
    state = learned_of_far_values().state_dict()
    pairs = state["pairs"] = np.array(state["pairs"])
    pairs[:] = (learned_of_far_values().n_symbols + np.arange(len(pairs)) - 1)[:, None]
    with pytest.raises(ValueError, match=r"pairs must stand for at most 4096 symbols each"):
        RowCode.from_state(Saved(state, "state"), 200)


def test_a_learned_phrase_has_no_more_symbols_than_may_be_saved() -> None:
    rows = nonzeros_of_dense(np.ones((4, 9000), dtype=np.float32), Schema.full(9000))
    code = RowCode.learn(rows, Levels(np.ones(1, dtype=np.float32), True), 9000, room=10**6)
    again = RowCode.from_state(Saved(code.state_dict(), "state"), 9000)
    assert max(spelled_sizes(again.pairs, again.n_symbols)) == MOST_SPELLED
    coded = again.write(rows)
    found = again.read(coded.arena, coded.lengths.cumsum() - coded.lengths, coded.lengths)
    assert found is not None
    np.testing.assert_array_equal(found.ids, rows.ids)


def test_every_run_has_its_symbol() -> None:
    lengths = np.arange(1, 5000)
    shortest, bits = run_lengths(np.arange(n_run_symbols(5000)))
    assert shortest[0] == 1
    np.testing.assert_array_equal(np.diff(shortest), 1 << bits[:-1])
    found = np.searchsorted(shortest, lengths, side="right") - 1
    assert [n_run_symbols(int(length)) - 1 for length in lengths] == found.tolist()


@pytest.mark.parametrize("count", [2, 4, 9])
def test_levels_are_as_near_as_scikit_learns(count: int) -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.exponential(size=400), rng.normal(5, 0.3, 300)]).astype(np.float32)
    rows = Nonzeros(np.array([700]), np.arange(700), values)
    levels = learn_levels(rows, rows, 700, count, scales_room=0)
    mine = float(np.square(levels.round(rows).values - values).sum())
    assert len(levels) <= count - 1
    theirs = KMeans(count - 1, n_init=5, random_state=0).fit(values[:, None]).inertia_
    assert mine < 1.2 * theirs


def test_features_of_other_scales_have_levels_of_their_own() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 3)) * [1e-3, 1.0, 1e4] + [0.5, 0.0, 1e6]
    rows = nonzeros_of_dense(x.astype(np.float32), Schema.full(3))
    levels = learn_levels(rows, rows, 3, 16, scales_room=100)
    read = levels.round(rows).values.reshape(500, 3)
    assert levels.scales is not None
    assert (np.abs(read - x).mean(axis=0) < 0.2 * x.std(axis=0)).all()
    assert learn_levels(rows, rows, 3, 16, scales_room=10).scales is None


def test_exact_levels_know_what_they_do_not_hold() -> None:
    levels = exact_levels(np.array([3, 1, 3], dtype=np.float32))
    assert levels is not None
    rows = Nonzeros(np.array([3]), np.arange(3), np.array([1, 2, 3], dtype=np.float32))
    assert levels.numbers(rows).tolist() == [1, 0, 2]
    assert exact_levels(np.arange(2000, dtype=np.float32)) is None
