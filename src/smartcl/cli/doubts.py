"""``smartcl doubts``: which labels of remembered rows are probably wrong."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.loading import loading
from smartcl.cli.one_line import counted, note
from smartcl.cli.options import AsJson, Format, Trust
from smartcl.cli.screen import tell, visible
from smartcl.cli.usage import arguments_checked, json_text, one_thread

SHOWN = 20


def doubts(
    model: Annotated[Path, typer.Argument(help="The folder of a model.")],
    inputs: Annotated[list[str] | None, typer.Argument(help="Files with the ids, where these are texts.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All remembered rows, the most doubtful first.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write all of them as CSV.")] = None,
    trust: Trust = None,
    input_format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Show which labels of remembered rows are probably wrong, by models that have not learned these rows."""
    with loading():
        from smartcl.files.doubted_rows import COLUMNS, named_rows
        from smartcl.files.file_source import FileSource
        from smartcl.files.table_model import TableModel
        from smartcl.saving.atomic import check_file
    one_thread()
    with arguments_checked():
        if out is not None:
            check_file(out)
        loaded = TableModel.load(model, trust or ())
        found = loaded.doubts(suspected=not everything)
        source = FileSource(tuple(inputs), input_format) if inputs else None
        rows, unnamed = named_rows(loaded, found, source)
    name = loaded.schema.id or "sample"
    if unnamed:
        note(f"{counted(unnamed, 'id')} stored as a hash of the text: name the files that have them")
    if as_json:
        lines = [
            dict(zip((name, *COLUMNS[1:]), (row, *doubt[1:]), strict=True))
            for row, doubt in zip(rows, found, strict=True)
        ]
        print(json_text({"remembered": len(loaded.classifier.memory_), "doubts": lines}))
        return
    if out is not None:
        with out.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([name, *COLUMNS[1:]])
            for row, doubt in zip(rows, found, strict=True):
                writer.writerow(
                    [row, doubt.given, doubt.suggested, f"{doubt.probability:.6g}", f"{doubt.given_probability:.6g}"]
                )
    remembered = len(loaded.classifier.memory_)
    have = "has" if len(found) == 1 else "have"
    what = "by doubt" if everything else f"probably {have} another label than the given one"
    tell(f"{len(found):,} of {counted(remembered, 'remembered row')} {what}")
    for row, doubt in list(zip(rows, found, strict=True))[:SHOWN]:
        tell(
            f"{name} {visible(str(row))}: {visible(str(doubt.given))} -> {visible(str(doubt.suggested))} "
            f"(probability {doubt.probability:.1%}, of the given label {doubt.given_probability:.1%})"
        )
    if len(found) > SHOWN and out is None:
        tell(f"and {len(found) - SHOWN:,} more: --out writes all of them")
    if out is not None:
        tell(f"written: {out}")
