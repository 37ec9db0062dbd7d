"""Entry point of the ``smartcl`` command: all that happens before the seconds it takes to load everything else."""

from __future__ import annotations

import io
import os
import signal
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its code."""
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, leave)
    ready_streams()
    from smartcl.cli.app import call

    try:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = call(sys.argv[1:])
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: there is nothing left to interrupt
    except KeyboardInterrupt:
        leave()
    let_go_of_stdout()
    sys.exit(code)


def leave(*_: object) -> None:
    """End at once: nothing is under way, and inside a library that loads an interrupt could turn into any error."""
    os.write(2, b"smartcl: interrupted; nothing was left half-written\n")
    os._exit(INTERRUPTED)


def ready_streams() -> None:
    """Replace closed streams by null devices, and characters that a stream cannot take, without an error."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def let_go_of_stdout() -> None:
    """Discard what could not be written: it was reported already, and Python would report it again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
