"""``docs/results.md``: every table as far as its result files are there, made by a command and never by hand."""

from __future__ import annotations

from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.measures import METRICS
from smartcl.paper.experiments.run_table import Table, paired_differences
from smartcl.paper.experiments.tuning import STEP_RUNS, STRENGTH_RUNS
from smartcl.paper.report.explanations import explained
from smartcl.paper.report.loaded_runs import Runs
from smartcl.paper.report.stream_grids import summary_grids
from smartcl.paper.report.table_grids import metric_grids, paired_grid

HEAD = """# Results

Made from `results/` by `smartcl report --markdown docs/results.md`; not edited by hand. Accuracy in percent, mean of the task
test sets after the last batch (on the suite of streams, of each batch before it is learned): mean ± standard deviation
over seeds (n), and below it what the paper prints (10 seeds). Cells without a run are left open. All memories are
charged to the byte.
"""

#: Tables in which our rows are set against every other, seed by seed.
PAIRED = [name for name in TABLES if name.startswith("table")]

#: On the page: the tables, and what settings were chosen by.
SHOWN: tuple[Table, ...] = (*TABLES.values(), STRENGTH_RUNS, STEP_RUNS)


def markdown_page(runs: Runs) -> str:
    """The whole page."""
    sections = [_section(table, runs) for table in SHOWN]
    return "\n".join([HEAD, *(section for section in sections if section)])


def _section(table: Table, runs: Runs) -> str:
    """A grid for each metric, under its name where the table shows more than one; the explanation; the pairs."""
    several = len(table.metrics) > 1
    grids = [f"{grid.title}:\n\n{grid.markdown()}" for grid in summary_grids(table, runs)]
    grids += [grid.markdown(METRICS[metric] if several else "") for metric, grid in metric_grids(table, runs).items()]
    if not grids:
        return ""
    pairs = _paired(table, runs) if table.name in PAIRED else ""
    parts = [f"## {table.name}: {table.title}", *grids, explained(table), *([pairs] if pairs else [])]
    return "\n\n".join(parts) + "\n"


def _paired(table: Table, runs: Runs) -> str:
    """Our rows minus every other, seed by seed, where at least two seeds tell how sure the difference is."""
    lines = [line for line in paired_differences(table, runs.seeds, runs) if line["n"] > 1]
    if not lines:
        return ""
    summary = "<details><summary>Paired differences in accuracy: mean [95% interval] (seeds in common)</summary>"
    return "\n".join([summary, "", paired_grid(table, lines).markdown("accuracy of"), "", "</details>"])
