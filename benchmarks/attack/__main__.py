"""``python -m benchmarks.attack [name ...]``: try to break each promise of the library, and count what broke.

Each attack is a module with ``attack(tries) -> Findings``; here stands how many tries it gets.
"""

from __future__ import annotations

import importlib
import sys
import time

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.attack.tries import EXAMPLES, Findings
from benchmarks.timing import report

TRIES = {
    **{"folders": 1200, "bad_inputs": 500, "interrupts": 2000},
    **{"streams": 500, "command_lines": 400},
    **{"saves": 60, "threads": 50, "digits": 8},
    **{"input_files": 2000, "trained_folders": 2000, "train_kills": 50, "readers": 1000, "disks": 20},
}


def main() -> None:
    """Run the named attacks, or all."""
    torch.set_num_threads(1)
    chosen = sys.argv[1:] or TRIES
    unknown = [name for name in chosen if name not in TRIES]
    if unknown:
        sys.exit(f"unknown attack {unknown[0]!r}: known are {', '.join(TRIES)}")
    findings = {}
    for name in chosen:
        start = time.perf_counter()
        findings[name] = importlib.import_module(f"benchmarks.attack.{name}").attack(TRIES[name])
        took, broken = time.perf_counter() - start, findings[name].broken
        print(f"{name}: {broken} faults of {TRIES[name]:,}, {took:.0f} s", file=sys.stderr, flush=True)
    show(findings)
    report(*(line for name in chosen for line in findings[name].figures(name.replace("_", " "))))


def show(findings: dict[str, Findings]) -> None:
    """The counts of each attack, and under them what broke, with examples to repeat it by."""
    table = Table(box=None, pad_edge=False)
    for heading in ("attack", "tries", "refused", "survived", "faults", "first of them"):
        table.add_column(heading, justify="left" if heading in ("attack", "first of them") else "right")
    for name, found in findings.items():
        table.add_row(name, f"{found.tries:,}", f"{found.refused:,}", f"{found.survived:,}", f"{found.broken:,}", "")
        for kind, examples in found.described():
            table.add_row(f"  {kind}", "", "", "", f"{len(examples):,}", "\n".join(examples[:EXAMPLES]))
    Console(stderr=True, width=160).print(table)


if __name__ == "__main__":
    main()
