import copy
import pickle
import tracemalloc
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse

from smartcl.memory import Budget, SampleStore, Schema, describe
from smartcl.memory.packed_rows import PackedRows
from smartcl.memory.row_bytes import Layout, pair
from smartcl.memory.schema import MAX_VERSIONS


def images(n: int, seed: int = 0) -> torch.Tensor:
    """Rows of 784 pixels, 100 to 200 of them not zero."""
    rng = np.random.default_rng(seed)
    x = np.zeros((n, 784), dtype=np.uint8)
    for row in x:
        count = rng.integers(100, 200)
        row[rng.permutation(784)[:count]] = rng.integers(2, 256, count)
    return torch.from_numpy(x)


def filled(x: torch.Tensor | NDArray[np.float32], **extra: NDArray[np.float32]) -> SampleStore:
    rows = torch.as_tensor(x)
    return SampleStore.empty(rows.shape[1], sparse=False).pack(rows, np.arange(len(rows)) % 2, **extra)


def schema(*bits: int) -> Schema:
    return Schema.of(np.array(bits, dtype=bool))


def test_an_image_costs_its_mask_its_pixels_and_its_columns() -> None:
    x = images(50)
    store = filled(x, score=np.zeros(50, dtype=np.float32))
    offset, row_format, label, score = 4, 1, 1, 4
    columns = offset + row_format + label + score
    assert store.sizes.tolist() == [98 + int(count) + columns for count in (x != 0).sum(dim=1)]
    assert store.overhead == 0


@pytest.mark.parametrize("as_csr", [False, True])
@pytest.mark.parametrize(("dtype", "itemsize"), [("uint8", 1), ("float32", 4), ("float64", 8)])
def test_whole_rows_cost_every_feature_and_a_label(as_csr: bool, dtype: str, itemsize: int) -> None:
    x = images(20)
    rows = sparse.csr_array(x.numpy()) if as_csr else x
    store = SampleStore.empty(784, sparse=as_csr, whole_dtype=dtype)
    store = store.join(store.pack(rows, torch.zeros(20, dtype=torch.long)))
    assert store.sizes.tolist() == [784 * itemsize + 1] * 20
    assert store.nbytes == 20 * (784 * itemsize + 1)
    got = store.gather(np.array([3, 3, 7])).x
    dense = got.numpy() if isinstance(got, torch.Tensor) else got.toarray()
    np.testing.assert_array_equal(dense, x[[3, 3, 7]].numpy().astype(np.float32))


def test_whole_rows_keep_every_feature_and_every_value() -> None:
    store = SampleStore.empty(3, sparse=False, whole_dtype="uint8")
    with pytest.raises(ValueError, match="keeps every feature"):
        store.restrict(schema(1, 1, 0))
    for value in (0.5, -1.0, 256.0):
        with pytest.raises(ValueError, match=f"x holds {value}, which uint8 cannot"):
            store.pack(torch.tensor([[0.0, 1.0, value]]), [0])
    halves = SampleStore.empty(1, sparse=False, whole_dtype="float16").pack(torch.tensor([[-0.0]]), [0])
    assert not torch.signbit(halves.gather(np.array([0])).x).any()


@pytest.mark.parametrize(
    "index",
    [
        [],
        [0],
        [9],
        [0, 1, 2],
        [0, 2, 3, 7, 8, 9],
        [9, 8, 7],
        [5, 5, 6, 6],
        [8, 9, 0, 1],
        [*range(10)],
    ],
)
@pytest.mark.parametrize("whole", [None, "uint8"])
def test_take_is_a_selection_of_rows(index: list[int], whole: str | None) -> None:
    x = images(10)
    store = SampleStore.empty(784, sparse=False, whole_dtype=whole).pack(x, np.arange(10))
    taken = store.take(np.array(index, dtype=np.int64))
    assert torch.equal(taken.gather(np.arange(len(index))).x, x[index].float())
    assert taken.labels.tolist() == index
    assert taken.sizes.tolist() == store.sizes[index].tolist()
    assert taken.nbytes == store.sizes[index].sum()


