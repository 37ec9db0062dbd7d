"""The runs a report is made of: every file of results read once, runs of another version of a method left out."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.run_table import Row, Table
from smartcl.paper.experiments.state_bytes import read_beside, total_of
from smartcl.paper.experiments.tuning import FIRST_SEED
from smartcl.paper.experiments.unseen_tables import FRESH_SEED

Result = dict[str, Any]

#: The methods that see all data at once: what a memory cannot reach, and no contender.
REFERENCES = ("joint", "joint-smart")

#: What every run writes and the report cannot do without: on tasks with test sets, on the suite, on a real stream.
NEEDED = {"accuracy", "spec"}
TESTED = ({"accuracy_per_task"}, {"correct", "rows", "drifts", "gradual"}, {"calibration_error", "rows"})


class Runs(ResultFolder):
    """A result folder in memory. ``stale`` counts lines whose method has other defaults by now, or that are damaged;
    ``seeds`` is as far as the seeds of any table go.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        found = {(file, key): self._current(key, line) for file in self.files() for key, line in file.read().items()}
        self._by_key = {key: result for (_, key), result in found.items() if result is not None}
        self.stale = len(found) - len(self._by_key) + sum(file.damaged for file in self.files())
        self.seeds = 1 + max((result["spec"]["seed"] % FIRST_SEED % FRESH_SEED for result in self.all), default=0)
        self._beside = read_beside(folder)
        self._behind: dict[tuple[str, str, str], list[Result]] = {}
        self._cells: dict[tuple[str, str, str, str], dict[str, Any]] = {}

    @property
    def all(self) -> list[Result]:
        return list(self._by_key.values())

    def load(self, spec: RunSpec) -> Result | None:
        return self._by_key.get(spec.key)

    def _current(self, key: str, result: Result) -> Result | None:
        """What the line says, unless the method or the data of the run are others by now."""
        if not any(result.keys() >= NEEDED | tested for tested in TESTED):
            return None
        try:
            run = RunSpec.from_dict(result["spec"])
        except (ValueError, TypeError, KeyError):
            return None
        return {**result, "settings": run.settings} if run.key == key else None

    def of_cell(self, table: Table, row: Row, column: str) -> list[Result]:
        """The results behind a cell of a table."""
        name = table.name, row.label, column
        if name not in self._behind:
            seeds = range(0 if column in row.without else self.seeds)
            found = (self.load(table.spec(row, column, seed)) for seed in seeds)
            self._behind[name] = [result for result in found if result is not None]
        return self._behind[name]

    def state_bytes(self, table: Table, row: Row) -> list[int]:
        """The bytes of the whole state after each run behind a row, of those that are known."""
        found = (
            total_of(result, self._beside) for column in table.columns for result in self.of_cell(table, row, column)
        )
        return sorted(size for size in found if size is not None)

    def cell(self, table: Table, row: Row, column: str, metric: str | None = None) -> dict[str, Any]:
        """``Table.cell`` over all seeds there are, worked out once; the table's first metric unless said."""
        name = table.name, row.label, column, metric or table.metrics[0]
        if name not in self._cells:
            self._cells[name] = table.cell(row, column, self.seeds, self, metric)
        return self._cells[name]


def mean_and_spread(values: list[float]) -> tuple[float, float]:
    """Mean and standard deviation; no deviation for a single value.

    >>> mean_and_spread([1.0, 3.0]), mean_and_spread([2.0])
    ((2.0, 1.4142135623730951), (2.0, 0.0))
    """
    return fmean(values), stdev(values) if len(values) > 1 else 0.0


def count(runs: int) -> str:
    return f"{runs} run{'' if runs == 1 else 's'}"


def numbers(values: list[int]) -> str:
    """How many runs stand behind each of several marks.

    >>> numbers([5, 5]), numbers([1, 3])
    ('5 runs', '1 to 3 runs')
    """
    low, high = min(values), max(values)
    return count(low) if low == high else f"{low} to {count(high)}"
