"""The ``smartcl`` command: one line for what goes wrong, exit code 2 for wrong arguments, never a traceback."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Annotated

import typer

import smartcl
from smartcl.cli.main import INTERRUPTED
from smartcl.cli.one_line import note, say, verdict
from smartcl.cli.usage import UsageError

#: Every command, a function of this name, and the module of ``cli`` that has it. The module has the arguments and their
#: help, and is loaded in a moment; what the command works with is loaded when it is called (``cli/loading.py``).
COMMANDS = {
    **{name: name for name in ("demo", "doubts", "events", "evaluate", "explain", "forget", "inspect", "merge")},
    "methods": "list_methods",
    **{name: name for name in ("predict", "serve", "train", "watch", "run", "reproduce", "report")},
}


def command_line() -> typer.Typer:
    """All commands: for the help, the version and completion."""
    app = typer.Typer(
        help="Learn a classifier from a never-ending stream, in a memory of a fixed number of bytes.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(options)
    for name in COMMANDS:
        app.command(name)(function_of(name))
    return app


def one_command(name: str) -> typer.Typer:
    """A command by itself: beside the others, typer takes twice the time to show its help."""
    if name not in COMMANDS:
        raise UsageError(f"there is no command {name!r}: there are {', '.join(COMMANDS)}")
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(name)(function_of(name))
    return app


def function_of(name: str) -> Callable[..., None]:
    """The function behind a command."""
    found: Callable[..., None] = getattr(import_module(f"smartcl.cli.{COMMANDS[name]}"), name)
    return found


def tell_version(wanted: bool) -> None:
    if wanted:
        print("smartcl", smartcl.__version__)
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn a classifier from a never-ending stream, in a memory of a fixed number of bytes."""


def call(arguments: list[str]) -> int:
    """Run one command; the exit code. Every error becomes one line."""
    said, notes = None, set[str]()

    def note_once(message: str) -> None:
        if message not in notes:
            note(message)
        notes.add(message)

    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: note_once(str(message))
        try:
            if arguments and not arguments[0].startswith("-"):
                app, rest, shown = one_command(arguments[0]), arguments[1:], f"smartcl {arguments[0]}"
            else:
                app, rest, shown = command_line(), arguments, "smartcl"
            code = int(app(rest, prog_name=shown, standalone_mode=False) or 0)
            sys.stdout.flush()
        except SystemExit as end:  # the reader of the output has left
            return int(end.code or 0)
        except Exception as error:
            code, said = verdict(error)
            if said:
                say(said)
            if "SMARTCL_TRACEBACK" in os.environ:
                traceback.print_exception(error)
    if code == INTERRUPTED and said is None:
        say("interrupted; nothing was left half-written")
    return code
