"""Models that learned shards of a stream and were merged, against one that learned all of it in the same bytes.

``python -m benchmarks shards --parts flights,covtype,mnist,many,sums,bytes,speed,kills --rows 40000``

All options may be left out. A stream's shards go on from a base of 2,000 rows; they get rows at random, or each its own
classes or airports, and are merged once, at the end. Tested on rows that nobody learns, drawn from the whole stream.
``many`` are 256 shards; ``kills`` kills a worker 20 times.
"""

from __future__ import annotations

import argparse
import csv
import os
import pickle
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import report
from smartcl import SmartClassifier, merge, train_shards
from smartcl.learners.ensemble import sampling
from smartcl.paper.datasets.digit_pairs import mnist_or_digits
from smartcl.paper.datasets.real_streams import load_real_stream
from smartcl.saving.persistence import INDEX
from smartcl.scale import shards as shard_training
from smartcl.scale.merging import merge_classifiers, shard_of
from smartcl.scale.processes import Processes
from smartcl.scale.shard_work import ShardDone

Line = tuple[str, float, str]
Ints = NDArray[np.int64]

BASE_ROWS, TEST_ROWS, SHARDS, MANY = 2000, 5000, 8, 256
#: Of each stream the rows, unless said otherwise, the memory, and the most that a merged model may fall behind, in
#: percent: rows at random, and by class or airport.
STREAMS = {"flights": (500_000, "1MB"), "covtype": (200_000, "1MB"), "mnist": (60_000, "1MB")}
WANTED = (0.3, 0.7)


def rows_of(name: str, most: int | None) -> tuple[Any, Ints, Ints]:
    """Rows in their order, labels, and which airport, or else class, each is of."""
    count = min(STREAMS[name][0], most or STREAMS[name][0]) + TEST_ROWS
    if name == "mnist":
        images = mnist_or_digits(None)
        x = np.concatenate([images.train_x, images.test_x]).reshape(-1, 784)[:count]
        y = np.concatenate([images.train_y, images.test_y])[:count].astype(np.int64)
        return x, y, y
    stream = load_real_stream(name)
    x, y = stream.X[:count], stream.y[:count]
    return x, y, x[:, stream.columns.index("dest")].astype(np.int64) if name == "flights" else y


def split(x: Any, y: Ints, group: Ints, shards: int, rng: np.random.Generator) -> Iterator[Ints]:
    """For each shard, the rows of its groups, or an even share at random where there are no groups."""
    of = rng.integers(shards, size=len(y)) if group is None else np.unique(group, return_inverse=True)[1] % shards
    for shard in range(shards):
        yield np.flatnonzero(of == shard)


def against_one(name: str, most: int | None, shards: int, kinds: Sequence[str]) -> list[Line]:
    """How much better one model is than the merged one, in percent, for each kind of split."""
    x, y, group = rows_of(name, most)
    rng, memory = np.random.default_rng(0), STREAMS[name][1]
    tested = np.zeros(len(y), np.bool_)
    tested[rng.permutation(len(y))[:TEST_ROWS]] = True
    test, learned = np.flatnonzero(tested), np.flatnonzero(~tested)
    first = np.sort(rng.choice(learned, BASE_ROWS, replace=False))
    rest = np.setdiff1d(learned, first)
    base = SmartClassifier(memory, random_state=0).partial_fit(x[first], y[first], classes=np.unique(y)).flush()
    one = shard_of(base, 0).partial_fit(x[rest], y[rest]).flush()
    right = 100 * one.score(x[test], y[test])
    lines: list[Line] = [(f"{name}, {len(rest):,} rows, one machine, accuracy %", right, "-")]
    for kind in kinds:
        at = split(x, y[rest], None if kind == "at random" else group[rest], shards, rng)
        parts = [
            shard_of(base, 1 + k).partial_fit(x[rest[own]], y[rest[own]]).flush()
            for k, own in enumerate(at)
            if len(own)
        ]
        start = time.process_time()
        whole = merge(parts, base=base)
        seconds = time.process_time() - start
        behind = right - 100 * whole.score(x[test], y[test])
        alone = 100 * float(np.mean([part.score(x[test], y[test]) for part in parts[:8]]))
        wanted = 1.0 if shards > SHARDS else WANTED[kind != "at random"]
        what = f"{name}, {len(parts)} shards {kind}"
        lines += [
            (f"{what}: merged behind one machine, %", behind, f"<= {wanted}"),
            (f"{what}: one shard alone, accuracy %", alone, "-"),
            (f"{what}: CPU seconds a merge", seconds, "-"),
        ]
    return lines


