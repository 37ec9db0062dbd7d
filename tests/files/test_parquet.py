"""Parquet files that hold what no table of ours can, or are damaged."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from smartcl.files.table_columns import day_of, read_columns

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


N = 3
COLUMNS_OF_NO_USE = {
    "list": lambda: pa.array([["A"]] * N),
    "struct": lambda: pa.array([{"a": 1}] * N),
    "map": lambda: pa.array([[("a", 1)]] * N, pa.map_(pa.string(), pa.int64())),
    "binary": lambda: pa.array([b"A"] * N),
    "duration": lambda: pa.array([1] * N, pa.duration("s")),
    "time": lambda: pa.array([1] * N, pa.time32("ms")),
}


@pytest.mark.parametrize("kind", COLUMNS_OF_NO_USE)
def test_parquet_columns_of_no_use_are_named_with_their_type(kind: str, tmp_path: Path) -> None:
    parquet.write_table(pa.table({"city": COLUMNS_OF_NO_USE[kind](), "n": [1] * N}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=rf"t.parquet, column 'city': expected texts, numbers or dates, got {kind}"):
        read_columns(tmp_path / "t.parquet", ("city", "n"))
    assert len(read_columns(tmp_path / "t.parquet", ("n",))) == 1


@pytest.mark.parametrize(("day", "said"), [(2_932_897, "'10000-01-01'"), (-800_000, "'-221-09-04'"), (None, "None")])
@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("s"), pa.date64()])
def test_parquet_dates_that_python_has_not_are_named_with_their_row(
    day: int | None, said: str, kind: object, tmp_path: Path
) -> None:
    seconds = {pa.date32(): 1, pa.timestamp("s"): 86_400, pa.date64(): 86_400_000}[kind]
    values = [None if each is None else each * seconds for each in (16_130, day, 16_130)]
    parquet.write_table(pa.table({"day": pa.array(values, kind)}), tmp_path / "t.parquet")
    (column,) = read_columns(tmp_path / "t.parquet", ("day",))
    with pytest.raises(ValueError, match=f"row 2, column 'day': expected an ISO date such as 2014-03-01, got {said}"):
        column.parsed(day_of)
    assert day_of(column.values[0]) == date(2014, 3, 1)


def test_a_damaged_parquet_file_is_named_wherever_the_damage_is(tmp_path: Path) -> None:
    """Every byte in turn is turned over: the file is read, or refused by its name."""
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"city": ["A", "B"], "n": [1, 2]}), path, compression="snappy")
    whole = path.read_bytes()
    refused = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            read_columns(path, ("city", "n"))
        except ValueError as error:
            refused += 1
            assert "t.parquet" in str(error)  # noqa: PT017
    assert refused > len(whole) // 4
