"""``smartcl forget``: take samples out of a model's memory by their ids."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.loading import loading
from smartcl.cli.options import AsJson, Trust
from smartcl.cli.usage import arguments_checked, json_text, one_thread


def forget(
    model: Annotated[Path, typer.Argument(help="The folder of a model that was trained with --id.")],
    ids: Annotated[Path, typer.Option(help="A file with one id a line.")],
    retrain: Annotated[
        bool, typer.Option("--retrain", help="Begin weights and statistics anew from what is left.")
    ] = False,
    trust: Trust = None,
    as_json: AsJson = False,
) -> None:
    """Forget samples for good: their bytes leave the memory and the folder. The weights may keep what they taught."""
    with loading():
        from smartcl.files.training import forget_in_folder, ids_in_file
        from smartcl.scale.fleet import forget_in_fleet, is_fleet
        from smartcl.scale.shards import check_finished
        from smartcl.serve.service_forgetting import forget_in_service, is_service
    one_thread()
    with arguments_checked():
        asked = ids_in_file(ids)
        if is_service(model):
            result = forget_in_service(model, asked, retrain)
        elif is_fleet(model):
            result = forget_in_fleet(model, asked, retrain, trust or ())
        else:
            check_finished(model)
            result = forget_in_folder(model, asked, retrain, trust or ())
    if as_json:
        print(json_text(result))
    else:
        print(
            f"{result['forgotten']:,} samples forgotten of {result['asked']:,} ids, {result['held']:,} are left; "
            + ("the weights began anew from these" if retrain else "the weights may keep what they taught: --retrain")
        )
