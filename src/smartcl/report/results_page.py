"""``docs/results.md``: every table as far as its result files are there, made by a command and never by hand."""

from __future__ import annotations

from typing import Any

from smartcl.experiments.results import ResultFolder
from smartcl.experiments.tables import TABLES, Table

HEAD = """# Results

Made from `results/` by `smartcl results docs/results.md`; not edited by hand. Accuracy in percent, mean of the task
test sets after the last batch: mean ± standard deviation over seeds (n), and below it what the paper prints (10 seeds).
Cells without a run are left open. All memories are charged to the byte.
"""

NOTES = {
    "table1": """Published cells and ours are the same protocol; FSS-Clust here clusters penultimate features. The
paper's SMART cells are not at equal stored bytes: its public code charges pruned samples for the features kept but
stores most of them whole. *SMART, paper's settings* is the same method on a store that counts what it holds. `smart`
is ours, at the same bytes.""",
    "table2": """`foreign` noise: a training image gets a uniformly random other digit's label before tasks are cut.
The public code's own draw is skewed (it never draws 9; a ratio of 0.3 changes 26% of the labels); this is the clean
version of the same idea.""",
    "table3": """Whole MNIST padded to 32 x 32, four epochs a task, one step a batch, the coefficients of Hsu et al.
2018 and PyTorch's default initialisation. NCC stands at β = 250, importance normalised, and starts from Xavier's
weights: it reads importance off the size of the weights, and from the default initialisation the best of five
strengths tried on seed 0 reached 74 (unpadded images). Coefficients chosen on a validation split, the same grid for
all, are still to come: L2 gains much from a larger one.""",
    "table5": """*iCaRL* follows its paper: one output per (task, label), herding and nearest mean on normalised
penultimate features. *On raw outputs*, herding and nearest mean see the logits, as in GEM's public iCaRL code; that
the published cell came from that code is an inference from how close it is. GEM and iCaRL are told the tasks, the
others are not.""",
}


def results_page(results: ResultFolder, seeds: int = 10) -> str:
    """The whole page."""
    sections = [_section(table, results, seeds) for table in TABLES.values()]
    return "\n".join([HEAD, *(section for section in sections if section)])


def _section(table: Table, results: ResultFolder, seeds: int) -> str:
    lines = []
    for row in table.rows:
        cells = [table.cell(row, column, seeds, results) for column in table.columns]
        if any(cell["n"] for cell in cells):
            lines.append(f"| {row.label} | {' | '.join(_cell(cell) for cell in cells)} |")
    if not lines:
        return ""
    head = f"| | {' | '.join(table.columns)} |\n|---|{'---|' * len(table.columns)}"
    return f"## {table.name}: {table.title}\n\n{head}\n" + "\n".join(lines) + f"\n\n{NOTES[table.name]}\n"


def _cell(cell: dict[str, Any]) -> str:
    spread = "" if cell["std"] is None else f" ± {cell['std']:.2f}"
    ours = f"{cell['mean']:.2f}{spread} ({cell['n']})" if cell["n"] else "–"
    return ours if cell["published"] is None else f"{ours}<br>*{cell['published']:.2f}*"