def sums(most: int | None) -> list[Line]:
    """The largest difference of merged sums from those of one machine, relative to the largest; nothing is held out."""
    before, sampling.HELD_OUT_SHARE = sampling.HELD_OUT_SHARE, 0.0
    try:
        x, y, _ = rows_of("covtype", min(most or 20_000, 20_000))
        settings: dict[str, Any] = {"members": ["ridge"], "random_state": 0}
        base = SmartClassifier("1MB", **settings).partial_fit(x[:2000], y[:2000], classes=np.unique(y)).flush()
        one = shard_of(base, 0).partial_fit(x[2000:], y[2000:]).flush()
        parts = [shard_of(base, k).partial_fit(x[2000 + k :: 8], y[2000 + k :: 8]).flush() for k in range(8)]
        whole = merge_classifiers(parts, base=base)
        mine, theirs = (model.learner_.parts[0].folded().sums[0] for model in (whole, one))
        off = np.abs(mine.second - theirs.second).max() / np.abs(theirs.second).max()
    finally:
        sampling.HELD_OUT_SHARE = before
    return [("sums of 8 merged shards against one machine, relative", float(off), "<= 1e-6")]


def sent(most: int | None) -> list[Line]:
    """What a shard sends to be merged, after few rows and after ten times as many."""
    x, y, _ = rows_of("flights", 22_000)
    base = SmartClassifier("1MB", random_state=0).partial_fit(x[:2000], y[:2000])
    sizes, parts = [], {}
    for rows in (2000, 20_000):
        shard = shard_of(base, 1).partial_fit(x[2000 : 2000 + rows], y[2000 : 2000 + rows]).flush()
        sizes.append(len(pickle.dumps(shard)))
        parts = shard.learner_.bytes_by_part
    told = ", ".join(f"{name} {size / 1e6:.2f}" for name, size in parts.items())
    return [
        (f"bytes that a shard sends, MB ({told})", sizes[1] / 1e6, "-"),
        ("the same after 20,000 rows against 2,000", sizes[1] / sizes[0], "<= 1.5"),
    ]


def written(folder: Path, files: int, rows: int) -> list[str]:
    """The first flights as CSV files."""
    x, y, _ = rows_of("flights", files * rows)
    names = []
    for k in range(files):
        names.append(str(folder / f"part-{k}.csv"))
        with Path(names[-1]).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*(f"c{column}" for column in range(x.shape[1])), "late"])
            part = slice(k * rows, (k + 1) * rows)
            writer.writerows([*row, label] for row, label in zip(x[part].tolist(), y[part].tolist(), strict=True))
    return names


