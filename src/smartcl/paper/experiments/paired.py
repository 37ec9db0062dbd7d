"""A table's own rows against every other row, seed by seed: the difference, and how sure it is."""

from __future__ import annotations

from typing import Any

from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.table import Row, Table
from smartcl.paper.scores.intervals import paired_difference

#: Whose rows are set against the others: SMART, and where a table has none of it, its regulariser.
OURS = (("smart", "smart-paper"), ("ncc",))


def paired_differences(table: Table, seeds: int, results: ResultFolder) -> list[dict[str, Any]]:
    """For each pair of rows and each column with a seed in common: the mean of ours minus theirs, its interval, n."""
    own = own_rows(table)
    lines = []
    for position, ours in enumerate(own):
        others = [row for row in table.rows if row not in own[: position + 1]]
        for theirs in others:
            for column in table.columns:
                a, b = (table.values(row, column, seeds, results) for row in (ours, theirs))
                both = sorted(a.keys() & b.keys())
                if both:
                    pair = paired_difference([a[seed] for seed in both], [b[seed] for seed in both])
                    lines.append({"row": ours.label, "versus": theirs.label, "column": column, **pair._asdict()})
    return lines


def own_rows(table: Table) -> list[Row]:
    """The rows that are set against the others, the default method first: each method's first row."""
    firsts: dict[str, Row] = {}
    for row in table.rows:
        if not row.at and row.reference is None:
            firsts.setdefault(row.method, row)
    for methods in OURS:
        rows = [firsts[method] for method in methods if method in firsts]
        if rows:
            return rows
    return []
