"""``smartcl evaluate``: how good a model is on rows with labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from smartcl.cli.loading import loading
from smartcl.cli.model_lines import account_lines
from smartcl.cli.one_line import counted
from smartcl.cli.options import AsJson, Format, Trust
from smartcl.cli.screen import screen, shown, tell, visible
from smartcl.cli.usage import arguments_checked, json_text, one_thread

MOST_SHOWN = 12


def evaluate(
    model: Annotated[Path, typer.Argument(help="The folder of a model; it stays as it is.")],
    inputs: Annotated[list[str], typer.Argument(help="Files as for train; - is stdin.")],
    frozen: Annotated[bool, typer.Option("--frozen", help="Do not learn the rows after they are tested.")] = False,
    delay: Annotated[
        int | None, typer.Option(min=1, help="Rows answered before a label is known, its own included.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write one HTML page.")] = None,
    input_format: Format = None,
    trust: Trust = None,
    as_json: AsJson = False,
) -> None:
    """Test a model on each batch of rows, then let a copy of it learn them."""
    with loading():
        from smartcl.files.evaluation import as_plain
        from smartcl.files.evaluation import evaluate as evaluated
        from smartcl.files.file_source import FileSource
        from smartcl.files.scores_page import page_of_evaluation
        from smartcl.files.table_model import TableModel
        from smartcl.saving.atomic import check_file, write_file
    one_thread()
    with arguments_checked():
        if html is not None:
            check_file(html)
        loaded = TableModel.load(model, trust or ())
        found = evaluated(loaded, FileSource(tuple(inputs), input_format), frozen, delay or 0)
    result = {"frozen": frozen, **as_plain(found), "skipped": found.skipped, "missing": found.odd.missing}
    result["delay"] = delay
    if html is not None:
        write_file(html, page_of_evaluation(loaded, found, str(model), inputs, frozen).encode())
    if as_json:
        print(json_text(result))
    else:
        show(result)
        if html is not None:
            tell(f"page: {html}")


def show(result: dict[str, Any]) -> None:
    """For people."""
    console = screen()
    how = "as it is" if result["frozen"] else "test, then train"
    console.print(f"{counted(result['rows'], 'row')}, {how}", highlight=False)
    for line in account_lines({**result, "scores": result}):
        console.print(escape(line), highlight=False, soft_wrap=True)
    tables = {
        "Accuracy over time": _over_time(result),
        "By class": _by_class(result),
        "Confusion: labels by row, predictions by column": _confusion(result, console.width),
        "Calibration": _calibration(result),
    }
    for title, table in tables.items():
        console.print(f"\n[italic]{title}[/italic]")
        console.print(table)
    for why, count in result["skipped"].items():
        console.print(f"skipped: {count:,} {shown(why)}", highlight=False)


def _over_time(result: dict[str, Any]) -> Table:
    table = _table("to row", "accuracy", "commonest", "last", "AUC")
    step = -(-len(result["over_time"]) // 10)
    for point in result["over_time"][step - 1 :: step]:
        area = "-" if point["auc"] is None else f"{point['auc']:.3f}"
        shares = (_share(point[name]) for name in ("accuracy", "commonest", "last"))
        table.add_row(f"{point['row']:,}", *shares, area)
    return table


def _by_class(result: dict[str, Any]) -> Table:
    table = _table("class", "rows", "precision", "recall", "F1", "AUC")
    for line in sorted(result["classes"], key=lambda line: -line["rows"])[:MOST_SHOWN]:
        shares = (_share(line[name]) for name in ("precision", "recall", "f1"))
        area = "-" if line["auc"] is None else f"{line['auc']:.3f}"
        table.add_row(shown(line["class"]), f"{line['rows']:,}", *shares, area)
    return table


def _confusion(result: dict[str, Any], columns: int) -> Table:
    """By name, or by number where the names take more columns than the screen has."""
    names = [line["class"] for line in sorted(result["classes"], key=lambda line: -line["rows"])[:MOST_SHOWN]]
    counts = {(cell["label"], cell["prediction"]): cell["rows"] for cell in result["confusion"]}
    numbers = {name: str(number) for number, name in enumerate(names, start=1)}
    wide = max(map(len, map(visible, names))) + sum(2 + max(len(visible(name)), 6) for name in names) > columns
    table = _table("", *(numbers[name] if wide else shown(name) for name in names))
    for label in names:
        table.add_row(
            f"{numbers[label]} {shown(label)}" if wide else shown(label),
            *(f"{counts.get((label, said), 0):,}" for said in names),
        )
    return table


def _calibration(result: dict[str, Any]) -> Table:
    table = _table("probability", "rows", "said", "true")
    for line in result["calibration"]:
        table.add_row(f"{line['from']:.0%} on", f"{line['rows']:,}", _share(line["said"]), _share(line["true"]))
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
