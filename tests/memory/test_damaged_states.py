"""A saved store is what a store can have been, or it is refused: damage is found when loading, not later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from smartcl.memory import FeatureWatch, SampleStore, Schema
from smartcl.memory.column_order import AS_THEY_ARE, ColumnOrder
from smartcl.memory.grading import choose_levels, learn_code
from smartcl.memory.row_bytes import Layout, ValueType, possible_formats
from smartcl.memory.schema import MAX_VERSIONS
from smartcl.saving.saved import StateError

N = 20


def layout_code(layout: Layout, kind: ValueType) -> int:
    return layout * len(ValueType) + kind


def rows_of(kind: str, n_features: int = N) -> np.ndarray:
    """Rows that take a layout each: dense, mask, gaps, and (of a wide stream) ids."""
    rng = np.random.default_rng(0)
    dense = rng.integers(2, 200, (3, n_features))
    mask = dense * (rng.random((3, n_features)) < 0.5)
    few = np.zeros((3, n_features), dtype=int)
    few[:, [1, 5]] = [7, 9]
    far = np.zeros((3, n_features), dtype=int)
    far[:, [2, n_features - 1]] = 1
    return {"dense": dense, "mask": mask, "gaps": few, "ids": far}[kind].astype(np.float32)


def store_of(kind: str, n_features: int = N, whole: str | None = None, as_csr: bool = False) -> SampleStore:
    x = rows_of(kind, n_features)
    empty = SampleStore.empty(n_features, as_csr, whole)
    new = empty.pack(sparse.csr_array(x) if as_csr else torch.from_numpy(x), [0, 1, 2], score=np.ones(3, np.float32))
    return empty.join(new)


def coded_store(
    precision: str | int, as_csr: bool = False, odd: bool = False, order: ColumnOrder = AS_THEY_ARE
) -> SampleStore:
    """Rows in code, some of them under an older version; if ``odd``, with one that the code cannot write."""
    x = np.concatenate([rows_of("mask", 60), rows_of("gaps", 60), rows_of("ids", 60)])
    if odd:
        x[4, 5] = 1e9
    y, score = np.arange(9) % 3, np.ones(9, np.float32)
    empty = SampleStore.empty(60, as_csr)
    store = empty.pack(sparse.csr_array(x) if as_csr else torch.from_numpy(x), y, score=score)
    learned_from = store.take(np.arange(4 if odd else 9))
    levels = choose_levels(learned_from, learned_from, precision, room=1000)
    assert levels is not None
    store = store.recode(learn_code(learned_from, levels, 1000, order))
    store = store.restrict(Schema.of(np.arange(60) > 1)).extend(Schema.full(60))
    return store.join(store.take(np.arange(3)))


def versioned() -> SampleStore:
    """Three rows that do not know feature 0, three that do."""
    store = store_of("mask").restrict(Schema.of(np.arange(N) > 0)).extend(Schema.full(N))
    return store.join(store.pack(torch.from_numpy(rows_of("dense")), [0, 1, 2], score=np.ones(3, np.float32)))


def changed(state: dict[str, Any], path: str, change: Callable[[Any], Any]) -> dict[str, Any]:
    """A copy of the state with what is at the path changed."""
    first, _, rest = path.partition(".")
    return {**state, first: changed(state[first], rest, change) if rest else change(state[first])}


def put(index: object, value: object) -> Callable[[Any], Any]:
    """The array with another value at an index."""

    def change(array: np.ndarray) -> np.ndarray:
        copy = array.copy()
        copy[index] = value
        return copy

    return change


CODED = coded_store(4)
FLOAT_DENSE = layout_code(Layout.DENSE, ValueType.FLOAT32)
WIDE = 1000

DAMAGES: list[tuple[SampleStore, str, Callable[[Any], Any], str]] = [
    (store_of("mask"), "rows.arena", lambda a: a.astype(np.int8), "store.rows.arena holds int8, must hold uint8"),
    (store_of("mask"), "rows.arena", lambda a: a[:-1], "rows.arena holds a row too short or too long"),
    (store_of("mask"), "rows.arena", lambda a: np.append(a, np.uint8(1)), "rows.arena holds a row too short or too"),
    (store_of("mask"), "rows.arena", put(0, 255), "rows.arena holds a row too short or too long"),
    (store_of("mask"), "rows.arena", put(2, 1), "rows.arena holds a row too short or too long"),
    (store_of("gaps"), "rows.arena", put(-1, 0), "rows.arena holds a row that writes zeros"),
    (store_of("dense"), "rows.formats", put(0, FLOAT_DENSE), "rows.arena holds a row too short or too long"),
    (store_of("dense"), "rows.formats", put(0, 0), "rows.arena holds a row of a format that there is not"),
    (store_of("dense"), "rows.formats", put(0, 20), "rows.arena holds a row of a format that there is not"),
    (store_of("dense"), "rows.formats", lambda a: a[:2], r"rows.formats has the shape \(2,\), must be \(3,\)"),
    (store_of("gaps"), "rows.arena", put(0, 200), "rows.arena holds a row with features out of its schema"),
    (store_of("gaps"), "rows.arena", lambda a: a[:-1], "rows.arena holds a row too short or too long"),
    (store_of("gaps", 100_000, as_csr=True), "rows.formats", put(0, 1), "rows.arena holds a row of a format"),
    (store_of("ids", WIDE), "rows.arena", put([0, 1], [255, 255]), "rows.arena holds a row whose feature ids do not"),
    (store_of("ids", WIDE), "rows.arena", put([2, 3], [255, 255]), "rows.arena holds a row with features out of its"),
    (store_of("dense"), "rows.offsets", put(0, 1), "rows.offsets must ascend from 0"),
    (store_of("dense"), "rows.offsets", put(1, 50), "rows.offsets must ascend from 0"),
    (store_of("dense"), "rows.offsets", put(2, 2**32 - 1), "rows.offsets must ascend from 0"),
    (store_of("dense"), "rows.offsets", lambda a: a.astype(np.int64), "rows.offsets holds int64, must hold uint32"),
    (store_of("dense"), "rows.offsets", lambda a: a[:2], "rows.offsets has the shape"),
    (SampleStore.empty(N, False), "rows.arena", lambda a: np.ones(3, np.uint8), "rows.arena must be empty where there"),
    (store_of("mask"), "labels", lambda a: a.astype(np.int64), "store.labels holds int64, must hold uint8 or"),
    (store_of("mask"), "labels", put(0, 9), "store.labels must be below the number of classes, 3; one is 9"),
    (store_of("mask"), "labels", lambda a: a[:2], "store.extra.score must be an array with numbers for each of 2"),
    (store_of("mask"), "extra.score", lambda a: a[:2], "store.extra.score must be an array with numbers for each of 3"),
    (store_of("mask"), "extra.score", lambda a: a.tolist(), "store.extra.score must be an array"),
    (store_of("mask"), "extra.score", lambda a: a.astype(object), "store.extra.score must be an array"),
    (store_of("mask"), "extra.score", put(0, np.nan), "store.extra.score must be numbers"),
    (store_of("mask"), "extra", lambda _: None, "store.extra must be a dict"),
    (store_of("mask"), "n_features", lambda _: 30, r"store.schemas has the shape \(1, 3\), must be \(any, 4\)"),
    (store_of("mask"), "n_features", lambda _: 0, "store.n_features must be at least 1"),
    (store_of("mask"), "n_features", lambda _: "20", "store.n_features must be a whole number"),
    (store_of("mask"), "sparse", lambda _: 1, "store.sparse must be true or false"),
    (store_of("mask"), "whole_dtype", lambda _: "object", "store.whole_dtype must be one of bool"),
    (store_of("mask"), "whole_dtype", lambda _: "uint8", "store.rows.values is missing"),
    (store_of("mask"), "rows", lambda _: [], "store.rows must be a dict"),
    (store_of("mask"), "schemas", put((0, 2), 255), "store.schemas must differ, and have features of the last"),
    (store_of("mask"), "schemas", put((0, 0), 127), "store.rows.arena holds a row"),
    (store_of("mask"), "schemas", lambda a: a[:0], "store.schemas must be 1 to 8"),
    (store_of("mask"), "schemas", lambda a: np.tile(a, (MAX_VERSIONS + 1, 1)), "store.schemas must be 1 to 8"),
    (store_of("mask", as_csr=True), "schemas", lambda a: np.tile(a, (2, 1)), "store.schemas must be 1 to 8, and 1 for"),
    (store_of("mask"), "schemas", lambda a: np.tile(a, (2, 1)), "store.schemas must differ"),
    (store_of("mask"), "versions", put(0, 1), "store.versions must be numbers of the 1 schemas"),
    (versioned(), "versions", put(5, 2), "store.versions must be numbers of the 2 schemas"),
    (
        versioned(),
        "versions",
        put(slice(None), 1),
        "store.versions must be numbers of the 2 schemas, and leave out none",
    ),
    (versioned(), "versions", put(slice(None), 0), "store.rows.arena holds a row with features that its version"),
    (versioned(), "schemas", lambda a: a[::-1], "store.schemas must differ, and have features of the last"),
    (store_of("mask", whole="uint8"), "rows.values", lambda a: a[:, 1:], "store.rows.values has the shape"),
    (store_of("mask", whole="uint8"), "rows.values", lambda a: a * 1.0, "store.rows.values holds float64, must hold"),
    (store_of("mask", whole="float32"), "rows.values", put((0, 0), np.inf), "store.rows.values must be finite"),
    (store_of("mask", whole="float64"), "rows.values", put((0, 0), 0.1), "store.rows.values must be exact in single"),
    (store_of("mask", whole="float64"), "rows.values", put((0, 0), 1e300), "store.rows.values must be exact in single"),
    (store_of("mask", whole="uint8"), "schemas", put((0, 0), 127), "store.schemas must have all features where"),
    (CODED, "rows.arena", lambda a: a[:-1], "rows.lengths must be those of rows that take"),
    (CODED, "rows.arena", lambda a: a ^ 255, "rows.arena holds a row"),
    (CODED, "rows.lengths", lambda a: a[::-1], "rows.arena holds a row that does not end where it should"),
    (CODED, "rows.lengths", lambda a: a.astype(np.uint16), "rows.lengths must be those of rows"),
    (CODED, "rows.formats", lambda _: np.full(12, 255, np.uint8), "rows.formats must be there for rows that are not"),
    (CODED, "rows.code.levels.values", lambda a: a[::-1], "levels.values must be 1 to 1024 numbers that ascend"),
    (CODED, "rows.code.levels.values", put(0, 0), "levels.values must be 1 to 1024 numbers that ascend"),
    (CODED, "rows.code.levels.values", lambda a: a[:2], "rows.code.p"),
    (CODED, "rows.code.levels.scales", lambda _: np.zeros((2, 60), np.float32), "levels.scales must be positive"),
    (CODED, "rows.code.packed_lengths", put(0, 0), "rows.code.packed_lengths must be the lengths of complete codes"),
    (CODED, "rows.code.n_classes", lambda _: 9, "rows.code.n_classes must be from 0 to 4"),
    (CODED, "rows.code.pairs", lambda _: np.full((3, 2), 255, np.uint8), "rows.code.pairs must be at most 256"),
    (coded_store("exact", odd=True), "rows.formats", put(4, 254), "rows.arena holds a row of a format that there is"),
]


@pytest.mark.parametrize(
    ("store", "path", "change", "message"), DAMAGES, ids=[f"{i} {d[1]}" for i, d in enumerate(DAMAGES)]
)
def test_damage_is_refused_by_name(store: SampleStore, path: str, change: Callable[[Any], Any], message: str) -> None:
    state = store.state_dict()
    with pytest.raises(StateError, match=message) as error:
        SampleStore.from_state(changed(state, path, change), n_classes=3)
    assert "\n" not in str(error.value)
    SampleStore.from_state(state, n_classes=3)


def test_rows_of_any_precision_must_be_finite() -> None:
    values = torch.tensor([[0.5, 1e-3, 7.0]])
    state = SampleStore.empty(3, False).pack(values, [0]).state_dict()
    for damage in (np.inf, np.nan):
        arena = np.array([values[0, 0], values[0, 1], damage], dtype="<f4").view(np.uint8)
        with pytest.raises(StateError, match=r"rows\.arena must be finite"):
            SampleStore.from_state(changed(state, "rows.arena", lambda _, arena=arena: arena))


def test_a_watch_is_checked() -> None:
    with pytest.raises(StateError, match=r"watch\.dead_for holds int64"):
        FeatureWatch.from_state({"dead_for": np.zeros(3, dtype=np.int64)})
    with pytest.raises(StateError, match=r"watch.dead_for has the shape \(3,\), must be \(4,\)"):
        FeatureWatch.from_state({"dead_for": np.zeros(3, dtype=np.uint8)}, n_features=4)


def test_every_format_that_rows_take_is_possible() -> None:
    taken = {int(code) for kind in ("dense", "mask", "gaps", "ids") for code in store_of(kind, WIDE).rows.formats}
    assert taken <= set(possible_formats(positional=True))
    assert set(possible_formats(positional=False)) == set(range(8, 20))


SOUND = [
    *(store_of(kind, width) for kind in ("dense", "mask", "gaps", "ids") for width in (N, WIDE)),
    *(store_of(kind, WIDE, as_csr=True) for kind in ("gaps", "ids")),
    *(store_of("mask", whole=dtype) for dtype in ("uint8", "float32")),
    versioned(),
    *(coded_store(precision, as_csr) for precision in ("exact", 2, 5) for as_csr in (False, True)),
    coded_store("exact", odd=True),
    coded_store(3, as_csr=True, order=ColumnOrder(np.array([59, 2, 5, 1], dtype=np.uint8))),
    SampleStore.empty(N, sparse=False),
]


@given(which=st.sampled_from(SOUND), seed=st.integers(0, 2**32 - 1), times=st.integers(1, 3))
@settings(max_examples=200)
def test_whatever_is_not_refused_can_be_used(which: SampleStore, seed: int, times: int) -> None:
    rng = np.random.default_rng(seed)
    state = which.state_dict()
    for _ in range(times):
        state = with_random_damage(state, rng)
    try:
        store = SampleStore.from_state(state, n_classes=3)
    except StateError:
        return
    use(store)


def with_random_damage(state: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """The state with some entry lost, replaced, cut, of another type or with other bytes."""
    name = str(rng.choice(list(state))) if state else ""
    value = state.get(name)
    if isinstance(value, dict) and rng.random() < 0.9:
        return {**state, name: with_random_damage(value, rng)}
    if not isinstance(value, np.ndarray) or rng.random() < 0.05:
        strange = [None, -1, 2**40, "x", [], {}, True, False, 7, np.zeros(3), np.zeros((1, 3), np.uint8)]
        others = {key: item for key, item in state.items() if key != name}
        return others if rng.random() < 0.2 else {**others, name: strange[rng.integers(len(strange))]}
    if rng.random() < 0.2:
        return {**state, name: value[: rng.integers(0, len(value) + 1)]}
    if rng.random() < 0.1:
        with np.errstate(invalid="ignore"):
            return {**state, name: value.astype(rng.choice(["uint8", "uint16", "uint32", "float32", "int64"]))}
    copy = np.ascontiguousarray(value)
    raw = np.frombuffer(copy.tobytes(), np.uint8).copy()
    if len(raw):
        raw[rng.integers(0, len(raw), 1 + int(rng.integers(3)))] = rng.integers(0, 256)
    return {**state, name: raw.view(copy.dtype).reshape(copy.shape)}


def use(store: SampleStore) -> None:
    """All that a memory does with a store."""
    index = np.arange(len(store))
    got = store.gather(index)
    values = got.x if isinstance(got.x, torch.Tensor) else torch.from_numpy(got.x.toarray())
    assert torch.isfinite(values).all()
    assert (got.y < 3).all()
    assert got.missing is None or not values[got.missing].any()
    assert store.nbytes == store.sizes.sum() + store.overhead
    again = SampleStore.from_state(store.state_dict()).take(index[::-1])
    if store.rows.whole_dtype is None:
        again = again.restrict(Schema.of(np.arange(store.n_features) % 2 == 0)).extend(Schema.full(store.n_features))
    again.join(again).gather(index)
