"""What a row takes, and how long it takes to write and to read it: our code beside two coders of others.

``constriction`` (a range coder; static tables for gaps and values, each row by itself) and ``zstandard`` (with a
dictionary trained on the rows the code is learned from) are no dependencies: the one that is absent is left out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse

from benchmarks.timing import report
from smartcl.memory import SampleStore
from smartcl.memory.grading import choose_levels, choose_order, learn_code
from smartcl.memory.levels import Levels
from smartcl.memory.nonzeros import Nonzeros
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.paper.datasets.downloads import FetchError

#: Rows that a code is learned from, and others that are written; the bytes that its tables are to pay in.
LEARNED, WRITTEN, ROOM = 1000, 1000, 100_000
ROUNDS = 3

#: At what precision, and the bytes wanted of a row of ours with its label, its key and its length.
PRECISIONS: dict[str, dict[str | int, str]] = {
    "disjoint-mnist": {"exact": "<= 150", 4: "<= 54.8"},
    "newsgroups": {"exact": "-", 2: "-"},
}
#: What our row has beside its text: a byte or two for its length, a label and a reservoir key.
BESIDE = 7


class Coder(NamedTuple):
    """From rows of numbered levels to bytes, a row each, and back to how many values there are."""

    write: Callable[[Nonzeros], list[bytes]]
    read: Callable[[list[bytes]], int]


class Rows(NamedTuple):
    """Two stores of rows, one to learn from and one to write."""

    learned: SampleStore
    written: SampleStore


def rows_of(name: str) -> Rows:
    """Rows of all tasks, in random order."""
    stream = load_stream(name)
    parts = [task.train.x for task in stream.tasks]
    x = sparse.vstack(parts, format="csr") if stream.spec.sparse else torch.cat(parts)
    chosen = np.random.default_rng(0).permutation(x.shape[0])[: LEARNED + WRITTEN]
    empty = SampleStore.empty(stream.n_features, stream.spec.sparse)
    halves = (chosen[:LEARNED], chosen[LEARNED:])
    return Rows(*(empty.pack(x[half], np.zeros(len(half), dtype=np.int64)) for half in halves))


def nonzeros(store: SampleStore) -> Nonzeros:
    return store.rows.nonzeros(np.arange(len(store)), store.schema)


def constriction_coder(learned: Nonzeros, n_levels: int, n_features: int) -> Coder:
    """The number of values, then all gaps, then all values, each with the frequencies of the rows learned from."""
    stream: Any = import_module("constriction").stream
    kinds = [
        (learned.counts, n_features + 1),
        (learned.gaps, n_features),
        (learned.values.astype(np.int64), n_levels + 1),
    ]
    shares = (np.bincount(symbols, minlength=size) + 1 / 8 for symbols, size in kinds)
    count_model, gap_model, value_model = (
        stream.model.Categorical((share / share.sum()).astype(np.float32), perfect=False) for share in shares
    )

    def write(rows: Nonzeros) -> list[bytes]:
        found, ends = [], rows.counts.cumsum()
        gaps, values = rows.gaps.astype(np.int32), rows.values.astype(np.int32)
        for count, end in zip(rows.counts.tolist(), ends.tolist(), strict=True):
            encoder = stream.queue.RangeEncoder()
            encoder.encode(np.array([count], dtype=np.int32), count_model)
            encoder.encode(gaps[end - count : end], gap_model)
            encoder.encode(values[end - count : end], value_model)
            found.append(encoder.get_compressed().tobytes())
        return found

    def read(texts: list[bytes]) -> int:
        total = 0
        for text in texts:
            decoder = stream.queue.RangeDecoder(np.frombuffer(text, dtype=np.uint32))
            count = int(decoder.decode(count_model, 1)[0])
            decoder.decode(gap_model, count)
            total += len(decoder.decode(value_model, count))
        return total

    return Coder(write, read)


def zstandard_coder(learned: Nonzeros, n_levels: int, n_features: int) -> Coder:
    """The bytes of narrow rows whole, of wide ones their gaps and values, with a dictionary of a tenth of ``ROOM``."""
    zstd: Any = import_module("zstandard")
    value_type = np.min_scalar_type(n_levels)

    def plain(rows: Nonzeros) -> list[bytes]:
        if n_features < 2**10:
            cells = np.zeros((len(rows), n_features), dtype=value_type)
            cells[rows.rows, rows.ids] = rows.values
            return [row.tobytes() for row in cells]
        cuts = rows.counts.cumsum()[:-1]
        gaps, values = np.split(rows.gaps.astype("<u2"), cuts), np.split(rows.values.astype(value_type), cuts)
        return [gap.tobytes() + value.tobytes() for gap, value in zip(gaps, values, strict=True)]

    dictionary = zstd.train_dictionary(ROOM // 10, plain(learned))
    compressor = zstd.ZstdCompressor(19, dict_data=dictionary, write_content_size=False, write_dict_id=False)
    decompressor = zstd.ZstdDecompressor(dict_data=dictionary)

    def write(rows: Nonzeros) -> list[bytes]:
        return [compressor.compress(text) for text in plain(rows)]

    def read(texts: list[bytes]) -> int:
        return sum(len(decompressor.decompress(text, max_output_size=2**20)) for text in texts)

    return Coder(write, read)


OTHERS = {"constriction": constriction_coder, "zstandard": zstandard_coder}


def cpu_seconds(action: Callable[[], Any]) -> float:
    """The best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return best


