"""Data that nobody prepared: what a stranger's file may look like, and what the commands say to it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from files.made_tables import QUICK_OPTIONS, mixed_rows, write_csv
from smartcl import TableModel, train_stream
from smartcl.cli.app import call

Said = pytest.CaptureFixture[str]


def train(path: Path, *options: str) -> int:
    return call(["train", str(path), "--label", "kind", "--out", str(path.parent / "model"), *QUICK_OPTIONS, *options])


def columns(folder: Path) -> dict[str, tuple[str, str]]:
    return {column.name: (column.kind, column.style) for column in TableModel.load(folder).schema.columns}


def test_money_shares_and_dates_are_numbers(tmp_path: Path) -> None:
    rows = [
        {
            "price": f"${number * 1000.5:,.2f}",
            "share": f"{number / 2}%",
            "paid": f"{number * 1000.5:,.2f} €".translate(str.maketrans(",.", ".,")),
            "us": f"{1 + number % 12}/{1 + number % 28}/2024",
            "uk": f"{1 + number % 28}/{1 + number % 12}/24 10:30",
            "de": f"{1 + number % 28:02d}.{1 + number % 12:02d}.2024",
            "kind": "ab"[number > 50],
        }
        for number in range(100)
    ]
    assert train(write_csv(tmp_path / "rows.csv", rows)) == 0
    pointed, comma, us, uk = "1,234.5", "1.234,5", "12/31/2024", "31/12/2024"
    assert columns(tmp_path / "model") == {
        **{"price": ("number", pointed), "share": ("number", pointed), "paid": ("number", comma)},
        **{"us": ("date", us), "uk": ("date", uk), "de": ("date", us)},
    }
    model = TableModel.load(tmp_path / "model")
    assert not model.progress.odd.unreadable
    (tmp_path / "schema.json").write_text((tmp_path / "model" / "schema.json").read_text())
    assert train(tmp_path / "rows.csv", "--overwrite", "--schema", str(tmp_path / "schema.json")) == 0
    assert (model.predict_proba(rows) == TableModel.load(tmp_path / "model").predict_proba(rows)).all()


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_what_lies_in_objects_becomes_columns(ending: str, tmp_path: Path, capsys: Said) -> None:
    rows = [
        {"size": {"x": number % 7, "deep": {"y": 1.5 * number}}, "tags": ["a"], "kind": "ab"[number % 2]}
        for number in range(100)
    ]
    path = tmp_path / f"rows.{ending}"
    if ending == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.Table.from_pylist(rows), path)
    assert train(path) == 0
    kinds = {name: kind for name, (kind, _) in columns(tmp_path / "model").items()}
    assert kinds == {"size.x": "code", "size.deep.y": "number", "tags": "ignored"}
    assert "tags (lists and bytes are not read)" in capsys.readouterr().out
    by_file = TableModel.load(tmp_path / "model").predict_proba(str(path))
    np.testing.assert_allclose(by_file, TableModel.load(tmp_path / "model").predict_proba(rows), atol=1e-6)


def test_what_is_no_table_is_one_line_and_leaves_nothing(tmp_path: Path, capsys: Said) -> None:
    texts = {
        "UTF-16: save it as UTF-8": "a,kind\n1,x\n".encode("utf-16"),
        "no text: save it as UTF-8": b"\x00\x01\x02\n" * 10,
        "measures something": b"a,kind\n" + b"".join(b"%d,%.3f\n" % (n, n / 7) for n in range(50)),
        "there are no rows to learn": b"<html>not found</html>\n",
    }
    for said, text in texts.items():
        (tmp_path / "rows.csv").write_bytes(text)
        assert train(tmp_path / "rows.csv") == 2
        error = capsys.readouterr().err
        assert said in error
        assert len(error.splitlines()) == 1
        assert not (tmp_path / "model").exists()


def test_other_columns_are_refused_and_lost_ones_are_named(tmp_path: Path, capsys: Said) -> None:
    rows = mixed_rows(100)
    assert train(write_csv(tmp_path / "rows.csv", rows)) == 0
    model, other = str(tmp_path / "model"), write_csv(tmp_path / "other.csv", [{"weight": 1, "kind": "big"}] * 3)
    for command in (["predict", model, str(other)], ["evaluate", model, str(other)]):
        capsys.readouterr()
        assert call(command) == 2
        found = capsys.readouterr()
        assert found.out == ""
        assert "other.csv has none of the columns that were learned, 'size', 'colour'" in found.err
    assert train(other, "--resume") == 2
    capsys.readouterr()
    write_csv(tmp_path / "fewer.csv", [{"size": row["size"], "sold": row["sold"]} for row in rows])
    assert call(["predict", model, str(tmp_path / "fewer.csv")]) == 0
    found = capsys.readouterr()
    assert len(list(csv.reader(io.StringIO(found.out)))) == 101
    assert found.err == "smartcl: note: columns that were learned and have no value here: 'colour', 'day'\n"


@pytest.mark.filterwarnings("always:The number of unique classes")
def test_a_note_is_said_once(tmp_path: Path, capsys: Said) -> None:
    rows = [{"a": number, "kind": f"k{number}"} for number in range(200)]
    assert train(write_csv(tmp_path / "rows.csv", rows)) == 0
    assert capsys.readouterr().err.count("unique classes") == 1


def test_many_classes_fit_the_screen(tmp_path: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = [{"a": number % 10, "kind": f"a longer name {number % 10}"} for number in range(200)]
    assert train(write_csv(tmp_path / "rows.csv", rows)) == 0
    assert call(["evaluate", str(tmp_path / "model"), str(tmp_path / "rows.csv"), "--frozen"]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = lines.index("Confusion: labels by row, predictions by column") + 1
    assert lines[head].split() == [str(number) for number in range(1, 11)]
    assert lines[head + 1].startswith("1 a longer name")


def test_the_width_of_hashing_is_the_users(tmp_path: Path, capsys: Said) -> None:
    assert train(write_csv(tmp_path / "rows.csv", mixed_rows(60)), "--text", "colour", "--width", "64") == 0
    assert TableModel.load(tmp_path / "model").schema.width == 64
    assert "rows of 4 columns (2" in capsys.readouterr().out, "hashed words are no features of their own"


@pytest.mark.parametrize("labels", ["null", '"NA"', "[1]", '{"of": 1}', '""', "NaN", "absent"])
@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_table_without_any_label_is_one_line_and_nothing_is_written(
    labels: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"a": number, "y": labels} for number in range(120)]
    path = tmp_path / f"t.{ending}"
    if ending == "jsonl":
        text = "".join(
            f'{{"a": {row["a"]}' + ("" if labels == "absent" else f', "y": {labels}') + "}\n" for row in rows
        )
        path.write_text(text + '{"a": 1, "y": null}\n')
    elif ending == "csv":
        path.write_text("a,y\n" + "".join(f"{row['a']},{'null' if labels[0] in '[{a' else labels}\n" for row in rows))
    else:
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        values = {"[1]": [[1]], '{"of": 1}': [b"\x00"], "null": [None], "absent": [None]}.get(labels, ["NA"])
        parquet.write_table(pa.table({"a": list(range(120)), "y": pa.array(values * 120)}), path)
    code = call(["train", str(path), "--label", "y", "--out", str(tmp_path / "m"), "--method", "smart"])
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (2, 1), said
    assert "no row could be learned" in said
    assert "no label" in said
    assert "'y'" in said
    assert not (tmp_path / "m").exists()


def test_nobody_watches_a_model_that_has_learned_nothing() -> None:
    seen: list[int] = []
    with pytest.raises(ValueError, match="no row could be learned: 60 no label; the column 'y' must hold"):
        train_stream(
            [{"a": n, "y": None} for n in range(60)], "y", watch=lambda model: seen.append(model.progress.rows)
        )
    assert not seen
