"""``smartcl merge``: one model of several that learned apart."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.loading import loading
from smartcl.cli.one_line import counted
from smartcl.cli.options import AsJson, Trust
from smartcl.cli.screen import tell
from smartcl.cli.usage import arguments_checked, json_text, one_thread
from smartcl.memory import format_bytes


def merge(
    models: Annotated[list[Path], typer.Argument(help="Folders of models that learned apart.")],
    out: Annotated[Path, typer.Option(help="The folder of the new model.")],
    memory: Annotated[str | None, typer.Option(help="'300 samples', '1MB' or bytes; by default the largest.")] = None,
    base: Annotated[Path | None, typer.Option(help="The model that all of them went on from, if they did.")] = None,
    in_turn: Annotated[
        bool, typer.Option("--in-turn", help="The models are of one period after the other: the last is the newest.")
    ] = False,
    subtract: Annotated[
        list[Path] | None, typer.Option(help="Take this part out of the one model again; repeatable.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the model in the folder.")] = False,
    trust: Trust = None,
    as_json: AsJson = False,
) -> None:
    """Make one model of several that learned apart: sums are added, samples share one memory."""
    with loading():
        from smartcl.files.table_model import TableModel
        from smartcl.files.training import check_out
        from smartcl.scale.tables import merge as merged
        from smartcl.scale.tables import model_of
        from smartcl.scale.tables import subtract as subtracted
    one_thread()
    with arguments_checked():
        check_out(out, resume=False, overwrite=overwrite)
        allowed = trust or ()
        if subtract and len(models) > 1:
            raise ValueError("parts are taken out of one model: merge first, then subtract")
        start = None if base is None else model_of(base, allowed)
        if subtract:
            model = model_of(models[0], allowed)
            for part in subtract:
                model = subtracted(model, part, base=start, trust=allowed)
        else:
            model = merged(models, memory, base=start, in_turn=in_turn, trust=allowed)
        model.save(out)
    classifier = model.classifier if isinstance(model, TableModel) else model
    learner = classifier.learner_
    result = {
        "models": len(models),
        "rows": learner.counts.total,
        "classes": [str(name) for name in classifier.classes_],
        "samples_held": len(learner.memory),
        "memory_bytes": learner.memory.nbytes,
        "budget_bytes": learner.memory.budget.nbytes,
    }
    told = (
        f"{counted(len(models), 'model')} of {counted(learner.counts.total, 'row')}: "
        f"{len(learner.memory):,} samples in {format_bytes(learner.memory.nbytes)} "
        f"of {format_bytes(learner.memory.budget.nbytes)}\nsaved: {out}"
    )
    tell(json_text(result) if as_json else told)