def known_to(levels: Levels, rows: Rows) -> Rows:
    """The rows with those to write that have no value but such as are levels."""
    numbers = levels.numbered(nonzeros(rows.written))
    return rows._replace(written=rows.written.take(numbers.all_of(numbers.values > 0)))


def ours(rows: Rows, levels: Levels, what: str, wanted: str) -> list[tuple[str, float, str]]:
    code = learn_code(rows.learned, levels, ROOM, choose_order(rows.learned, ROOM))
    coded = rows.written.recode(code)
    index = np.arange(len(coded))
    return [
        (f"{what}: bytes a row, label, key and length included", coded.rows.nbytes / len(coded) + BESIDE - 2, wanted),
        (f"{what}: bytes of the code's tables", code.nbytes, "-"),
        (f"{what}: CPU ms to write 1,000 rows", 1e6 * cpu_seconds(lambda: rows.written.recode(code)) / len(index), "-"),
        (f"{what}: CPU ms to read 1,000 rows", 1e6 * cpu_seconds(lambda: coded.gather(index)) / len(index), "-"),
    ]


def of_another(name: str, rows: Rows, levels: Levels, what: str) -> list[tuple[str, float, str]]:
    learned, known = (levels.numbered(nonzeros(store)) for store in rows)
    coder = OTHERS[name](learned, len(levels), rows.learned.n_features)
    texts = coder.write(known)
    return [
        (f"{what}: bytes a row, as much beside it", sum(map(len, texts)) / len(known) + BESIDE, "-"),
        (f"{what}: CPU ms to write 1,000 rows", 1e6 * cpu_seconds(lambda: coder.write(known)) / len(known), "-"),
        (f"{what}: CPU ms to read 1,000 rows", 1e6 * cpu_seconds(lambda: coder.read(texts)) / len(known), "-"),
    ]


def measure(name: str) -> list[tuple[str, float, str]]:
    rows, lines = rows_of(name), []
    plain = rows.written.rows.nbytes / WRITTEN + BESIDE - 2
    lines.append((f"{name}, exact, formats without a code: bytes a row", plain, "-"))
    for precision, wanted in PRECISIONS[name].items():
        levels = choose_levels(rows.learned, rows.learned, precision, ROOM)
        assert levels is not None
        what = f"{name}, {precision}{'' if precision == 'exact' else ' levels'}"
        known = known_to(levels, rows)
        if precision == "exact":
            share = 100 * (1 - len(known.written) / WRITTEN)
            lines.append((f"{what}: percent of rows with a value not seen, which no row below has", share, "-"))
        lines += ours(known, levels, f"{what}, our code", wanted)
        for other in OTHERS:
            try:
                lines += of_another(other, known, levels, f"{what}, {other}")
            except ModuleNotFoundError:
                print(f"{other} skipped: it is not installed", file=sys.stderr)
    return lines


if __name__ == "__main__":
    torch.set_num_threads(1)
    found: list[tuple[str, float, str]] = []
    for name in PRECISIONS:
        try:
            found += measure(name)
        except FetchError as error:
            print(f"{name} skipped: {str(error).splitlines()[0]}", file=sys.stderr)
    report(*found)
