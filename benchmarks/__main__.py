"""``python -m benchmarks [name ...]``: run the benchmarks, print a table, write ``benchmarks/results.json``.

Without names, all that are not long; ``all`` means the long ones too. Each runs in a process of its own with one
thread, so that none warms or crowds another, and one that fails stops no other. Beside its figures the file has, under
``about``, when each benchmark was run, on what and how long; a figure that falls short of what was wanted says so.

``tables``, ``mixed`` and ``shards`` take options after their names (``benchmarks/tables.py``,
``benchmarks/shards.py``). What such a run measures is added to the file.
``attack`` takes some too (``benchmarks/attack/__main__.py``): such a run hunts for faults and writes no figures.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.timing import falls_short

PATH = Path(__file__).parent / "results.json"
NAMES = (
    *("step", "gss_greedy", "held", "selection", "fisher", "methods"),
    *("scaling", "million", "sparse", "speedup", "planted", "rare", "units", "doors", "walks"),
    *("reading", "own_loop", "own_network", "coders", "grading", "before"),
)
#: They take long, or need data that are fetched.
LONG = ("doubts", "easy", "flu_oracle", "predicting", "again", "soak", "attack", "tables", "serve", "mixed", "shards")
#: They need the environment of ``make compat-env``.
PEERS = ("peers", "avalanche_replay", "row_by_row")


def main() -> None:
    """Run the named benchmarks, or all that are not long."""
    words, known = sys.argv[1:], (*NAMES, *LONG, *PEERS)
    asked = list(takewhile(lambda word: not word.startswith("-"), words))
    options = words[len(asked) :]
    chosen = (*NAMES, *LONG) if asked == ["all"] else asked or NAMES
    unknown = [name for name in chosen if name not in known]
    if unknown:
        sys.exit(f"unknown benchmark {unknown[0]!r}: known are {', '.join(known)}, and all")
    if options and asked == ["attack"]:
        sys.exit(subprocess.run(command("attack", options), check=False, env=environment()).returncode)
    if options and asked not in (["tables"], ["mixed"], ["shards"]):
        sys.exit(f"unknown option {options[0]!r}: only tables, mixed, shards and attack take options")
    failed = [name for name in chosen if not measured(name, options)]
    results = json.loads(PATH.read_text())
    # tables has printed a table of its own
    if shown := {name: results[name] for name in chosen if name not in (*failed, "tables")}:
        show(shown)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def measured(name: str, options: Sequence[str] = ()) -> bool:
    """Run one benchmark and note what came out; whether it finished. With options, other figures stay in the file."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    before = children_seconds()
    done = subprocess.run(command(name, options), stdout=subprocess.PIPE, text=True, check=False, env=environment())
    if done.returncode:
        return False
    lines: list[dict[str, Any]] = json.loads(done.stdout)
    for line in lines:
        if falls_short(line["measured"], line["wanted"]):
            line["falls_short"] = True
    results = json.loads(PATH.read_text()) if PATH.exists() else {}
    results.setdefault("about", {})[name] = {**here(), "cpu_seconds": round(children_seconds() - before, 1)}
    new = {line["figure"] for line in lines}
    results[name] = [line for line in results.get(name, []) if options and line["figure"] not in new] + lines
    PATH.write_text(json.dumps(results, indent=1) + "\n")
    return True


def command(name: str, options: Sequence[str]) -> list[str]:
    """What runs a benchmark in a process of its own."""
    return [sys.executable, "-m", f"benchmarks.{name}", *options]


def environment() -> dict[str, str]:
    """This process's environment, with one thread."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def here() -> dict[str, str]:
    """When this is, and on what."""
    versions = {name: version(name) for name in ("smartcl", "torch", "numpy", "scipy", "scikit-learn")}
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return {"date": when, "machine": machine(), "python": platform.python_version(), **versions}


def machine() -> str:
    """The processor, and how many of them."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    models = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return f"{os.cpu_count()} x {models[0] if models else platform.processor() or platform.machine()}"


def children_seconds() -> float:
    """CPU seconds of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def show(results: dict[str, list[dict[str, Any]]]) -> None:
    """As a table, with the machine and the versions below."""
    table = Table(box=None, pad_edge=False)
    for heading in ("benchmark", "figure", "measured", "wanted", ""):
        table.add_column(heading, justify="right" if heading == "measured" else "left")
    for name, lines in results.items():
        for line in lines:
            short = "falls short" if line.get("falls_short") else ""
            table.add_row(name, line["figure"], f"{line['measured']:.3g}", line["wanted"], short)
    console = Console()
    console.print(table)
    console.print(", ".join(f"{name} {value}" for name, value in here().items()), highlight=False)


if __name__ == "__main__":
    main()