def speed(most: int | None) -> list[Line]:
    """Rows a second of two workers against one, on processors that have nothing else to do.

    It is told from processor time, which others' work on this machine changes less than the clock: a round lasts as
    long as its slowest worker, and then the merge. What a process needs to begin is left out.
    """
    with tempfile.TemporaryDirectory() as name:
        rows = (most or 80_000) // 4
        files, rates, usual_rates, lines = written(Path(name), 4, rows), [], [], list[Line]()
        for workers in (1, 2):
            rounds: list[list[ShardDone]] = []

            class Noted(Processes):
                def done(self, *given: Any, rounds: list[list[ShardDone]] = rounds) -> list[ShardDone]:
                    rounds.append(super().done(*given))
                    return rounds[-1]

            usual, shard_training.Processes = shard_training.Processes, Noted  # type: ignore[misc]
            moments: list[tuple[float, float, int]] = []

            def note(model: Any, moments: list[tuple[float, float, int]] = moments) -> bool:
                moments.append((time.monotonic(), time.process_time(), model.progress.rows))
                return False

            try:  # the same rows a round for both: a merge waits for all workers
                train_shards(files, "late", workers=workers, merge_rows=rows // 2, random_state=0, watch=note)
            finally:
                shard_training.Processes = usual  # type: ignore[misc]
            slowest = sum(max(each.seconds for each in done) for done in rounds[1:])  # the first brings libraries in
            clock, merging, learned = (end - start for start, end in zip(moments[0], moments[-1], strict=True))
            learning = sum(each.seconds for done in rounds[1:] for each in done)
            rates.append(learned / (slowest + merging))
            a_round = workers * shard_training.MERGE_ROWS  # slowest and merging are those of other rounds
            usual_rates.append(a_round / (slowest * a_round / learned + merging / len(rounds[1:])))
            told = f"{workers} worker{'s' * (workers > 1)}"
            lines += [
                (f"CPU ms a row of {told}, learning", 1000 * learning / learned, "-"),
                (f"CPU ms a row of {told}, merging", 1000 * merging / learned, "-"),
                (f"rows a second of {told} by the clock, beside other work", learned / clock, "-"),
            ]
    what = "rows a second of two workers against one, by processor time"
    return [
        *lines,
        (f"{what}, a merge every {rows // 2:,} rows", rates[1] / rates[0], "-"),
        (f"{what}, a merge every {shard_training.MERGE_ROWS:,} rows", usual_rates[1] / usual_rates[0], ">= 1.8"),
    ]


def kills(most: int | None, times: int = 20) -> list[Line]:
    """Whether a training whose worker is killed again and again ends as an undisturbed one: the largest difference."""
    killed: list[int] = []
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = written(folder, 2, (most or 20_000) // 2)
        train: Callable[..., Any] = partial(
            train_shards, files, "late", workers=1, merge_rows=5000, memory="100kB", random_state=0
        )

        last = 0

        def kill(pids: Sequence[int]) -> None:
            """Kill whoever has saved something since the last kill, a little later: in the middle of what it does."""
            nonlocal last
            saved = max(
                (path.stat().st_mtime_ns for path in (folder / "killed").glob(f"shards/round*/{INDEX}")), default=0
            )
            if len(killed) < times and pids and saved > last:
                last = saved
                time.sleep(rng.random() / 10)
                killed.append(pids[0])
                os.kill(pids[0], signal.SIGKILL)

        model, whole = train(out=folder / "killed", watch_workers=kill), train(out=folder / "undisturbed")
        rows = [dict.fromkeys((f"c{column}" for column in range(14)), float(value)) for value in range(-5, 5)]
        off = np.abs(model.predict_proba(rows) - whole.predict_proba(rows)).max()
    return [
        ("workers killed", float(len(killed)), f"{times}"),
        ("rows counted twice or lost", float(abs(model.progress.rows - whole.progress.rows)), "0"),
        ("difference of answers from an undisturbed training", float(off), "0"),
    ]


PARTS: dict[str, Callable[[int | None], list[Line]]] = {
    "flights": lambda most: against_one("flights", most, SHARDS, ("at random", "by airport")),
    "covtype": lambda most: against_one("covtype", most, SHARDS, ("at random", "by class")),
    "mnist": lambda most: against_one("mnist", most, SHARDS, ("at random", "by class")),
    "many": lambda most: against_one("covtype", most, MANY, ("at random",)),
    "sums": sums,
    "bytes": sent,
    "speed": speed,
    "kills": kills,
}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--rows", type=int)
    asked = parser.parse_args()
    names = asked.parts.split(",")
    unknown = next((name for name in names if name not in PARTS), None)
    if unknown is not None:
        parser.error(f"unknown part {unknown!r}: known are {', '.join(PARTS)}")
    report(*(line for name in names for line in PARTS[name](asked.rows)))


if __name__ == "__main__":
    main()
