"""Damaged input files: ``train`` and ``predict`` take what can be read of them, or say in one line why not.

A good file of each format is mutated from a seed: bytes flipped, cut, doubled, replaced by odd ones. Exit code 0 or 2,
one line on stderr that is no defect, and an answer within ten seconds.
"""

from __future__ import annotations

import gzip
import io
import json
import time
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.attack.tries import NEVER, REFUSED, SURVIVED, FaultError, Findings, run, scratch
from smartcl.cli.app import call

FORMATS = ("csv", "jsonl", "libsvm", "parquet", "csv.gz", "csv.zst", "txt")
MOST_SECONDS = 10.0
ODD = (
    *(b"\x00", b'"', b"\n", b"\r", b",", b",,,", b"nan", b"inf", b"-", b"1e999", b"\xff\xfe", "\u2028".encode()),
    *(b"{", b"[" * 50, b":", b" 5:x", b"9" * 400, b"2024-13-45", b"\xf0\x9f\x98\x80", b"x" * 3000, b"true", b"'"),
)
OPTIONS = ("--label", "label", "--memory", "20kB", "--width", "1024", "--set", "hidden=4", "--set", "iterations=1")


def attack(tries: int, *, seed: int = 0, until: float = NEVER) -> Findings:
    """Train on that many damaged files, after a good one of each format, which loads what reading them takes."""
    for ending in FORMATS:
        with scratch() as root:
            path = Path(root) / f"rows.{ending}"
            path.write_bytes(good_file(ending))
            if _called(["train", str(path), *OPTIONS, "--out", str(Path(root) / "model")], ending):
                raise RuntimeError(f"a good file in the format {ending} is refused")
    return run(_attempt, range(seed, seed + tries), until=until)


def _attempt(seed: int) -> str:
    rng = np.random.default_rng(seed)
    ending = FORMATS[seed % len(FORMATS)]
    with scratch() as root:
        path = Path(root) / f"rows.{ending}"
        path.write_bytes(mutated(good_file(ending), rng))
        code = _called(["train", str(path), *OPTIONS, "--out", str(Path(root) / "model")], ending)
        if code == 0:
            _called(["predict", str(Path(root) / "model"), str(path), "--out", str(Path(root) / "said.csv")], ending)
    return SURVIVED if code == 0 else REFUSED


def _called(arguments: list[str], ending: str) -> int:
    out, err = io.StringIO(), io.StringIO()
    begin = time.process_time()
    with redirect_stdout(out), redirect_stderr(err):
        code = call(arguments)
    seconds, said = time.process_time() - begin, err.getvalue()
    what = f"{arguments[0]}, {ending}"
    if seconds > MOST_SECONDS:  # of the processor's time: others may be at work on the machine
        raise FaultError(f"no answer in {MOST_SECONDS:g} s", what)
    lines = [line for line in said.splitlines() if not line.startswith("smartcl: note: ")]
    if code not in (0, 2) or (code == 2 and len(lines) != 1) or "a defect" in said or "Traceback" in said:
        raise FaultError(f"exit code {code}", f"{what}; {said[:200]}")
    return code


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """The same with a few things wrong, some of them large."""
    for _ in range(int(rng.integers(1, 6))):
        at, until = sorted(rng.integers(0, len(data) + 1, 2).tolist())
        kind = rng.integers(6)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + ODD[rng.integers(len(ODD))] * int(rng.integers(1, 4)) + data[at:]
        elif kind == 2:
            data = data[:at] + rng.bytes(min(until - at, 8)) + data[min(until, at + 8) :]
        elif kind == 3:
            data = data[:until] + data[at:]
        elif kind == 4:
            data = data[:at] + data[min(until, at + 400) :]
        else:
            line = data[:at].count(b"\n")
            lines = data.split(b"\n")
            lines.insert(line, lines[int(rng.integers(len(lines)))])
            data = b"\n".join(lines)
        if not data:
            break
    return data


@cache
def good_file(ending: str) -> bytes:
    """Two hundred rows of every kind of column, or of features by number."""
    rng = np.random.default_rng(0)
    rows = [
        {
            "size": round(float(rng.normal()), 2),
            "colour": str(rng.choice(["red", "blue"])),
            "day": f"2024-01-{1 + number % 28:02d}",
            "note": " ".join(rng.choice(["to", "be", "or", "not"], 4).tolist()),
            "label": "ab"[number % 2],
        }
        for number in range(200)
    ]
    table = "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]).encode() + b"\n"
    if ending == "parquet":
        import pyarrow as pa
        from pyarrow import parquet

        sink = io.BytesIO()
        parquet.write_table(pa.Table.from_pylist(rows), sink)
        return sink.getvalue()
    if ending == "csv.zst":
        import zstandard

        return zstandard.compress(table)
    return {
        "csv": table,
        "txt": table,
        "jsonl": "".join(json.dumps(row) + "\n" for row in rows).encode(),
        "libsvm": "".join(f"{row['label']} 1:{row['size']} {3 + len(row['note'])}:1\n" for row in rows).encode(),
        "csv.gz": gzip.compress(table),
    }[ending]
