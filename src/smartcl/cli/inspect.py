"""``smartcl inspect``: what a model remembers, listens to, doubts, and has passed over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from smartcl.cli.loading import loading
from smartcl.cli.model_lines import account_lines, columns_table, passed_over_lines
from smartcl.cli.one_line import counted
from smartcl.cli.options import AsJson, Trust
from smartcl.cli.screen import screen, shown
from smartcl.cli.usage import arguments_checked, json_text
from smartcl.memory import format_bytes

SHOWN_CLASSES = 30


def inspect(
    model: Annotated[Path, typer.Argument(help="The folder of a model.")],
    trust: Trust = None,
    as_json: AsJson = False,
) -> None:
    """Show what a model remembers and by which features it decides."""
    with loading():
        from smartcl.files.summary import inspection
        from smartcl.files.table_model import TableModel
    with arguments_checked():
        result = inspection(TableModel.load(model, trust or ()))
    if as_json:
        print(json_text(result))
    else:
        show(result)


def show(result: dict[str, Any]) -> None:
    """For people."""
    console = screen()

    def say(text: str) -> None:
        console.print(escape(text), highlight=False, soft_wrap=True)

    say(
        f"{result['method']}: {counted(result['rows'], 'row')} learned, {counted(len(result['classes']), 'class')}, "
        f"{counted(result['columns'], 'column')} as {counted(result['features'], 'feature')}"
    )
    precision = "every value exact" if result["precision"] == "exact" else result["precision"]
    size = "" if result["bytes_per_sample"] is None else f", {result['bytes_per_sample']:.1f} bytes each"
    say(
        f"remembers {result['samples_held']:,} samples in {format_bytes(result['memory_bytes'])} of "
        f"{format_bytes(result['budget_bytes'])}{size}; {precision}; "
        f"{result['features_kept']:,} of {result['features']:,} features kept"
    )
    if result["room"]:
        say(f"{result['room']}")
    parts = {name: size for name, size in result["bytes_by_part"].items() if name != "memory" and size}
    beside = ", ".join(f"{name} {format_bytes(size)}" for name, size in parts.items())
    say(f"takes {format_bytes(result['model_bytes'])} beside its memory{': ' if beside else ''}{beside}")
    for line in account_lines({**result, "changes": []}):
        say(line)
    if result["doubt"] is not None:
        say(f"doubt about the labels: {result['doubt']:.0%} (0%: every label is believed)")
    if result["noise_estimate"] is not None:
        say(f"share of wrong labels: about {result['noise_estimate']:.0%}, by the errors of the surest answers")
    for column, words in result["words"].items():
        say(f"words of {shown(column)} that lean most: {', '.join(words)}")
    tables = {
        "Columns": columns_table(result["taken"]),
        "Members": _members(result),
        "Changes of the stream": _changes(result),
        "Remembered": _by_class(result),
        "Remembered by age": _by_age(result),
        "Features the answers depend on": _strongest(result),
    }
    for title, table in tables.items():
        if table.row_count:
            console.print(f"\n[italic]{title}[/italic]")
            console.print(table)
    say("")
    for line in passed_over_lines(result["passed_over"]):
        say(line)


def _members(result: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("member")
    for heading in ("weight", "accuracy on the newest rows", "bytes"):
        table.add_column(heading, justify="right")
    for line in result["members"]:
        accuracy = "" if line["accuracy"] is None else f"{line['accuracy']:.1%}"
        table.add_row(line["name"], f"{line['weight']:.2f}", accuracy, format_bytes(line["nbytes"]))
    return table


def _changes(result: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("after row", justify="right")
    table.add_column("kind")
    table.add_column("the better sums were ahead by", justify="right")
    table.add_column("what moved")
    for line in result["changes"]:
        lead = f"{line['lead']:.1%} ({line['sureness']:.1f} standard errors)"
        table.add_row(f"{line['row']:,}", line["kind"], lead, shown("; ".join(line["moved"][:2])))
    return table


def _by_class(result: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("class")
    table.add_column("samples", justify="right")
    counts = sorted(result["held_by_class"].items(), key=lambda item: -item[1])
    for name, count in counts[:SHOWN_CLASSES]:
        table.add_row(shown(name), f"{count:,}")
    if len(counts) > SHOWN_CLASSES:
        table.add_row(f"and {len(counts) - SHOWN_CLASSES:,} more", "")
    return table


def _by_age(result: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("rows")
    table.add_column("samples", justify="right")
    for line in result["held_by_age"] or []:
        table.add_row(f"{line['from']:,} to {line['to']:,}", f"{line['samples']:,}")
    if result["held_by_age"] is None:
        table.add_row("not known: samples were forgotten, or the method keeps no order", "")
    return table


def _strongest(result: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("feature")
    table.add_column("moves the answer by", justify="right")
    for line in result["strongest_features"]:
        table.add_row(shown(line["feature"]), f"{line['moves']:.1%}")
    return table
