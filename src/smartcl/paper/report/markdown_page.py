"""``docs/results.md``: every table as far as its result files are there, made by a command and never by hand."""

from __future__ import annotations

from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.measures import METRICS
from smartcl.paper.experiments.run_table import Table
from smartcl.paper.experiments.total_runs import TOTAL_RUNS
from smartcl.paper.experiments.tuning import STEP_RUNS, STRENGTH_RUNS
from smartcl.paper.report.explanations import explained
from smartcl.paper.report.loaded_runs import Runs
from smartcl.paper.report.stream_grids import summary_grids
from smartcl.paper.report.table_grids import metric_grids

HEAD = """# Results

Made from `results/` by `smartcl report --markdown docs/results.md`. Accuracy is in percent: the mean over the test sets
of all tasks after the last batch, or on the suite of streams over each batch before it is learned. A cell is mean ±
standard deviation (number of seeds); below it stands what the paper prints. Every memory is charged to the byte;
*whole state* is all that a saved folder holds of a learner: weights, moments, averages, sums and the memory. All
metrics of a table, and paired differences with their intervals, are printed by
`smartcl reproduce table1 --show --paired`.
"""

#: What is shown of a table beside the first of its metrics: of uneven classes, accuracy alone says little.
ALSO_SHOWN = ("auc",)

#: On the page: the tables, and what settings were chosen by.
SHOWN: tuple[Table, ...] = (*TABLES.values(), TOTAL_RUNS, STRENGTH_RUNS, STEP_RUNS)


def markdown_page(runs: Runs) -> str:
    """The whole page."""
    sections = [_section(table, runs) for table in SHOWN]
    return "\n".join([HEAD, *(section for section in sections if section)])


def _section(table: Table, runs: Runs) -> str:
    """The explanation and a grid for each metric that is shown, under its name where there is more than one."""
    metrics = {name: grid for name, grid in metric_grids(table, runs).items() if name in _shown(table)}
    grids = [f"{grid.title}:\n\n{grid.markdown()}" for grid in summary_grids(table, runs)]
    grids += [grid.markdown(METRICS[name] if len(metrics) > 1 else "") for name, grid in metrics.items()]
    if not grids:
        return ""
    return "\n\n".join([f"## {table.name}: {table.title}", explained(table), *grids]) + "\n"


def _shown(table: Table) -> set[str]:
    return {table.metrics[0], *(name for name in table.metrics if name in ALSO_SHOWN)}
