"""The two tables of the page of the paper say what the result files say, cell by cell, and of how many seeds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from smartcl.paper.experiments.catalogue import TABLES, table_data
from smartcl.paper.experiments.results import ResultFolder

ROOT = Path(__file__).parents[3]
RESULTS = ResultFolder(ROOT / "results")

#: The first cell of a table of the page, the table it shows, and which column of that each of its columns is.
SHOWN = {
    "memory": ("table1", {f"{784 * images:,} B": str(images) for images in (100, 200, 300, 400, 500)}),
    "wrong labels, at 235,200 B": ("table2", {share: share for share in ("10%", "20%", "30%", "40%", "50%")}),
}
#: What a row is called of which the published cells are shown, and what begins the name of one said to be the best.
PUBLISHED, BEST_OTHER = "published SMART", "best other, "
#: The row of how many samples ``smart`` and plain replay hold at the end, in the mean.
HELD = "samples held / whole images that fit"
#: The rows of the page in the words of the tables.
ROWS = {
    PUBLISHED: "SMART, paper's settings",
    "`smart`": "smart",
    "`smart`, values exact": "smart, values exact",
    "SMART with the paper's settings, here": "SMART, paper's settings",
    "plain replay": "ER",
    "DER++": "DER++",
    "plain replay with `smart`'s training": "ER with smart's training",
    "DER++ with `smart`'s training": "DER++ with smart's training",
    "joint training on all images": "joint training",
    "the same with `smart`'s training": "joint training, smart's training",
}
#: What a row has unless it says so.
USUAL_SEEDS = 10


def rounded(value: float) -> pytest.approx:
    return pytest.approx(value, abs=0.0501, rel=0)


def readme_tables() -> dict[str, list[list[str]]]:
    """The tables by their first cell: the header, then the rows."""
    tables, lines = {}, (ROOT / "docs" / "paper.md").read_text(encoding="utf-8").split("\n\n")
    for block in (block for block in lines if block.startswith("| ")):
        header, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines())
        tables[header[0]] = [header, *rows]
    return tables


def held(column: str) -> str:
    table = TABLES["table1"]
    rows = [row for row in table.rows if row.label in ("smart", "ER")]
    means = [fmean(table.values(row, column, USUAL_SEEDS, RESULTS, "samples_held").values()) for row in rows]
    return " / ".join(f"{mean:,.0f}" for mean in means)


def others(cells: Iterable[dict[str, Any]], column: str) -> list[dict[str, Any]]:
    """The cells of those who have a memory and are not ``smart``."""
    ours = ("smart", "smart, values exact", "joint training", "joint training, smart's training", "default")
    without_memory = ("RanDumb",)
    return [cell for cell in cells if cell["column"] == column and cell["row"] not in (*ours, *without_memory)]


@pytest.mark.parametrize("name", SHOWN)
def test_the_readme_shows_what_the_result_files_say(name: str) -> None:
    header, *rows = readme_tables()[name]
    table, columns = SHOWN[name]
    cells = {
        (cell["row"], cell["column"]): cell
        for cell in table_data(TABLES[table], USUAL_SEEDS, RESULTS)["cells"]
        if cell["metric"] == "accuracy"
    }
    compared = 0
    for label, *texts in rows:
        words, _, seeds = label.removesuffix(" seeds)").partition(" (")
        if words == HELD:
            assert [text.replace(" (all)", "") for text in texts] == [held(column) for column in columns.values()]
            continue
        for column, text in zip(header[1:], texts, strict=True):
            cell = cells[ROWS[words.removeprefix(BEST_OTHER)], columns[column]]
            if words == PUBLISHED:
                assert float(text) == rounded(cell["published"]), column
            else:
                mean, deviation = map(float, text.split(" ± "))
                assert (mean, deviation) == (rounded(cell["mean"]), rounded(cell["std"])), (words, column)
                assert cell["n"] == int(seeds or USUAL_SEEDS), (words, column)
            if words.startswith(BEST_OTHER):
                assert cell["mean"] == max(other["mean"] for other in others(cells.values(), cell["column"]))
            compared += 1
    assert compared >= 30
