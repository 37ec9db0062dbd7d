"""A grid of runs: methods by settings, what is read of their results, and how they compare, seed by seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import Any

from smartcl.paper.experiments.published import Cells
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.scores.intervals import paired_difference

#: Values kept exactly, each row in a format of its own; by itself, ``smart`` keeps them as precisely as matters.
EXACT_VALUES: dict[str, Any] = {"precision": "plain"}

#: Whose rows are set against the others: SMART, and where a table has none of it, its regulariser.
OURS = (("smart", "smart-paper"), ("ncc",))


@dataclass(frozen=True)
class Row:
    """A method with its parameters, and what is read of its runs.

    ``printed`` is the row of the paper's table to set beside it, ``at`` what this row decides of a run instead of the
    column, ``versus`` a row to compare with seed by seed, ``seeds`` how many are enough where the table asks for more.
    A row with a ``reference`` shows that reference line, which every run of the method carries. It has cells in all
    columns but those it is ``without``.
    """

    label: str
    method: str
    parameters: dict[str, Any] = field(default_factory=dict)
    printed: str | None = None
    at: dict[str, str] = field(default_factory=dict)
    versus: Row | None = None
    reference: str | None = None
    seeds: int | None = None
    without: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Table:
    """``at(column)`` says what of a run the column decides: memory, noise, or without a ``dataset`` that too.

    ``metrics`` are entries of a result; the paper prints the first of them, for the first columns. ``sources`` are the
    data learned from where they are not a data set's own.
    """

    name: str
    title: str
    dataset: str | None
    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    at: Callable[[str], dict[str, str]]
    published: Cells
    seeds: int = 5
    metrics: tuple[str, ...] = ("accuracy",)
    sources: Mapping[str, str] = field(default_factory=dict)

    def specs(self, seeds: int | None = None) -> list[RunSpec]:
        """Every run of the table, all cells of a seed before the next; each row's own number of seeds, or ``seeds``."""
        wanted = {row.label: seeds or self.seeds_of(row) for row in self.rows}
        return [
            self.spec(row, column, seed)
            for seed in range(max(wanted.values(), default=0))
            for row in self.rows
            for column in self.columns
            if seed < wanted[row.label] and column not in row.without
        ]

    def seeds_of(self, row: Row) -> int:
        """How many seeds the row is to have."""
        return self.seeds if row.seeds is None else min(row.seeds, self.seeds)

    def spec(self, row: Row, column: str, seed: int) -> RunSpec:
        settings = {"dataset": self.dataset, **self.at(column), **row.at}
        source = self.sources.get(settings["dataset"] or "", "")
        return RunSpec.of(row.parameters, method=row.method, seed=seed, source=source, **settings)

    def cells(self, seeds: int, results: ResultFolder) -> list[dict[str, Any]]:
        """Every cell, metric by metric, row by row."""
        return [
            self.cell(row, column, seeds, results, metric)
            for metric in self.metrics
            for row in self.rows
            for column in self.columns
        ]

    def cell(
        self, row: Row, column: str, seeds: int, results: ResultFolder, metric: str | None = None
    ) -> dict[str, Any]:
        """Mean, deviation and number of the runs that are there, the published value, the row it is set against."""
        metric = metric or self.metrics[0]
        found = self.values(row, column, seeds, results, metric)
        values = list(found.values())
        return {
            "row": row.label,
            "column": column,
            "metric": metric,
            "mean": fmean(values) if values else None,
            "std": stdev(values) if len(values) > 1 else None,
            "n": len(values),
            "published": self._published(row, column) if metric == self.metrics[0] else None,
            "versus": None if row.versus is None else self._versus(row.versus, found, column, seeds, results, metric),
        }

    def values(
        self, row: Row, column: str, seeds: int, results: ResultFolder, metric: str | None = None
    ) -> dict[int, float]:
        """What the runs that are there say, by seed; a reference line has scores but holds nothing."""
        metric = metric or self.metrics[0]
        if column in row.without:
            return {}
        found = {seed: results.load(self.spec(row, column, seed)) for seed in range(seeds)}
        read = {
            seed: result if row.reference is None else result.get("references", {}).get(row.reference, {})
            for seed, result in found.items()
            if result is not None
        }
        return {seed: result[metric] for seed, result in read.items() if result.get(metric) is not None}

    def _versus(
        self, other: Row, ours: dict[int, float], column: str, seeds: int, results: ResultFolder, metric: str
    ) -> dict[str, Any] | None:
        """The other row's mean on the seeds both have, our ratio to it, and the paired difference with its interval."""
        theirs = self.values(other, column, seeds, results, metric)
        both = sorted(ours.keys() & theirs.keys())
        if not both:
            return None
        pairs = [ours[seed] for seed in both], [theirs[seed] for seed in both]
        mean = fmean(pairs[1])
        return {
            "row": other.label,
            "mean": mean,
            "ratio": fmean(pairs[0]) / mean if mean else None,
            **paired_difference(*pairs)._asdict(),
        }

    def part(self, methods: Sequence[str], columns: Sequence[str]) -> Table:
        """The rows of these methods and these columns only; all where none is named."""
        for kind, names, known in (
            ("row of the method", methods, list(dict.fromkeys(row.method for row in self.rows))),
            ("column", columns, list(self.columns)),
        ):
            unknown = next((name for name in names if name not in known), None)
            if unknown is not None:
                raise ValueError(f"{self.name} has no {kind} {unknown!r}: it has {', '.join(known)}")
        kept = [i for i, column in enumerate(self.columns) if not columns or column in columns]
        return replace(
            self,
            rows=tuple(row for row in self.rows if not methods or row.method in methods),
            columns=tuple(self.columns[i] for i in kept),
            published={name: tuple(cells[i] for i in kept if i < len(cells)) for name, cells in self.published.items()},
        )

    def _published(self, row: Row, column: str) -> float | None:
        if row.printed is None:
            return None
        printed, position = self.published[row.printed], self.columns.index(column)
        return printed[position][0] if position < len(printed) else None


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


#: Tables with the number of seeds to read of each.
Counted = Sequence[tuple[Table, int]]


def results_of(tables: Counted, results: ResultFolder) -> Iterator[tuple[RunSpec, dict[str, Any]]]:
    """Every run of these tables that is there, once, with its result."""
    for spec in dict.fromkeys(spec for table, seeds in tables for spec in table.specs(seeds)):
        result = results.load(spec)
        if result is not None:
            yield spec, result
