"""Round trips bit for bit, and the cost of a row against every format priced the slow way."""

import math

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy import sparse

from smartcl.memory.nonzeros import nonzeros_of
from smartcl.memory.row_bytes import Layout, ValueType, decode_dense, decode_nonzeros, encode, pair
from smartcl.memory.schema import Schema

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "float16", "float32", "float64"]
INTERESTING = [0.0, -0.0, 1.0, -1.0, 2.0, 255.0, 256.0, 0.5, 1 / 3, 65504.0, 65536.0, 2.0**-24, 1e-45, -3e38]


@st.composite
def matrices(draw: st.DrawFn) -> NDArray[np.float32]:
    """Rows of all sorts: all zero, all ones, small integers, halves, arbitrary float32."""
    n, width = draw(st.integers(0, 6)), draw(st.integers(1, 40))
    anything = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.sampled_from(INTERESTING)
    sorts = [st.just(0.0), st.sampled_from([0.0, 1.0]), st.integers(0, 255).map(float), st.just(0.5), anything]
    rows = []
    for _ in range(n):
        fill = draw(st.sampled_from([0.0, 1.0]))
        row = hnp.arrays(np.float32, width, elements=draw(st.sampled_from(sorts)), fill=st.just(fill))
        rows.append(draw(row))
    return np.array(rows, dtype=np.float32).reshape(n, width)


def schema_for(draw: st.DrawFn, width: int) -> Schema:
    return Schema.of(draw(hnp.arrays(bool, width)) | draw(st.booleans()))


def same_bits(got: NDArray[np.float32], expected: NDArray[np.float32]) -> bool:
    """Equal bit for bit, -0.0 read as 0.0."""
    return got.dtype == np.float32 and (got + np.float32(0)).tobytes() == (expected + np.float32(0)).tobytes()


@given(st.data(), matrices(), st.booleans(), st.booleans())
def test_rows_survive_bit_for_bit(data, x: NDArray[np.float32], as_csr: bool, positional: bool) -> None:
    schema = schema_for(data.draw, x.shape[1])
    rows = encode(nonzeros_of(sparse.csr_array(x) if as_csr else torch.from_numpy(x), schema), schema, positional)
    assert rows.lengths.sum() == rows.arena.size
    assert same_bits(decode_dense(rows, schema), x[:, schema.features])
    back = decode_nonzeros(rows, schema).to_csr(x.shape[1])
    assert same_bits(back.toarray(), np.where(schema.mask, x, np.float32(0)))
    assert back.nnz == np.count_nonzero(x[:, schema.features])
    assert not np.signbit(decode_dense(rows, schema)[x[:, schema.features] == 0]).any()


@pytest.mark.parametrize("dtype", DTYPES)
@given(seed=st.integers(0, 2**32 - 1))
def test_native_dtypes_arrive_as_float32(dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = (rng.normal(size=(4, 30)) * rng.integers(0, 2, size=(4, 30)) * 50).clip(0, 100).astype(dtype)
    schema = Schema.full(30)
    natives = [torch.from_numpy(x)] if dtype == "float16" else [torch.from_numpy(x), sparse.csr_array(x)]
    for native in natives:
        rows = encode(nonzeros_of(native, schema), schema, positional=True)
        np.testing.assert_array_equal(decode_dense(rows, schema), x.astype(np.float32))


def cheapest(row: NDArray[np.float32], schema: Schema, positional: bool) -> int:
    """The smallest number of bytes over all formats, written out."""
    values = [float(row[i]) for i in schema.features if row[i] != 0]
    ids = [int(i) for i in schema.features if row[i] != 0]
    if all(value == 1 for value in values):
        width = 0
    elif all(value in range(256) for value in values):
        width = 1
    elif all(abs(value) <= 65504 and float(np.float16(value)) == value for value in values):
        width = 2
    else:
        width = 4
    costs = [len(values) * (4 + width)]
    if max(ids, default=0) < 65536:
        costs.append(len(values) * (2 + width))
    if all(b - a <= 256 for a, b in zip([-1, *ids], ids, strict=False)):
        costs.append(len(values) * (1 + width))
    if positional:
        costs += [len(schema) * max(width, 1), math.ceil(len(schema) / 8) + len(values) * width]
    return min(costs)


@given(st.data(), matrices(), st.booleans())
def test_each_row_takes_the_smallest_format(data, x: NDArray[np.float32], positional: bool) -> None:
    schema = schema_for(data.draw, x.shape[1])
    rows = encode(nonzeros_of(torch.from_numpy(x), schema), schema, positional)
    assert rows.lengths.tolist() == [cheapest(row, schema, positional) for row in x]


@example([{255}, {256}, {3, 259}, {3, 260}, {65_535}, {65_536}, {300, 65_536}], 7.0)
@given(st.lists(st.sets(st.integers(0, 200_000), max_size=12), max_size=5), st.sampled_from([1.0, 7.0, 0.5, 0.1]))
def test_wide_rows_are_written_by_id(rows_of_ids: list[set[int]], value: float) -> None:
    x = sparse.lil_array((len(rows_of_ids), 200_001), dtype=np.float32)
    for row, ids in enumerate(rows_of_ids):
        for feature in ids:
            x[row, feature] = value
    schema = Schema.full(200_001)
    rows = encode(nonzeros_of(x.tocsr(), schema), schema, positional=False)
    back = decode_nonzeros(rows, schema).to_csr(200_001)
    assert (back != x.tocsr()).nnz == 0
    for ids, length, code in zip(rows_of_ids, rows.lengths, rows.formats, strict=True):
        layout, kind = pair(int(code))
        largest_step = max(np.diff(sorted({-1, *ids})), default=1)
        expected = Layout.GAPS8 if largest_step <= 256 else Layout.INDEX16 if max(ids) < 2**16 else Layout.INDEX32
        assert layout is expected
        assert length == len(ids) * ({2: 1, 3: 2, 4: 4}[layout] + {0: 0, 1: 1, 2: 2, 3: 4}[kind])


def test_an_image_costs_a_mask_and_its_non_zero_pixels() -> None:
    rng = np.random.default_rng(0)
    x = torch.zeros(50, 784, dtype=torch.uint8)
    for row in x:
        row[torch.from_numpy(rng.permutation(784)[:150])] = torch.from_numpy(rng.integers(2, 256, 150).astype(np.uint8))
    schema = Schema.full(784)
    rows = encode(nonzeros_of(x, schema), schema, positional=True)
    assert set(rows.lengths) == {98 + 150}
    assert {pair(code) for code in rows.formats.tolist()} == {(Layout.MASK, ValueType.UINT8)}


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_csr_oddities_are_put_right(dtype: str) -> None:
    data = np.array([200, 100, 0, 3], dtype=dtype)  # a duplicate whose sum exceeds uint8, and an explicit zero
    x = sparse.csr_array((data, np.array([5, 5, 2, 1]), np.array([0, 4])), shape=(1, 8))
    rows = nonzeros_of(x, Schema.full(8))
    assert rows.ids.tolist() == [1, 5]
    assert rows.values.tolist() == [3, 300]
    assert x.data.tolist() == [200, 100, 0, 3]


def test_a_schema_without_features_costs_nothing() -> None:
    schema = Schema.of(np.zeros(9, dtype=bool))
    rows = encode(nonzeros_of(torch.ones(3, 9), schema), schema, positional=True)
    assert rows.arena.size == 0
    assert decode_dense(rows, schema).shape == (3, 0)
    assert decode_nonzeros(rows, schema).counts.tolist() == [0, 0, 0]
