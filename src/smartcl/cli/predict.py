"""``smartcl predict``: the labels of new rows, one line for each record."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.loading import loading
from smartcl.cli.one_line import counted, note
from smartcl.cli.options import Format, Trust
from smartcl.cli.screen import data_output
from smartcl.cli.usage import arguments_checked, one_thread


def predict(
    model: Annotated[Path, typer.Argument(help="The folder of a model.")],
    inputs: Annotated[list[str], typer.Argument(help="Files as for train; - is stdin.")],
    proba: Annotated[bool, typer.Option("--proba", help="With the probability of each class.")] = False,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COL", help="Write this column of the input too; repeatable.")
    ] = None,
    threshold: Annotated[
        str | None, typer.Option(metavar="CLASS=P", help="Predict this class from this probability on.")
    ] = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Write JSON lines instead of CSV.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write to this file instead of stdout.")] = None,
    trust: Trust = None,
    input_format: Format = None,
) -> None:
    """Predict the label of every record, with its id or its number; one that cannot be read has none."""
    with loading():
        from smartcl.columns.recognise import listed
        from smartcl.columns.row_encoder import Odd
        from smartcl.files.file_source import FileSource
        from smartcl.files.predictions import Beside, PredictionWriter
        from smartcl.files.table_model import TableModel, Threshold
        from smartcl.saving.atomic import check_file
        from smartcl.scale.fleet import Fleet
    one_thread()
    with arguments_checked():
        is_fleet = (model / "fleet.json").is_file()
        loaded = Fleet.load(model, trust or ()) if is_fleet else TableModel.load(model, trust or ())
        source = FileSource(tuple(inputs), input_format)
        chosen = None if threshold is None else Threshold.of(threshold, loaded.classes)
        wanted = Beside(proba, tuple(keep or ()), chosen)
        if out is not None:
            check_file(out)
        odd, bad, rows = Odd(), 0, 0
        target = nullcontext(data_output()) if out is None else out.open("w", encoding="utf-8", newline="")
        with target as file:
            writer = PredictionWriter(file, loaded, wanted, jsonl)
            for answered in loaded.answers(source, odd, wanted.keep):
                writer.write(answered)
                bad, rows = bad + len(answered.records.bad), rows + len(answered.labels)
            writer.end()
    empty = [column.name for column in loaded.schema.used if rows and odd.missing.get(column.name) == rows]
    if bad:
        note(f"{counted(bad, 'record')} could not be read and got no prediction")
    if empty:
        note(f"columns that were learned and have no value here: {listed(empty)}")
    if odd.unreadable:
        note(f"values that are not what their column holds count as missing: {sum(odd.unreadable.values()):,}")
