"""``smartcl watch``: the progress of a training, from another process."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.loading import loading
from smartcl.cli.screen import StatusLine, tell
from smartcl.cli.usage import UsageError

PAUSE_SECONDS = 0.5


def watch(
    model: Annotated[Path, typer.Argument(help="The folder of a model that is being trained.")],
    once: Annotated[bool, typer.Option("--once", help="Print the progress once and end.")] = False,
) -> None:
    """Show the progress of a training until it ends. The training is not disturbed."""
    with loading():
        from smartcl.files.live import Live
    live = Live.read(model)
    if live is None:
        raise UsageError(f"no training has left its progress in {model}")
    with StatusLine() as shown:
        while not once and not live.done and live.is_alive():
            shown.show(live.line())
            time.sleep(PAUSE_SECONDS)
            live = Live.read(model) or live
    ended = "ended" if live.done else "goes on" if live.is_alive() else "was killed: smartcl train --resume goes on"
    tell(f"{live.line()}; {ended}")
