"""The first screens: for users real streams, wrong labels and bytes; for researchers the paper's stream."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from math import log10
from pathlib import Path
from typing import Any, NamedTuple

from smartcl.memory import format_bytes
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.precision_runs import BYTES_RUNS, IMAGE_NBYTES
from smartcl.paper.experiments.real_stream_tables import COMMON, DEFAULT, NOISE_TABLE, ROW_BY_ROW, real_streams_data
from smartcl.paper.experiments.run_table import Row, Table
from smartcl.paper.report.charts import WIDTH, Axis, Bar, Series, bar_chart, line_chart
from smartcl.paper.report.curves import PAPER, series_of
from smartcl.paper.report.loaded_runs import Runs
from smartcl.paper.report.page_figure import PageFigure, slug
from smartcl.paper.report.real_streams_figure import against_speed, against_state
from smartcl.paper.report.svg import Drawing, Key

#: Ours, the paper's method as we run it, the strongest of others, the plain one, and ours with all samples kept.
SHOWN = ("smart", "smart-paper", "der++", "er", "joint-smart")
#: Numbers of whole images whose bytes are labelled.
LABELLED = (5, 30, 100, 500)
#: Three drawings stand side by side.
NARROW = 380.0

TITLE = "At a glance: the paper's stream"
USERS_TITLE = "At a glance: real streams"
SPEED = re.compile(r"(.+): rows a second")


def users_glance(runs: Runs) -> PageFigure:
    """Real streams: accuracy against speed and against the bytes of the state, and what wrong labels of people cost."""
    [points] = real_streams_data([(ROW_BY_ROW, runs.seeds)], runs)["points"].values()
    ours = any(point["row"] == DEFAULT.label for point in points)  # peers alone would say nothing
    drawings = {
        "accuracy against rows a second": against_speed(points, NARROW) if ours else None,
        "wrong labels": _of_annotators(runs, NARROW if ours else WIDTH),
        "accuracy against bytes": against_state(points, NARROW) if ours else None,
    }
    panels = tuple((title, drawing) for title, drawing in drawings.items() if drawing is not None)
    if not panels:
        return PageFigure("glance-users", USERS_TITLE, missing="smartcl reproduce real-streams")
    caption = (
        "Comments judged as toxic or not, in the order they were written: learned with the label of one annotator "
        "each, or with as many labels made wrong on purpose, and scored on the majority of about ten."
    )
    if ours:
        caption = (
            f"Left and right, {', '.join(COMMON)} row by row, each row answered before it is learned: the mean "
            "accuracy, geometric means of rows a second of CPU time and of the bytes of the state as it is pickled. "
            f"Middle: {caption}"
        )
    caption += " All learners in one run; the tables real-rows, real-fifties and real-noise have the numbers."
    return PageFigure("glance-users", USERS_TITLE, caption, panels)


def _of_annotators(runs: Runs, width: float) -> Drawing | None:
    """AUC by whose labels were learned, of those that the default has learned."""
    columns = [column for column in NOISE_TABLE.columns if runs.cell(NOISE_TABLE, DEFAULT, column)["n"]]
    places = {column: float(place) for place, column in enumerate(columns)}
    series = [series_of(NOISE_TABLE, row, places, runs) for row in NOISE_TABLE.rows]
    drawn = [replace(each, joined=False) for each in series if each.points]
    if not drawn:
        return None
    ticks = [(x, column.replace(" ", "\n")) for column, x in places.items()]
    values = [point.y for each in drawn for point in each.points]
    says = f"AUC by labels: {', '.join(each.key.label for each in drawn)}"
    x, y = Axis("labels learned", -0.4, len(places) - 0.6, ticks), Axis.around("AUC", values)
    return line_chart(drawn, x, y, says, width=width)


def glance(runs: Runs, benchmarks: Path) -> PageFigure:
    """Of the runs that are there, and of a file of benchmarks."""
    drawings = {
        "accuracy against bytes": _against_bytes(runs),
        "accuracy against wrong labels": _against_noise(runs),
        "rows a second": _speeds(benchmarks),
    }
    panels = tuple((title, drawing) for title, drawing in drawings.items() if drawing is not None)
    if not panels:
        return PageFigure("glance", TITLE, missing="smartcl reproduce table1")
    caption = (
        "Disjoint MNIST, mean accuracy of the five tasks after the last batch: left by the bytes a memory may take, "
        "middle in the bytes of 300 images by the share of training images under a foreign label. Bands are one "
        "standard deviation, hollow marks what the paper prints for SMART; a dashed line is joint training with "
        "smart's own training, which keeps every sample."
    )
    if drawings["rows a second"] is not None:
        caption += (
            " Right, rows learned in a second of one core, and the accuracy reached, in one run of make bench-peers, "
            "on the same stream and bytes."
        )
    return PageFigure("glance", TITLE, caption, panels)


def _against_bytes(runs: Runs) -> Drawing | None:
    """``smart`` from five images on, the others as far as Table 1 goes."""
    table = TABLES["table1"]
    series = [_series(_table_of(row), row, runs) for row in _few(table)]
    sizes = [images * IMAGE_NBYTES for images in LABELLED]
    ticks = [(log10(size), f"{format_bytes(size)}\n{images}") for size, images in zip(sizes, LABELLED, strict=True)]
    axis = Axis("bytes, and as many whole images", ticks[0][0] - 0.1, ticks[-1][0] + 0.1, ticks)
    return _lines(series, axis, "Accuracy against bytes")


def _against_noise(runs: Runs) -> Drawing | None:
    table = TABLES["table2"]
    places = {column: float(place) for place, column in enumerate(table.columns)}
    series = [series_of(table, row, places, runs) for row in _few(table)]
    axis = Axis(
        "images under a foreign label", -0.25, len(places) - 0.75, [(x, column) for column, x in places.items()]
    )
    return _lines(series, axis, "Accuracy against wrong labels")


def _speeds(benchmarks: Path) -> Drawing | None:
    """A bar for each learner that was timed; None where none was."""
    found = speeds(benchmarks)
    if not found:
        return None
    bars = [
        Bar(
            Key(slug(label), label, "red" if label.startswith(("smart", "adaptive")) else "slate"),
            speed.rows_a_second,
            f"{label}: {speed.rows_a_second:,.0f} rows a second",
            "" if speed.accuracy is None else f" · {speed.accuracy:.1f} %",
        )
        for label, speed in sorted(found.items(), key=lambda pair: -pair[1].rows_a_second)
    ]
    return bar_chart(bars, "one core, the same bytes; accuracy", "Rows learned in a second, and accuracy", NARROW)


class Speed(NamedTuple):
    """What a learner did in a second, and how well, if that is known."""

    rows_a_second: float
    accuracy: float | None


def speeds(benchmarks: Path) -> dict[str, Speed]:
    """By learner, as the benchmark against peers measured them; nothing where there is no such file."""
    try:
        figures: list[dict[str, Any]] = json.loads(benchmarks.read_text(encoding="utf-8")).get("peers", [])
    except (OSError, ValueError, AttributeError):
        return {}
    measured = {str(figure["figure"]): float(figure["measured"]) for figure in figures}
    matches = [(SPEED.fullmatch(name), value) for name, value in measured.items()]
    return {match[1]: Speed(value, measured.get(f"{match[1]}: accuracy")) for match, value in matches if match}


def _few(table: Table) -> list[Row]:
    """Each method's first row, in order."""
    first = {row.method: row for row in reversed(table.rows)}
    return [first[method] for method in SHOWN if method in first]


def _table_of(row: Row) -> Table:
    return BYTES_RUNS if row.method == "smart" else TABLES["table1"]


def _series(table: Table, row: Row, runs: Runs) -> Series:
    return series_of(table, row, {column: log10(int(column) * IMAGE_NBYTES) for column in table.columns}, runs)


def _lines(series: list[Series], x: Axis, says: str) -> Drawing | None:
    drawn = [each for each in series if each.points]
    if not drawn:
        return None
    values = [p.y + sign * p.spread for each in drawn for p in (*each.points, *each.hollow) for sign in (1, -1)]
    y = Axis.around("accuracy, %", values, high=100)
    return line_chart(drawn, x, y, f"{says}: {', '.join(each.key.label for each in drawn)}", PAPER, width=NARROW)
