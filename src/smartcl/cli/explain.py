"""``smartcl explain``: why single rows got their predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.loading import loading
from smartcl.cli.options import AsJson, Format, Trust
from smartcl.cli.screen import tell, visible
from smartcl.cli.usage import arguments_checked, json_text, one_thread

SHOWN = 8


def explain(
    model: Annotated[Path, typer.Argument(help="The folder of a model.")],
    inputs: Annotated[list[str], typer.Argument(help="Files as for train; - is stdin.")],
    rows: Annotated[int, typer.Option(min=1, help="Explain at most this number of rows.")] = 5,
    only: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="The row of this id; repeatable.")
    ] = None,
    trust: Trust = None,
    input_format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Show what speaks for the prediction of a row: how far its probability falls without each column or word."""
    with loading():
        from smartcl.files.file_source import FileSource
        from smartcl.files.table_model import TableModel
    one_thread()
    with arguments_checked():
        loaded = TableModel.load(model, trust or ())
        name = loaded.schema.id
        if only and name is None:
            raise ValueError("--id wants a model that was trained with an id column (train --id)")
        found = []
        for known, explanation in loaded.explanations(FileSource(tuple(inputs), input_format), only):
            found.append((known, explanation))
            if len(found) == rows:
                break
        if not found:
            raise ValueError(f"no row to explain in {', '.join(inputs)}" + (" with one of these ids" if only else ""))
    if as_json:
        print(
            json_text(
                [
                    {
                        name or "row": known,
                        "prediction": each.prediction,
                        "probability": each.probability,
                        "parts": [{"part": part, "raises": raises} for part, raises in each.parts],
                    }
                    for known, each in found
                ]
            )
        )
        return
    for known, each in found:
        tell(f"{name or 'row'} {visible(str(known))}: {visible(each.prediction)} ({each.probability:.1%})")
        for part, raises in each.parts[:SHOWN]:
            tell(f"  {100 * raises:+6.1f} points  {visible(part)}")
