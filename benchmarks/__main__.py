"""``python -m benchmarks [name ...]``: run the benchmarks, print a table, write ``benchmarks/results.json``.

Each benchmark runs in a process of its own with one thread, so that none warms or crowds another.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
NAMES = (
    *("step", "gss_greedy", "held", "selection", "fisher", "methods"),
    *("scaling", "million", "sparse", "speedup", "planted", "rare", "units", "imports", "attack"),
    *("reading", "soak", "own_loop", "own_network", "coders", "grading"),
)
#: Those that need the environment of ``make compat`` run when they are named.
NAMED_ONLY = ("avalanche_replay",)


def main() -> None:
    """Run the named benchmarks, or all."""
    chosen = sys.argv[1:] or NAMES
    known = (*NAMES, *NAMED_ONLY)
    unknown = [name for name in chosen if name not in known]
    if unknown:
        sys.exit(f"unknown benchmark {unknown[0]!r}: known are {', '.join(known)}")
    path = HERE / "results.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    for name in chosen:
        print(f"{name} ...", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
        results[name] = json.loads(done.stdout)
        path.write_text(json.dumps(results, indent=1) + "\n")
    table = Table(box=None, pad_edge=False)
    for heading in ("benchmark", "figure", "measured", "wanted"):
        table.add_column(heading, justify="right" if heading == "measured" else "left")
    for name in chosen:
        for line in results[name]:
            table.add_row(name, line["figure"], f"{line['measured']:.3g}", line["wanted"])
    Console().print(table)


main()
