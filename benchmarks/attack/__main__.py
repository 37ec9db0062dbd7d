"""``python -m benchmarks.attack``: try to break each promise of the library, and count what broke.

``--minutes M`` goes round all parts, with a new seed each round, until the time is over; without it each part makes its
tries once, and the counts are printed as figures. ``--seed N`` repeats what was found with the seed N, ``--only part``
runs one part (it may be given more than once). Without ``--seed``, the first seed comes from the date and time (UTC).
A run that was given an option ends with the exit code 1 if there were faults, and lists them with their seeds.

Each part is a module with ``attack(tries, seed=..., until=...) -> Findings``; here stands how many tries it gets. The
corpus is first: what was ever found.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.attack.tries import EXAMPLES, NEVER, Findings
from benchmarks.timing import report

TRIES = {
    "corpus": 100,
    **{"folders": 1200, "bad_inputs": 500, "interrupts": 2000},
    **{"streams": 500, "command_lines": 400},
    **{"saves": 60, "threads": 50, "digits": 8},
    **{"input_files": 2000, "trained_folders": 2000, "train_kills": 50, "readers": 1000, "disks": 20},
    "forgotten_rows": 200,
}
#: The most seconds of a part in one round of a timed attack, so that every part has its turn often.
TURN = 60.0
#: Seeds are below this: PyTorch and scikit-learn take no larger ones.
SEEDS = 2**31


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack as the arguments say; the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parsed(arguments)
    torch.set_num_threads(1)
    seed = seed_of_date(datetime.now(UTC)) if options.seed is None else options.seed
    say(f"attack: first seed {seed}")
    findings: dict[str, Findings] = {}
    for part, found in rounds(options.only or list(TRIES), seed, options.minutes):
        findings.setdefault(part, Findings()).merge(found)
    show(findings)
    if not arguments:
        report(*(line for part, found in findings.items() for line in found.figures(part.replace("_", " "))))
        return 0
    faults = sum(found.broken for found in findings.values())
    say(f"attack: {faults} faults")
    return 1 if faults else 0


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options; an unknown part or a number that cannot be ends the process with one line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks attack")
    parser.add_argument("--minutes", type=float, help="go round all parts for so long")
    parser.add_argument("--seed", type=int, help="the first seed; by default it comes from the date and time (UTC)")
    parser.add_argument("--only", action="append", choices=TRIES, metavar="part", help=f"one of {', '.join(TRIES)}")
    options = parser.parse_args(arguments)
    if options.minutes is not None and not options.minutes > 0:
        parser.error(f"--minutes must be above 0, not {options.minutes:g}")
    if options.seed is not None and not 0 <= options.seed < SEEDS:
        parser.error(f"--seed must be from 0 to {SEEDS - 1}, not {options.seed}")
    return options


def seed_of_date(moment: datetime) -> int:
    """Seeds of neighbouring seconds are far apart: the tries of a part have consecutive seeds."""
    return random.Random(f"{moment:%Y-%m-%d %H:%M:%S}").randrange(SEEDS)


def next_seed(seed: int) -> int:
    """The seed of the round after the one with this seed."""
    return random.Random(seed).randrange(SEEDS)


def rounds(parts: Sequence[str], seed: int, minutes: float | None) -> Iterator[tuple[str, Findings]]:
    """Each part and what it found: once, or round after round until the time is over.

    In a round, the parts that are left share the time that is left: one that takes long to prepare, or that ends the
    try it is at, shortens the turns of those after it. The corpus is always tried as a whole.
    """
    end = NEVER if minutes is None else time.monotonic() + 60 * minutes
    while True:
        for place, part in enumerate(parts):
            now = time.monotonic()
            if now >= end:
                return
            turn = NEVER if minutes is None else min(TURN, (end - now) / (len(parts) - place))
            yield part, attacked(part, seed, end if part == "corpus" else now + turn)
        if minutes is None:
            return
        seed = next_seed(seed)


def attacked(part: str, seed: int, until: float) -> Findings:
    """What one part finds with this seed; each fault is printed at once, with the command that repeats it."""
    start = time.monotonic()
    try:
        found: Findings = importlib.import_module(f"benchmarks.attack.{part}").attack(
            TRIES[part], seed=seed, until=until
        )
    except PermissionError as error:
        say(f"{part}, seed {seed}: left out, {error}")
        return Findings()
    say(f"{part}, seed {seed}: {found.broken} faults of {found.tries:,}, {time.monotonic() - start:.0f} s")
    for kind, examples in found.described():
        say(f"  {len(examples):,} x {kind}; first: {examples[0]}")
    if found.broken:
        say(f"  again: python -m benchmarks attack --only {part} --seed {seed}")
    return found.told_with(seed)


def say(text: str) -> None:
    """A line on stderr, at once."""
    print(text, file=sys.stderr, flush=True)


def show(findings: dict[str, Findings]) -> None:
    """The counts of each attack, and under them what broke, with examples to repeat it by."""
    table = Table(box=None, pad_edge=False)
    for heading in ("attack", "tries", "refused", "survived", "faults", "first of them"):
        table.add_column(heading, justify="left" if heading in ("attack", "first of them") else "right")
    for name, found in findings.items():
        table.add_row(name, f"{found.tries:,}", f"{found.refused:,}", f"{found.survived:,}", f"{found.broken:,}", "")
        for kind, examples in found.described():
            table.add_row(f"  {kind}", "", "", "", f"{len(examples):,}", "\n".join(examples[:EXAMPLES]))
    Console(stderr=True, width=160, markup=False).print(table)


if __name__ == "__main__":
    sys.exit(main())
