"""The few numbers a reader takes away, each with what it is to be held against."""

from __future__ import annotations

from dataclasses import dataclass

from smartcl.learners.methods import USUAL_METHOD
from smartcl.memory import format_bytes
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.report.curves import column_bytes
from smartcl.paper.report.loaded_runs import REFERENCES, Runs

OURS = ("smart", "smart-paper", USUAL_METHOD)


@dataclass(frozen=True)
class Highlight:
    """``value`` large, what it is above, what it compares with below."""

    heading: str
    value: str
    whose: str
    against: tuple[str, ...]


def highlights(runs: Runs) -> list[Highlight]:
    """Small memory, the paper's memory, and the paper's memory with wrong labels; those that have runs."""
    places = (
        ("table1", "100", "Smallest memory"),
        ("table1", "300", "Paper's memory"),
        ("table2", "30%", "30% wrong labels"),
    )
    found = [_highlight(runs, name, column, heading) for name, column, heading in places]
    return [each for each in found if each is not None]


def _highlight(runs: Runs, name: str, column: str, heading: str) -> Highlight | None:
    table = TABLES[name]
    cells = [(row, runs.cell(table, row, column)) for row in table.rows]
    measured = [(row, cell) for row, cell in cells if cell["n"] and row.method not in REFERENCES]
    if not measured:
        return None
    others = [pair for pair in measured if pair[0].method not in OURS]
    best = max(others or measured, key=lambda pair: float(pair[1]["mean"]))
    row, cell = next((pair for pair in measured if pair[0].method == "smart"), best)
    against = []
    if row.method == "smart" and others:
        against.append(f"best other: {best[1]['mean']:.1f} % ({best[0].label}, n {best[1]['n']})")
    printed = next((c["published"] for r, c in cells if r.printed == "SMART" and c["published"] is not None), None)
    if printed is not None:
        against.append(f"SMART as published: {printed:.1f} %")
    size = column_bytes(table, column, runs)
    where = heading if size is None else f"{heading}, {format_bytes(round(size))}"
    spread = "" if cell["std"] is None else f" ± {cell['std']:.1f}"
    return Highlight(where, f"{cell['mean']:.1f} %", f"{row.label}{spread}, n {cell['n']}", tuple(against))
