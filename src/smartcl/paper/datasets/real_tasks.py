"""Tasks on real tables: which rows are learned, how many at a time, and whose labels."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smartcl.paper.datasets.corruption import other_label
from smartcl.paper.datasets.real_tables import (
    NUMBERS,
    TABLE_FILES,
    AnyRows,
    RealTable,
    load_real_table,
    source_of_table,
)
from smartcl.paper.datasets.task_stream import CORRUPT

if TYPE_CHECKING:
    from smartcl.data.batch import Ints

#: Rows that are learned of a stream unless it is said: of these all, of the others the first. Trees of River's learn a
#: hundred rows a second, and there are ten learners and two ways.
ALL_ROWS = {"elec": 45_312, "weather": 18_159}
FIRST_ROWS = {"toxicity": 20_000}
MOST_ROWS = 10_000
#: The first rows, whose answers are not scored: those of a batch, before which nothing is known.
UNSCORED_ROWS = 50


@dataclass(frozen=True)
class LearnedRows:
    """Rows, the labels that are learned, those that answers are scored by, and the number of classes."""

    rows: AnyRows
    taught: Ints
    truth: Ints
    classes: int


@dataclass(frozen=True)
class RealTask:
    """The first ``rows`` of a stream, ``step`` at a time, with labels as they are or of another kind.

    >>> RealTask.parse("elec-by-1")
    RealTask(stream='elec', step=1, rows=45312, labels='')
    >>> RealTask.parse("toxicity.one-annotator-by-50-first-9000").name
    'toxicity.one-annotator-by-50-first-9000'
    """

    stream: str
    step: int
    rows: int
    labels: str = ""

    @classmethod
    def parse(cls, name: str) -> RealTask:
        """The task of this name; ValueError if it names none."""
        found = re.fullmatch(r"([a-z0-9-]+?)(?:\.([a-z-]+?))?-by-([0-9]+)(?:-first-([0-9]+))?", name)
        stream, labels, step, rows = (None,) * 4 if found is None else found.groups()
        if stream not in (*NUMBERS, *TABLE_FILES) or labels not in (None, *LABELS):
            raise ValueError(f"there is no real stream {name!r}: known are {', '.join([*NUMBERS, *TABLE_FILES])}")
        return cls(stream, int(step or 0), rows_of_stream(stream) if rows is None else int(rows), labels or "")

    @property
    def name(self) -> str:
        """What ``parse`` makes the task of again."""
        first = "" if self.rows == rows_of_stream(self.stream) else f"-first-{self.rows}"
        return f"{self.stream}{'.' if self.labels else ''}{self.labels}-by-{self.step}{first}"

    @property
    def source(self) -> str:
        return source_of_table(self.stream)

    @property
    def protocol(self) -> dict[str, Any]:
        """What a run's key says beside the name."""
        return {"rows_at_a_time": self.step, "rows": self.rows, "scored_after": UNSCORED_ROWS}

    def load(self, seed: int, data_dir: Path | str | None = None) -> LearnedRows:
        """Its rows with the labels of this seed."""
        table = load_real_table(self.stream, data_dir)
        truth = table.y[: self.rows]
        taught = (
            LABELS[self.labels](table, len(truth), np.random.default_rng([seed, CORRUPT])) if self.labels else truth
        )
        return LearnedRows(table.rows(len(truth)), taught, truth, len(table.classes))


def rows_of_stream(stream: str) -> int:
    """How many rows are learned unless it is said."""
    return (ALL_ROWS | FIRST_ROWS).get(stream, MOST_ROWS)


def is_real_task(name: str) -> bool:
    """Whether this names a real stream and how it is learned."""
    try:
        RealTask.parse(name)
    except ValueError:
        return False
    return True


# --- wrong labels ------------------------------------------------------------


def one_annotator(table: RealTable, rows: int, rng: np.random.Generator) -> Ints:
    """The answer of one of those who were asked, drawn for each row."""
    return drawn_marks(table, rows, rng)[:, 2]


def symmetric(table: RealTable, rows: int, rng: np.random.Generator) -> Ints:
    """Every label wrong as often as the answer of one annotator is."""
    marks = marks_of(table, rows)
    rate = float((marks[:, 2] != table.y[marks[:, 0]]).mean())
    return other_label(table.y[:rows], len(table.classes), rate, rng)


def by_class(table: RealTable, rows: int, rng: np.random.Generator) -> Ints:
    """Labels of each class wrong as often as the annotators' answers to rows of that class are."""
    marks, truth = marks_of(table, rows), table.y[:rows]
    rates = mean_by(table.y[marks[:, 0]], marks[:, 2] != table.y[marks[:, 0]])
    return np.where(rng.random(rows) < rates[truth], 1 - truth, truth)


def by_annotator(table: RealTable, rows: int, rng: np.random.Generator) -> Ints:
    """Labels wrong as often as the answers of the annotator who was drawn for the row are, whatever the row."""
    marks, truth = marks_of(table, rows), table.y[:rows]
    rates = mean_by(marks[:, 1], marks[:, 2] != table.y[marks[:, 0]])
    drawn = drawn_marks(table, rows, rng)
    return np.where(rng.random(rows) < rates[drawn[:, 1]], 1 - truth, truth)


def marks_of(table: RealTable, rows: int) -> Ints:
    """Who said what of the first rows."""
    if table.marks is None:
        raise ValueError(f"{table.source} has no annotators")
    return table.marks[: np.searchsorted(table.marks[:, 0], rows)]


def drawn_marks(table: RealTable, rows: int, rng: np.random.Generator) -> Ints:
    """Of each row one annotator and the answer, all as likely."""
    marks = marks_of(table, rows)
    counts = np.bincount(marks[:, 0], minlength=rows)
    first = np.cumsum(counts) - counts
    drawn: Ints = marks[first + (rng.random(rows) * counts).astype(np.int64)]
    return drawn


def mean_by(group: Ints, values: Any) -> Any:
    """The mean in each group.

    >>> mean_by(np.array([0, 2, 0]), np.array([1, 5, 0])).tolist()
    [0.5, 0.0, 5.0]
    """
    counts = np.bincount(group)
    return np.bincount(group, values) / np.maximum(counts, 1)


LABELS: dict[str, Callable[[RealTable, int, np.random.Generator], Ints]] = {
    "one-annotator": one_annotator,
    "symmetric": symmetric,
    "by-class": by_class,
    "by-annotator": by_annotator,
}
