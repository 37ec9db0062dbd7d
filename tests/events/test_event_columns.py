from __future__ import annotations

import sys
from datetime import date, datetime
from pathlib import Path

import pytest

from smartcl.errors import UnavailableError
from smartcl.events.event_columns import count_of, day_of, read_columns, text_of

TEXTS = {
    "plain.csv": "city,day,n\nA,2014-01-01,1\nB,2014-01-01,2\nA,2014-01-02,2\n",
    "windows.csv": "\ufeffcity,day,n\r\nA,2014-01-01,1\r\nB,2014-01-01,2\r\nA,2014-01-02,2\r\n",
    "order.csv": "n,extra,city,day\n1,,A,2014-01-01\n2,x,B,2014-01-01\n\n2,,A,2014-01-02\n",
    "semicolons.csv": "city;day;n\nA;2014-01-01;1\nB;2014-01-01;2\nA;2014-01-02;2\n",
    "tabs.tsv": "city\tday\tn\nA\t2014-01-01\t1\nB\t2014-01-01\t2\nA\t2014-01-02\t2\n",
    "lines.jsonl": '{"city": "A", "day": "2014-01-01", "n": 1}\n{"n": 2, "city": "B", "day": "2014-01-01"}\n\n'
    '{"city": "A", "day": "2014-01-02", "n": 2}\n',
}


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("name", TEXTS)
def test_the_same_table_in_every_text_format(name: str, tmp_path: Path) -> None:
    city, day, n = read_columns(write(tmp_path, name, TEXTS[name]), ("city", "day", "n"))
    assert [city.values[code] for code in city.codes] == ["A", "B", "A"]
    assert [day.parsed(day_of)[code] for code in day.codes] == [date(2014, 1, 1)] * 2 + [date(2014, 1, 2)]
    assert [n.parsed(count_of)[code] for code in n.codes] == [1.0, 2.0, 2.0]


@pytest.mark.parametrize("when", ["text", "date", "timestamp", "category"])
def test_parquet_gives_what_csv_gives(when: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    stamps = [datetime(2014, 1, 1, 23, 59), datetime(2014, 1, 1), datetime(2014, 1, 2, 12)]
    days = {
        "text": pa.array([stamp.date().isoformat() for stamp in stamps]),
        "date": pa.array([stamp.date() for stamp in stamps]),
        "timestamp": pa.array(stamps, pa.timestamp("ns")),
        "category": pa.array([stamp.isoformat() for stamp in stamps]).dictionary_encode(),
    }[when]
    path = tmp_path / "table.parquet"
    parquet.write_table(pa.table({"day": days, "city": ["A", "B", "A"], "n": [1, 2, 2]}), path, row_group_size=2)
    city, day, n = read_columns(path, ("city", "day", "n"))
    assert [city.values[code] for code in city.codes] == ["A", "B", "A"]
    assert [day.parsed(day_of)[code] for code in day.codes] == [stamp.date() for stamp in stamps]
    assert [n.parsed(count_of)[code] for code in n.codes] == [1.0, 2.0, 2.0]


def test_an_error_in_parquet_names_the_row(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "table.parquet"
    parquet.write_table(pa.table({"n": [1.0, None, -1.0]}), path)
    with pytest.raises(
        ValueError, match=r"table.parquet, record 2, column .n.: expected a count of at least 0, got None"
    ):
        read_columns(path, ("n",))[0].parsed(count_of)
    path.write_bytes(b"PAR1 it is not")
    with pytest.raises(ValueError, match="is not a Parquet file, or damaged"):
        read_columns(path, ("n",))


def test_without_pyarrow_parquet_names_the_install_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnavailableError, match=r"pyarrow.* is not installed: pip install 'smartcl\[parquet\]'"):
        read_columns(write(tmp_path, "counts.parquet", "x"), ("n",))
    assert len(read_columns(write(tmp_path, "counts.csv", "n\n1\n"), ("n",))) == 1


MISTAKES = {
    "ending": ("t.xlsx", "x", "the name of a table must end in .csv, .tsv, .jsonl"),
    "nothing": ("t.csv", "", "t.csv is empty"),
    "no rows": ("t.csv", "city,n\n", "t.csv has no rows"),
    "no rows of JSON": ("t.jsonl", "\n", "t.jsonl has no rows"),
    "column": ("t.csv", "town,n\nA,1\n", "t.csv has no column 'city': it has 'n', 'town'"),
    "twice": ("t.csv", "city,city,n\nA,A,1\n", "t.csv has more than one column 'city'"),
    "fields": ("t.csv", "city,n\nA,1\n\nB\n", "t.csv, record 2: fewer fields than the header"),
    "key": ("t.jsonl", '{"n": 1}\n', "t.jsonl has no column 'city': it has 'n'"),
    "no object": ("t.jsonl", "[1]\n", "t.jsonl, record 1: not a JSON object"),
    "no JSON": ("t.jsonl", "city,n\n", "t.jsonl, record 1: not a JSON object"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_cannot_be_read_is_named(mistake: str, tmp_path: Path) -> None:
    name, text, message = MISTAKES[mistake]
    path = write(tmp_path, name, text)
    with pytest.raises(ValueError, match=message):
        read_columns(path, ("city", "n"))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no file .*nowhere.csv"):
        read_columns(tmp_path / "nowhere.csv", ("n",))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        read_columns(tmp_path / "folder.csv", ("n",))
    path = tmp_path / "latin.csv"
    path.write_bytes("city\nBogotá\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin.csv, record 1, column 'city': .*save the file as UTF-8"):
        read_columns(path, ("city",))[0].parsed(text_of)


def test_an_error_names_the_first_line_that_has_it(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", 'n\n"1"\n\n2\n-3\n2\n-3\nmany\n')
    with pytest.raises(ValueError, match=r"t.csv, record 3, column 'n': expected a count of at least 0, got '-3'"):
        read_columns(path, ("n",))[0].parsed(count_of)


@pytest.mark.parametrize("value", ["2014-03-01", " 2014-03-01T22:15:00Z", "2014-03-01 08:00", "20140301", 20140301])
def test_days(value: object) -> None:
    assert day_of(value) == date(2014, 3, 1)


@pytest.mark.parametrize("value", ["1/3/2014", "2014-02-30", "2014", "", None, 5.0])
def test_what_is_no_day(value: object) -> None:
    with pytest.raises(ValueError, match="expected an ISO date such as 2014-03-01"):
        day_of(value)


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "", None, "three", float("nan")])
def test_what_is_no_count(value: object) -> None:
    with pytest.raises(ValueError, match="expected a count of at least 0"):
        count_of(value)


@pytest.mark.parametrize("value", ["", "  ", None])
def test_what_is_no_name(value: object) -> None:
    with pytest.raises(ValueError, match="expected a name"):
        text_of(value)


def test_what_is_too_deep_or_too_large_is_refused_like_all_else(tmp_path: Path) -> None:
    for deep in ("[" * 100_000, '{"city": ' * 100_000, '{"city": ' + "[" * 100_000 + "]" * 100_000 + "}"):
        with pytest.raises(ValueError, match=r"t\.jsonl, record 1: not a JSON object"):
            read_columns(write(tmp_path, "t.jsonl", deep), ("city",))
    with pytest.raises(ValueError, match="expected a count of at least 0, got 1000"):
        count_of(10**400)


@pytest.mark.parametrize("name", ["\ud800", "Bel\udcc3m"])
def test_half_a_character_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match="expected a text in Unicode, got "):
        text_of(name)
