"""The ``smartcl`` command: one line for what goes wrong, exit code 2 for wrong arguments, never a traceback."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from typing import Annotated

import typer

import smartcl
from smartcl.cli import demo, events, methods, report, reproduce, results, run
from smartcl.cli.main import INTERRUPTED
from smartcl.cli.say import note, say
from smartcl.cli.verdict import verdict

app = typer.Typer(
    help="Learn a classifier from a never-ending stream, in a memory of a fixed number of bytes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.demo)
app.command("run")(run.run_command)
app.command("events")(events.events)
app.command("methods")(methods.methods)
app.command("reproduce")(reproduce.reproduce)
app.command("results")(results.results)
app.command("report")(report.report)


def tell_version(wanted: bool) -> None:
    if wanted:
        print("smartcl", smartcl.__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn a classifier from a never-ending stream, in a memory of a fixed number of bytes."""


def call(arguments: list[str]) -> int:
    """Run one command; the exit code. Whatever goes wrong is said in one line."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: note(str(message))
        try:
            code = int(app(arguments, prog_name="smartcl", standalone_mode=False) or 0)
            sys.stdout.flush()
        except SystemExit as end:  # nobody reads the output any more
            return int(end.code or 0)
        except Exception as error:
            code, said = verdict(error)
            if said:
                say(said)
            if "SMARTCL_TRACEBACK" in os.environ:
                traceback.print_exception(error)
    if code == INTERRUPTED:
        say("interrupted; nothing was left half-written")
    return code
