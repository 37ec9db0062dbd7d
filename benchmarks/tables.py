"""The default estimator and simple rivals on real and made streams of tables: each batch is predicted, then learned.

``python -m benchmarks tables --streams elec,weather --learners default,ridge --rows 5000 --seeds 2 --memory 20kB``

All options may be left out. Learners are ``default`` (the estimator with no argument but its memory and seed), the
names in ``benchmarks/rivals.py``, and every method of smartcl by name. The development streams run only if they are
named. Streams of the suite are those that ``make peers`` writes; pip brings the others. A stream or a package that is
not there is left out with one line. ``python -m benchmarks.tables`` does the same and writes no file.

All rows after the first batch are scored. "Worst tenth - commonest" cuts them into ten parts: it is the smallest
distance, in percent, of the learner's accuracy in a part from that of the class that was commonest so far. Speeds are
rows per second of CPU time, for predicting and learning. A learner that no seed changes runs once.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from statistics import fmean, stdev

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks.rivals import RIVALS, Contender, Floats, Labels, Rows
from smartcl import SmartClassifier
from smartcl.errors import UnavailableError
from smartcl.learners.methods import find_method
from smartcl.paper.datasets.corruption import redraw_label
from smartcl.paper.datasets.real_streams import load_real_stream
from smartcl.paper.datasets.stream_suite import SEEDS, SUITE, read_suite_file, stream_path
from smartcl.paper.datasets.task_stream import CORRUPT
from smartcl.paper.peers.baselines import Commonest
from smartcl.paper.scores.one_pass import as_probabilities
from smartcl.paper.scores.prequential import BATCH_ROWS, Online
from smartcl.paper.scores.probability_scores import accuracy_by_tenth, stream_scores


@dataclass(frozen=True)
class Data:
    """Rows, their clean labels, and the labels that are learned. Rows from ``learned`` on are only predicted.

    ``seeded`` says whether another seed gives other data.
    """

    X: Rows
    y: Labels
    taught: Labels
    classes: int
    learned: int
    seeded: bool


@dataclass(frozen=True)
class Stream:
    """Which rows of a source are learned, how many after them are only predicted, and the share of labels redrawn."""

    source: str
    start: int = 0
    rows: int | None = None
    frozen: int = 0
    noise: float = 0.0

    def read(self, seed: int, most: int | None = None) -> Data:
        """The data of this seed, of which at most this number of rows is learned."""
        if self.source in SUITE:
            suite = read_suite_file(stream_path(self.source))
            (X, y), classes, seeded = suite.with_seed(seed), suite.classes, len(suite.y) > 1
        else:
            real = load_real_stream(self.source)
            X, y, classes, seeded = real.X, real.y, len(real.classes), False
        there = len(y) - self.start - self.frozen
        learned = min(limit for limit in (there, self.rows, most) if limit is not None)
        part = slice(self.start, self.start + learned + self.frozen)
        taught = redraw_label(y[part], classes, self.noise, np.random.default_rng([seed, CORRUPT]))
        return Data(X[part].copy(), y[part], taught, classes, learned, seeded or self.noise > 0)


STREAMS = {
    "elec": Stream("elec"),
    "weather": Stream("weather"),
    "covtype": Stream("covtype", rows=30_000),
    "flights": Stream("flights", rows=20_000, frozen=5000),
    **{
        name: Stream(name)
        for name in ("bananas", "image-segments", "sea-abrupt", "hyperplane", "sine-return", "phishing", "rbf-drift")
    },
    **{f"{name}-noise": Stream(name, noise=0.3) for name in ("bananas", "image-segments", "rbf-drift")},
}
#: What choices are made on: rows that no stream above has.
DEVELOPMENT = {
    "covtype-late": Stream("covtype", start=200_000, rows=30_000),
    "flights-late": Stream("flights", start=100_000, rows=20_000),
    "moving_squares": Stream("moving_squares", rows=30_000),
    "sea_big": Stream("sea_big", rows=30_000),
}


class Ours:
    """The estimator as a user has it: raw values, and no word of the classes to come."""

    def __init__(self, method: str, memory: str, features: int, classes: int, seed: int) -> None:
        self.model, self.classes = SmartClassifier(memory, random_state=seed), classes
        if method != "default":
            self.model.set_params(method=method)

    def learn(self, X: Rows, y: Labels) -> None:
        self.model.partial_fit(X, y)

    def scores(self, X: Rows) -> Floats:
        scores = np.zeros((len(X), self.classes))
        scores[:, self.model.classes_] = self.model.predict_proba(X)
        return scores


@dataclass(frozen=True)
class Run:
    """What one learner reached with one seed."""

    scores: dict[str, float]
    tenths: list[float]


def run_on(online: Online, data: Data) -> dict[str, Run]:
    """The run on the stream, under "", and on the rows that are only predicted, if there are any."""
    start = time.process_time()
    found = predict_and_learn(online, data.X[: data.learned], data.taught)
    speed = data.learned / (time.process_time() - start)
    y = data.y[BATCH_ROWS : data.learned]
    tenths = accuracy_by_tenth(found, y)
    base = predict_and_learn(Commonest(data.classes), data.X[: data.learned], data.taught)
    gap = min(own - least for own, least in zip(tenths, accuracy_by_tenth(base, y), strict=True))
    runs = {"": Run({**stream_scores(found, y), "worst_gap": gap, "rows_a_second": speed}, tenths)}
    if data.learned < len(data.y):
        frozen = as_probabilities(online.scores(data.X[data.learned :]))
        runs[", then frozen"] = Run(stream_scores(frozen, data.y[data.learned :]), [])
    return runs


def predict_and_learn(online: Online, X: Rows, taught: Labels) -> Floats:
    """The probabilities of all rows after the first batch, each batch predicted before it is learned."""
    online.learn(X[:BATCH_ROWS], taught[:BATCH_ROWS])
    found = []
    for start in range(BATCH_ROWS, len(X), BATCH_ROWS):
        rows = slice(start, min(start + BATCH_ROWS, len(X)))
        found.append(online.scores(X[rows]))
        online.learn(X[rows], taught[rows])
    return as_probabilities(np.concatenate(found))


#: The runs of each learner on each stream, by what was learned and by whom, one for each seed that matters.
Runs = dict[tuple[str, str], list[Run]]


def all_runs(given: argparse.Namespace) -> Runs:
    """All that was asked for, less what cannot be had here."""
    runs: Runs = {}
    learners = contenders(given.learners, given.memory)
    for name in given.streams:
        for seed in range(given.seeds):
            try:
                data = (STREAMS | DEVELOPMENT)[name].read(seed, given.rows)
            except UnavailableError as error:
                print(f"{name}: left out, {error}", file=sys.stderr)
                break
            for learner, contender in learners.items():
                if seed and not (contender.seeded or data.seeded):
                    continue  # it would be the first run again
                for part, run in run_on(contender.build(data.X.shape[1], data.classes, seed), data).items():
                    runs.setdefault((f"{name}, {data.learned:,} rows{part}", learner), []).append(run)
                    says = f"{name}{part}, {learner}, seed {seed}: {run.scores['accuracy']:.2f}%"
                    print(says, file=sys.stderr, flush=True)
    return runs


def contenders(names: list[str], memory: str) -> dict[str, Contender]:
    """Those of these names whose package is installed; ours say in which memory they learn."""
    found = {}
    for name in names:
        if name not in RIVALS:
            found[f"{name} in {memory}"] = Contender(partial(Ours, name, memory), seeded=True)
        elif find_spec(RIVALS[name].package) is not None:
            found[name] = RIVALS[name]
        else:
            print(f"{name}: left out, the package {RIVALS[name].package} is not installed", file=sys.stderr)
    return found


def figures(runs: Runs) -> Iterator[dict[str, object]]:
    """Each learner on each stream, for the file of results: means and sample standard deviations over seeds."""
    for (stream, learner), made in runs.items():
        scores = {name: [run.scores[name] for run in made] for name in made[0].scores}
        yield {
            "figure": f"{stream}, {learner}: accuracy",
            "measured": fmean(scores["accuracy"]),
            "wanted": "-",
            "n": len(made),
            "means": {name: round(fmean(values), 4) for name, values in scores.items()},
            "deviations": {name: round(stdev(values), 4) for name, values in scores.items() if len(values) > 1},
            "tenths": np.mean([run.tenths for run in made], axis=0).round(2).tolist(),
        }


#: The columns of the printed table: the heading, the score, and how a number of it is written.
COLUMNS = (
    *(("accuracy", "accuracy", ".2f"), ("balanced", "balanced_accuracy", ".2f"), ("AUC", "auc", ".3f")),
    *(("log loss", "log_loss", ".3f"), ("ECE", "calibration_error", ".3f")),
    *(("worst tenth - commonest", "worst_gap", ".1f"), ("rows/s", "rows_a_second", ",.0f")),
)


def show(runs: Runs) -> None:
    """Means over seeds, with the deviation where there is more than one run; accuracies in percent."""
    table = Table(box=None, pad_edge=False)
    for heading in ("stream", "learner", "n", *(heading for heading, _, _ in COLUMNS)):
        table.add_column(heading, justify="left" if heading in ("stream", "learner") else "right", no_wrap=True)
    for stream in dict.fromkeys(stream for stream, _ in runs):
        for (_, learner), made in ((key, made) for key, made in runs.items() if key[0] == stream):
            table.add_row(stream, learner, str(len(made)), *(cell(made, name, form) for _, name, form in COLUMNS))
        table.add_section()
    Console(stderr=True, width=180).print(table, highlight=False)


def cell(made: list[Run], name: str, form: str) -> str:
    """Mean and deviation of a score, or nothing where there is none; of speeds only the mean."""
    values = [run.scores[name] for run in made if name in run.scores]
    mean = format(fmean(values), form) if values else ""
    return mean if len(values) < 2 or name == "rows_a_second" else f"{mean} ±{stdev(values):{form}}"


def options() -> argparse.Namespace:
    """What was asked for; help goes the way of errors, for standard output is read as figures."""
    parser = argparse.ArgumentParser("python -m benchmarks tables", add_help=False)
    parser.add_argument("--streams", default=",".join(STREAMS), help="names with commas between them")
    parser.add_argument("--learners", default=",".join(["default", *RIVALS]), help="names with commas between them")
    parser.add_argument("--rows", type=int, help="learn at most this number of rows of each stream")
    parser.add_argument("--seeds", type=int, default=SEEDS, choices=range(1, SEEDS + 1))
    parser.add_argument("--memory", default="100kB", help="of the methods of smartcl")
    given = parser.parse_args()
    given.streams, given.learners = given.streams.split(","), given.learners.split(",")
    if unknown := [name for name in given.streams if name not in STREAMS | DEVELOPMENT]:
        parser.error(f"unknown stream {unknown[0]!r}: known are {', '.join(STREAMS | DEVELOPMENT)}")
    if given.rows is not None and given.rows < 2 * BATCH_ROWS:
        parser.error(f"--rows must be at least {2 * BATCH_ROWS}, got {given.rows}")
    try:
        for name in given.learners:
            if name != "default" and name not in RIVALS:
                find_method(name)
    except ValueError as error:
        parser.error(f"{error}; rivals are {', '.join(RIVALS)}")
    return given


if __name__ == "__main__":
    torch.set_num_threads(1)
    found = all_runs(options())
    show(found)
    print(json.dumps(list(figures(found))))
