"""Summaries of the tables of streams: places, distance to the best peer, accuracy after each change."""

from __future__ import annotations

from typing import Any

from smartcl.paper.datasets.stream_suite import SUITE
from smartcl.paper.experiments.measures import format_difference, format_value
from smartcl.paper.experiments.real_stream_tables import IN_FIFTIES, ROW_BY_ROW, real_streams_data
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_table import Table
from smartcl.paper.experiments.streams import FIRST_ROWS, LATER_ROWS, RETURNING, STREAM_RUNS, streams_data
from smartcl.paper.report.grid import Cell, Grid
from smartcl.paper.report.real_streams_figure import place_grids


def summary_grids(table: Table, runs: ResultFolder) -> list[Grid]:
    """What stands above the grids of a table's metrics: of streams who is where, of other tables nothing."""
    counted = [(table, table.seeds)]
    if table.name in (ROW_BY_ROW.name, IN_FIFTIES.name):
        return place_grids(real_streams_data(counted, runs))
    return stream_grids(streams_data(counted, runs)) if table.name == STREAM_RUNS.name else []


def stream_grids(data: dict[str, Any]) -> list[Grid]:
    """Of what ``streams_data`` says; nothing where no run is."""
    if not data["ranks"]:
        return []
    return [rank_grid(data["ranks"]), margin_grid(data["margins"]), *return_grid(data["curves"])]


def rank_grid(ranks: list[dict[str, Any]]) -> Grid:
    """The mean place first, the best row above."""
    columns = [column for column in SUITE if any(column in line["places"] for line in ranks)]
    best = min((line["mean"] for line in ranks if line["mean"] is not None), default=None)
    lines = tuple(
        (
            Cell.of(line["row"]),
            Cell(_places(line["mean"], 2), line["mean"], strong=line["mean"] is not None and line["mean"] == best),
            *(Cell(_places(place, 1), place) for place in map(line["places"].get, columns)),
        )
        for line in sorted(ranks, key=lambda line: (line["mean"] is None, line["mean"]))
    )
    title = "Place on each stream, by accuracy (AUC where one in 1,000 is an event), and the mean of them"
    return Grid("streams-ranks", title, ("method", "mean place", *columns), lines)


def margin_grid(margins: list[dict[str, Any]]) -> Grid:
    """A line for each stream."""
    lines = []
    for each in margins:
        metric = each["metric"]
        scores = [Cell(format_value(metric, each[name]), each[name]) for name in ("smart", "guards_off", "peer")]
        distances = [_distance(metric, each[name]) for name in ("to_peer", "to_guards_off")]
        lines.append((Cell.of(each["column"]), *scores, Cell.of(each["best_peer"]), *distances))
    heads = (
        "stream",
        "adaptive",
        "guards off",
        "best peer",
        "which is",
        "adaptive − best peer",
        "adaptive − guards off",
    )
    return Grid(
        "streams-margins", "Distance to the best peer and to the guards off, in accuracy or AUC", heads, tuple(lines)
    )


def return_grid(curves: list[dict[str, Any]]) -> list[Grid]:
    """On the stream that is reversed and returns."""
    found = [curve for curve in curves if curve["column"] == RETURNING]
    lines = tuple(
        (Cell.of(curve["row"]), *(Cell(f"{value:.2f}", value, curve["n"]) for value in curve["after"] + curve["later"]))
        for curve in found
    )
    title = f"Accuracy in the {FIRST_ROWS:,} rows after the start, the reversal and the return ({RETURNING})"
    times = ("start", "reversal", "return")
    heads = ("method", *times, *(f"{time}, rows {LATER_ROWS} to {FIRST_ROWS:,}" for time in times))
    return [Grid("streams-return", title, heads, lines)] if found else []


def _places(place: float | None, digits: int) -> str:
    return "–" if place is None else f"{place:.{digits}f}"


def _distance(metric: str, value: float | None) -> Cell:
    return Cell("–" if value is None else format_difference(metric, value), value)