def test_nothing_can_be_changed_in_place() -> None:
    x, score, y = images(4), np.ones(4, dtype=np.float32), torch.zeros(4, dtype=torch.long)
    store = SampleStore.empty(784, sparse=False).pack(x, y, score=score)
    before = store.gather(np.arange(4)).x
    store.gather(np.arange(4)).x.fill_(7)
    x.fill_(3)
    score.fill(3)
    y.fill_(3)
    assert torch.equal(store.gather(np.arange(4)).x, before)
    assert store.extra["score"].tolist() == [1, 1, 1, 1]
    assert store.labels.tolist() == [0, 0, 0, 0]
    assert isinstance(store.rows, PackedRows)
    for array in (store.rows.arena, store.rows.offsets, store.rows.formats, store.labels, store.extra["score"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(FrozenInstanceError):
        store.sparse = True  # type: ignore[misc]


def test_a_feature_that_returns_is_missing_in_older_rows_and_zero_in_newer_ones() -> None:
    store = filled([[5.0, 0.0, 7.0]]).restrict(schema(1, 1, 0))
    store = store.extend(Schema.full(3))
    store = store.join(store.pack(torch.tensor([[4.0, 3.0, 0.0]]), [1]))
    x, y, missing = store.gather(np.array([0, 1]))
    assert isinstance(x, torch.Tensor)
    assert x.tolist() == [[5, 0, 0], [4, 3, 0]]
    assert y.tolist() == [0, 1]
    assert missing is not None
    assert missing.tolist() == [[False, False, True], [False, False, False]]
    assert store.gather(np.array([1, 1])).missing is None


def test_a_version_lives_as_long_as_it_has_rows() -> None:
    old = filled([[5.0, 0.0, 7.0]]).restrict(schema(1, 1, 0)).extend(Schema.full(3))
    both = old.join(old.pack(torch.ones(1, 3), [0]))
    assert both.schemas == (schema(1, 1, 0), Schema.full(3))
    assert both.versions is not None
    newest = both.take(np.array([False, True]))
    assert newest.schemas == (Schema.full(3),)
    assert newest.versions is None


def test_past_the_cap_old_dense_versions_are_intersected() -> None:
    width = MAX_VERSIONS + 5
    x = torch.arange(1.0, width + 1).repeat(1, 1)
    masks = np.tri(width, dtype=bool)  # version i knows the features up to i
    store = SampleStore.empty(width, sparse=False).restrict(Schema.of(masks[0]))
    for mask in masks:
        store = store.extend(Schema.of(mask))
        store = store.join(store.pack(x, [0]))
    assert len(store.schemas) == MAX_VERSIONS
    got = store.gather(np.arange(width))
    assert got.missing is not None
    known = ~got.missing.numpy()
    merged = width - MAX_VERSIONS + 1
    np.testing.assert_array_equal(known[:merged], masks[[0] * merged])
    np.testing.assert_array_equal(known[merged:], masks[merged:])
    np.testing.assert_array_equal(got.x.numpy(), np.where(known, x.numpy(), 0))


def test_past_the_cap_a_sparse_store_loses_nothing() -> None:
    store = SampleStore.empty(10, sparse=True)
    expected = np.zeros((2 * MAX_VERSIONS, 10 + 2 * MAX_VERSIONS), dtype=np.float32)
    for row in range(2 * MAX_VERSIONS):
        expected[row, : 10 + row] = 1 + np.arange(10 + row)
        store = store.widen(10 + row)
        store = store.join(store.pack(sparse.csr_array(expected[[row], : 10 + row]), [0]))
    assert isinstance(store.rows, PackedRows)
    assert all(pair(int(code))[0] < Layout.GAPS8 for code in store.rows.formats)
    assert len(store.schemas) <= MAX_VERSIONS
    got = store.widen(expected.shape[1]).gather(np.arange(len(store)))
    assert not isinstance(got.x, torch.Tensor)
    np.testing.assert_array_equal(got.x.toarray(), expected)


def test_rows_written_by_id_need_no_versions() -> None:
    store = SampleStore.empty(100_000, sparse=True)
    x = sparse.csr_array(([1.0, 2.0], ([0, 0], [7, 99_999])), shape=(1, 100_000))
    store = store.join(store.pack(x, [0])).widen(200_000)
    assert store.schemas == (Schema.full(200_000),)
    assert store.nbytes == store.sizes.sum() == 2 * (4 + 1) + 4 + 1 + 1


def test_repacking_never_makes_the_whole_memory_dense() -> None:
    store = filled(images(500).repeat(40, 1))
    half = Schema.of(np.arange(784) % 2 == 0)
    tracemalloc.start()
    restricted = store.restrict(half)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000 * 784 * 4 / 4
    index = np.arange(0, 20_000, 777)
    assert torch.equal(restricted.gather(index).x, store.gather(index).x[:, ::2])


def test_labels_and_joins_widen() -> None:
    store = SampleStore.empty(2, sparse=False)
    few = store.pack(torch.ones(2, 2), [0, 255])
    many = store.pack(torch.ones(1, 2), [256])
    joined = few.join(many)
    assert (few.labels.dtype, joined.labels.dtype) == (np.uint8, np.uint16)
    assert joined.labels.tolist() == [0, 255, 256]
    assert joined.take(np.array([0])).labels.dtype == np.uint16


def test_a_join_of_different_schemas_has_the_features_of_both() -> None:
    x = torch.tensor([[1.0, 2.0, 3.0]])
    joined = filled(x).restrict(schema(1, 1, 0)).join(filled(x).restrict(schema(0, 1, 1)))
    got = joined.gather(np.array([0, 1]))
    assert joined.features.tolist() == [0, 1, 2]
    assert got.x.tolist() == [[1, 2, 0], [0, 2, 3]]
    assert got.missing is not None
    assert got.missing.tolist() == [[False, False, True], [True, False, False]]


def test_columns_are_those_of_whichever_store_has_samples() -> None:
    scored, empty = filled(images(3), score=np.arange(3.0)), SampleStore.empty(784, sparse=False)
    assert empty.join(scored).extra["score"].tolist() == [0, 1, 2]
    assert scored.join(empty).extra["score"].tolist() == [0, 1, 2]
    more = scored.with_extra(seen=np.arange(3, dtype=np.uint8))
    assert sorted(more.extra) == ["score", "seen"]
    assert (more.sizes - scored.sizes).tolist() == [1, 1, 1]
    assert more.with_extra(score=np.ones(3)).extra["score"].tolist() == [1, 1, 1]


def test_a_store_survives_being_saved_pickled_and_copied() -> None:
    store = filled(images(5), score=np.arange(5.0)).restrict(Schema.of(np.arange(784) < 400))
    store = store.extend(Schema.full(784)).join(filled(images(5, seed=1), score=np.arange(5.0)))
    for again in (SampleStore.from_state(store.state_dict()), pickle.loads(pickle.dumps(store)), copy.deepcopy(store)):
        got, expected = again.gather(np.arange(10)), store.gather(np.arange(10))
        assert torch.equal(got.x, expected.x)
        assert torch.equal(got.y, expected.y)
        assert torch.equal(got.missing, expected.missing)
        assert again.nbytes == store.nbytes


def test_describe() -> None:
    store = filled(images(1200)).restrict(Schema.of(np.arange(784) < 391))
    size = f"{store.nbytes / 1000:.3g} kB"
    assert describe(store) == f"1,200 samples in {size}, 391 of 784 features kept"
    assert describe(store, Budget(10**6)) == f"1,200 samples in {size} of 1 MB, 391 of 784 features kept"


def test_bad_input_is_refused() -> None:
    store = filled(images(3), score=np.zeros(3))
    with pytest.raises(ValueError, match=r"x must have 784 features.*got shape \(1, 800\)"):
        store.pack(torch.ones(1, 800), [0])
    with pytest.raises(ValueError, match="y must be one label per row: 2 rows, 1 labels"):
        store.pack(images(2), [0])
    with pytest.raises(ValueError, match="y must be integers from 0 on, got int64 with -1 in it"):
        store.pack(images(2), [0, -1])
    with pytest.raises(ValueError, match="y must be integers from 0 on, got float64"):
        store.pack(images(1), [0.5])
    with pytest.raises(ValueError, match="score must be one number or row of numbers for each of 2 samples"):
        store.pack(images(2), [0, 1], score=np.zeros(3))
    with pytest.raises(ValueError, match="note must be one number"):
        store.with_extra(note=np.array([{}, {}, {}]))
    with pytest.raises(ValueError, match="agree on their columns"):
        store.join(filled(images(1)))
    with pytest.raises(ValueError, match="stores must be of a kind"):
        store.join(SampleStore.empty(784, sparse=True))
    with pytest.raises(ValueError, match="schema must have all features of the current one"):
        store.extend(Schema.of(np.arange(784) < 10))
    with pytest.raises(ValueError, match="can only grow"):
        store.widen(10)
    with pytest.raises(ValueError, match="can only grow"):
        SampleStore.empty(784, sparse=False, whole_dtype="uint8").widen(10)
    for index in ([3], [-1]):
        with pytest.raises(IndexError, match="positions must be from 0 to 2"):
            store.gather(np.array(index))
    with pytest.raises(IndexError, match="one bool for each of 3 samples"):
        store.take(np.array([True]))
