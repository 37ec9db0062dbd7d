"""Tables of counts and events that are wrong or odd, each in a file of its own."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

#: The columns of every table of counts.
HEADER = "place,date,keyword,count"
FIRST, LAST = "2014-01-01", "2014-01-24"


def good_rows() -> list[tuple[str, str, str, int]]:
    """A calendar small enough to be walked through in a blink."""
    return [
        (place, f"2014-01-{day:02}", keyword, 1 + (day * 7 + number) % 3)
        for day in range(1, 25)
        for place in ("Recife", "Belém")
        for number, keyword in enumerate(("strike", "march", "carnival"))
        if (day + number) % 3
    ]


def good_counts() -> str:
    return "\n".join([HEADER, *(",".join(map(str, row)) for row in good_rows())]) + "\n"


def good_events() -> str:
    days = (3, 4, 8, 11, 12, 15, 18, 19, 22)
    return "place,date\n" + "".join(f"{('Recife', 'Belém')[day % 2]},2014-01-{day:02}\n" for day in days)


def json_lines(rows: list[Any]) -> str:
    names = HEADER.split(",")
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)


def odd_texts(rng: random.Random) -> dict[str, str | bytes]:
    """Files of counts by name; the name says what is odd."""
    good, rows = good_counts(), good_rows()
    lines = good.splitlines()
    line = rng.randrange(1, len(lines))

    def with_line(text: str) -> str:
        return "\n".join([*lines[:line], text, *lines[line:]]) + "\n"

    def with_row(*row: Any) -> str:
        return json_lines([*rows[:line], row, *rows[line:]])

    deep = 100_000
    odd: dict[str, str | bytes] = {
        "empty.csv": "",
        "blank.csv": "\n\n \n",
        "header-alone.csv": HEADER + "\n",
        "no-header.csv": "\n".join(lines[1:]),
        "one-row.csv": "\n".join(lines[:2]),
        "few-days.csv": "\n".join(lines[:12]),
        "twice-the-column.csv": good.replace("keyword", "count", 1),
        "semicolons.csv": good.replace(",", ";"),
        "tabs.tsv": good.replace(",", "\t"),
        "mixed.csv": good.replace(",", ";", 40),
        "marked.csv": b"\xef\xbb\xbf" + good.encode(),
        "latin.csv": good.encode("latin-1"),
        "wide.csv": good.encode("utf-16"),
        "noughts.csv": good.replace("strike", "st\0rike"),
        "returns.csv": good.replace("\n", "\r"),
        "open-quote.csv": with_line('"Recife,2014-01-02,strike,1'),
        "many-fields.csv": with_line("Recife" + "," * 5000),
        "few-fields.csv": with_line("Recife"),
        "long-field.csv": with_line(f"{'x' * 200_000},2014-01-02,strike,1"),
        "long-name.csv": with_line(f"{'x' * 9_000},2014-01-02,strike,1"),
        "no-place.csv": with_line(" ,2014-01-02,strike,1"),
        "no-keyword.csv": with_line("Recife,2014-01-02,,1"),
        "no-date.csv": with_line("Recife,,strike,1"),
        "controls.csv": good.replace("Recife", "\x1b[31mRe\tcife\x07\u202e"),
        "markup.csv": good.replace("Recife", "[/red][bold]Recife"),
        "emoji.csv": good.replace("Recife", "🌋 火山 " * 20),
        "many-columns.csv": "\n".join(f"{row}{',x' * 3000}" for row in lines),
        "image.csv": b"\x89PNG\r\n\x1a\n" + rng.randbytes(5000),
        "random.csv": rng.randbytes(3000),
        "all-noughts.csv": bytes(4000),
        "silence.csv": "\n".join([HEADER, *(row.rsplit(",", 1)[0] + ",0" for row in lines[1:])]),
        "years-apart.csv": good + "Recife,2078-01-05,strike,1\n",
        "ends-with-time.csv": good.replace("2014-01", "9999-12").replace("9999-12-24", "9999-12-31"),
        "begins-with-time.csv": good.replace("2014-01", "0001-01"),
        "not.jsonl": good,
        "empty.jsonl": "",
        "list.jsonl": json.dumps(rows),
        "deep.jsonl": "[" * deep,
        "deep-value.jsonl": '{"place": ' + "[" * deep + "]" * deep + "}\n",
        "deep-object.jsonl": '{"a":' * deep,
        "half.jsonl": with_row("Rec\ud800ife", FIRST, "strike", 1),
        "half-keyword.jsonl": with_row("Recife", FIRST, "\udfff", 1),
        "many-digits.jsonl": with_row("Recife", FIRST, "strike", 10**400),
        "too-many-digits.jsonl": json_lines(rows)
        + '{"place": "A", "date": "2014-01-01", "count": 1'
        + "0" * 6000
        + "}",
        "not-a-number.jsonl": with_row("Recife", FIRST, "strike", float("nan")),
        "infinite.jsonl": with_row("Recife", FIRST, "strike", float("-inf")),
        "true.jsonl": with_row("Recife", FIRST, "strike", True),
        "none.jsonl": with_row(None, FIRST, "strike", 1),
        "nested.jsonl": with_row({"name": "Recife"}, FIRST, "strike", 1),
        "number-place.jsonl": with_row(7, FIRST, "strike", 1),
        "missing-key.jsonl": json_lines(rows) + "{}\n",
        "keys.jsonl": json_lines(rows) + json.dumps({f"key {number}": 1 for number in range(3000)}) + "\n",
        "random.jsonl": rng.randbytes(3000),
        "cut.jsonl": json_lines(rows)[: rng.randrange(200, 2000)],
        "no-ending": good,
        "wrong.xlsx": b"PK\x03\x04" + rng.randbytes(100),
        "text.parquet": good,
        "empty.parquet": b"",
        "magic.parquet": b"PAR1" + rng.randbytes(500) + struct.pack("<I", 400) + b"PAR1",
    }
    for number, count in enumerate(("-1", "1e400", "nan", "-inf", "1" * 400, "three", "0x10", "1e-400", "½", "1,5")):
        odd[f"count-{number}.csv"] = with_line(f'Recife,{FIRST},strike,"{count}"')
    for number, day in enumerate(
        ("2014-13-01", "0000-01-01", "10000-01-01", "-2014-01-01", "yesterday", "1/2/2014", "2014-02-30", "9" * 300)
    ):
        odd[f"date-{number}.csv"] = with_line(f"Recife,{day},strike,1")
    for number in range(12):
        odd[f"flipped-{number}.csv"] = flipped(good.encode(), rng, 1 + number)
        odd[f"flipped-{number}.jsonl"] = flipped(json_lines(rows).encode(), rng, 1 + number)
    return odd


def flipped(data: bytes, rng: random.Random, times: int) -> bytes:
    """The same bytes but for a few that are others."""
    made = bytearray(data)
    for _ in range(times):
        made[rng.randrange(len(made))] = rng.randrange(256)
    return bytes(made)


def odd_parquets(rng: random.Random, folder: Path) -> Iterator[Path]:
    """Parquet files whose columns are of kinds nobody counts in, and damaged ones; none without pyarrow."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        return
    rows = good_rows()
    names = HEADER.split(",")
    good = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    n = len(rows)
    kinds: dict[str, Callable[[], Any]] = {
        "list": lambda: pa.array([["Recife"]] * n),
        "struct": lambda: pa.array([{"name": "Recife"}] * n),
        "map": lambda: pa.array([[("a", 1)]] * n, pa.map_(pa.string(), pa.int64())),
        "binary": lambda: pa.array([b"\xff\xfe"] * n),
        "duration": lambda: pa.array([1] * n, pa.duration("s")),
        "time": lambda: pa.array([1] * n, pa.time32("s")),
        "nulls": lambda: pa.nulls(n),
        "date": lambda: pa.array([rng.choice((16071, 2_932_897, -800_000, 2_000_000_000))] * n, pa.date32()),
        "stamp": lambda: pa.array([10**15] * n, pa.timestamp("s")),
        "halves": lambda: pa.array([0.5] * n, pa.float16()),
        "truth": lambda: pa.array([True] * n),
        "dictionary": lambda: pa.array(["Recife"] * n).dictionary_encode(),
        "broken": lambda: pa.StringArray.from_buffers(
            1, pa.py_buffer(struct.pack("<ii", 0, 2)), pa.py_buffer(b"\xff\xfe")
        ).take(pa.array([0] * n)),
    }
    for name in names:
        for kind, make in kinds.items():
            path = folder / f"{kind}-as-{name}.parquet"
            parquet.write_table(pa.table({**good, name: make()}), path)
            yield path
    whole = folder / "good.parquet"
    parquet.write_table(pa.table(good), whole)
    yield whole
    for number in range(12):
        path = folder / f"flipped-{number}.parquet"
        path.write_bytes(flipped(whole.read_bytes(), rng, 1 + 2 * number))
        yield path
    short = folder / "cut.parquet"
    short.write_bytes(whole.read_bytes()[: rng.randrange(10, 500)])
    yield short
    (folder / "no-rows.parquet").write_bytes(b"")
    parquet.write_table(pa.table({name: pa.array([], pa.string()) for name in names}), folder / "no-rows.parquet")
    yield folder / "no-rows.parquet"
