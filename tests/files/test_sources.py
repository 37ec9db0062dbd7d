"""The same rows give the same features, whatever they are held in."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from files.made_tables import QUICK, csv_text, mixed_rows, write_csv
from smartcl import TableModel, train_stream
from smartcl.columns.recognise import Told, recognised
from smartcl.columns.records import Records
from smartcl.columns.row_encoder import Odd, RowEncoder
from smartcl.files import record_formats as csv_records
from smartcl.files.blocks import first_rows, steps
from smartcl.files.file_source import FileSource, format_told

ROWS = mixed_rows(260)


def typed() -> list[dict[str, Any]]:
    return [{**row, "size": None if row["size"] == "" else row["size"]} for row in ROWS]


def columns() -> dict[str, list[Any]]:
    return {name: [row[name] for row in typed()] for name in ROWS[0]}


def pandas_frame(folder: Path) -> Any:
    import pandas as pd

    return pd.DataFrame(columns())


def polars_frame(folder: Path) -> Any:
    import polars as pl

    return pl.DataFrame(columns())


def polars_lazy(folder: Path) -> Any:
    return polars_frame(folder).lazy()


def arrow_dataset(folder: Path) -> Any:
    import pyarrow as pa
    from pyarrow import dataset, parquet

    parquet.write_table(pa.table(columns()), folder / "part.parquet", row_group_size=70)
    return dataset.dataset(folder / "part.parquet")


def arrow_reader(folder: Path) -> Any:
    import pyarrow as pa

    return pa.table(columns()).to_reader(max_chunksize=33)


def dicts(folder: Path) -> Any:
    return iter(typed())


def river_pairs(folder: Path) -> Any:
    return (({name: value for name, value in row.items() if name != "kind"}, row["kind"]) for row in typed())


def csv_gz(folder: Path) -> Any:
    path = folder / "rows.csv.gz"
    path.write_bytes(gzip.compress(csv_text(ROWS).encode()))
    return path


def csv_zst(folder: Path) -> Any:
    import zstandard

    path = folder / "rows.csv.zst"
    path.write_bytes(zstandard.compress(csv_text(ROWS).encode()))
    return path


def semicolons(folder: Path) -> Any:
    path = folder / "rows.txt"
    path.write_text("\ufeff" + csv_text(ROWS).replace(",", ";").replace("\n", "\r\n"))
    return path


def jsonl(folder: Path) -> Any:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in typed()))
    return path


SOURCES = (
    *(pandas_frame, polars_frame, polars_lazy, arrow_dataset, arrow_reader),
    *(dicts, river_pairs, csv_gz, csv_zst, semicolons, jsonl),
)


@pytest.fixture(scope="module")
def by_csv(tmp_path_factory: pytest.TempPathFactory) -> TableModel:
    path = write_csv(tmp_path_factory.mktemp("csv") / "rows.csv", ROWS)
    return train_stream(path, "kind", memory="4kB", random_state=0, id="id", **QUICK)


@pytest.mark.parametrize("make", SOURCES, ids=lambda make: make.__name__)
def test_a_model_is_the_same_whatever_held_its_rows(
    make: Callable[[Path], Any], by_csv: TableModel, tmp_path: Path
) -> None:
    model = train_stream(make(tmp_path), "kind", memory="4kB", random_state=0, id="id", **QUICK)
    assert model.schema == by_csv.schema
    assert model.progress.odd == by_csv.progress.odd
    few = typed()[:20]
    assert np.array_equal(model.predict_proba(few), by_csv.predict_proba(few))


def test_the_schema_names_every_kind(by_csv: TableModel) -> None:
    kinds = {column.name: column.kind for column in by_csv.schema.columns}
    assert kinds == {"size": "number", "colour": "category", "sold": "truth", "day": "date"}
    assert by_csv.schema.label == "kind"
    assert not by_csv.schema.sparse


def test_pyarrow_and_python_read_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{**row, "size": odd} for row, odd in zip(mixed_rows(12), ODD_NUMBERS, strict=True)]
    path = write_csv(tmp_path / "rows.csv", rows)
    fast = features(path)
    monkeypatch.setattr(csv_records, "_by_pyarrow", lambda *_: None)
    slow = features(path)
    assert np.array_equal(fast, slow)


ODD_NUMBERS = ["1.5", " 2", "1e3", "", "NA", "nan", "-0", "0x1", "12,5", "inf", "1e99", "five"]


def features(path: Path) -> Any:
    blocks = FileSource((str(path),)).blocks({})
    taken, records = first_rows(blocks, 1000)
    encoder = RowEncoder(recognised(records, Told("kind", kinds={"size": "number"})))
    found = list(steps(taken, encoder, 100))
    return np.concatenate([encoder.encode(step.rows, Odd()).numpy() for step in found])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", "", "-3e4"], "number"),
        (["yes", "no", "YES", ""], "truth"),
        ([True, False, None], "truth"),
        (["2024-01-31", "2023-12-01T10:00:00Z", ""], "date"),
        (["red", "blue", "red"], "category"),
        (["a long way down", "it is not far to go", "to be or not"], "text"),
        ([f"u{number}" for number in range(200)], "ignored"),
        ([f"u{number}" for number in range(50)], "category"),
        ([None, ""], "ignored"),
        ([*map(str, range(99)), "oops"], "number"),
    ],
)
def test_kinds_are_recognised(values: list[Any], kind: str) -> None:
    records = Records.of({"a": values, "b": [1.0] * len(values), "y": ["p"] * len(values)})
    assert recognised(records, Told("y")).columns[0].kind == kind


def test_a_column_that_numbers_the_rows_is_no_feature() -> None:
    records = Records.of({"ID": list(range(30)), "age": list(range(30)), "y": ["p"] * 30})
    schema = recognised(records, Told("y"))
    assert [(column.name, column.kind) for column in schema.columns] == [("ID", "ignored"), ("age", "number")]
    assert recognised(records, Told("y", kinds={"ID": "number"})).columns[0].kind == "number"


@pytest.mark.parametrize("as_text", [False, True])
def test_a_running_number_is_no_feature_whatever_it_is_called(as_text: bool) -> None:
    number: list[Any] = [str(row) if as_text else row for row in range(1001, 1301)]
    shuffled = np.random.default_rng(0).permutation(300).tolist()
    gap = [row + (row > 150) for row in range(300)]
    records = Records.of({"batch no.": number, "place": shuffled, "year": gap, "y": ["p"] * 300})
    kinds = [(column.name, column.kind, column.why) for column in recognised(records, Told("y")).columns]
    assert kinds[0] == ("batch no.", "ignored", "it numbers the rows")
    assert kinds[1:] == [("place", "number", "numbers"), ("year", "number", "numbers")]
    assert recognised(records, Told("y", kinds={"batch no.": "number"})).columns[0].kind == "number"
    alone = Records.of({"batch no.": number, "y": ["p"] * 300})
    assert recognised(alone, Told("y")).columns[0].kind == "number", "there is nothing else to learn from"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([f"€ {number},50" for number in range(300)], "ignored"),
        ([f"${number % 7},000.50" for number in range(300)], "number"),
        ([*map(str, range(299)), "oops"], "number"),
    ],
)
def test_whether_a_column_counts_is_asked_of_numbers_as_they_are_written(values: list[str], kind: str) -> None:
    records = Records.of({"a": values, "b": [1.0, 2.0] * 150, "y": ["p"] * 300})
    assert recognised(records, Told("y")).columns[0].kind == kind


def test_features_of_a_dense_row_written_out() -> None:
    first = {"n": [1.0, 3.0, None], "c": ["x", "y", "x"], "d": ["1970-01-01", "1970-01-03", None], "y": ["p", "q", "p"]}
    encoder = RowEncoder(recognised(Records.of(first), Told("y")))
    encoder.take_names(Records.of(first))
    odd = Odd()
    rows = encoder.parse(Records.of({"n": ["5", ""], "c": ["y", None], "d": [None, "1970-01-02"]}))
    found = encoder.encode(rows, odd)
    names = dict(zip(encoder.schema.feature_names, found.T.tolist(), strict=True))
    assert names["n"] == [5.0, 2.0]
    assert names["n is missing"] == [0.0, 1.0]
    assert names["c #1"] == [1.0, 0.0]
    assert names["c: rate"] == [0.0, 0.0]
    assert names["values missing"] == [0.0, 1.0], "c had a value in all first rows"
    assert names["d years"] == [0.0, 0.0]
    assert names["d is missing"] == [1.0, 0.0]
    assert names["d hour cos"] == [0.0, 1.0]
    assert names["d week sin"][1] == pytest.approx(np.sin(2 * np.pi / 7))
    assert encoder.name(encoder.schema.feature_names.index("c #1")) == "c: y"
    assert odd.missing == {"n": 1, "c": 1, "d": 1}


def test_names_tell_formats() -> None:
    assert [format_told(name) for name in ("a.CSV.gz", "a.svm", "a.parquet", "a.txt", "-")] == [
        "csv",
        "libsvm",
        "parquet",
        None,
        None,
    ]
