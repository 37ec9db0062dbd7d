"""The ``smartcl`` command: one line for what goes wrong, exit code 2 for wrong arguments, never a traceback."""

from __future__ import annotations

import sys
import warnings

import typer

from smartcl.cli import demo, events, methods, report, reproduce, results, run
from smartcl.streams.chunks import FetchError

#: What Typer returns after ctrl-C.
INTERRUPTED = 130

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


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(call(sys.argv[1:]))


def call(arguments: list[str]) -> int:
    """Run one command; the exit code."""
    warnings.showwarning = lambda message, *_: _say(f"note: {message}")
    try:
        code = int(app(arguments, prog_name="smartcl", standalone_mode=False) or 0)
        if code == INTERRUPTED:
            _say("interrupted; nothing was left half-written")
        return code
    except typer.TyperException as error:
        _say(error.format_message())
        return error.exit_code
    except (OSError, FetchError) as error:
        _say(str(error))
        return 1


def _say(message: str) -> None:
    print("smartcl:", " ".join(message.split()), file=sys.stderr)
