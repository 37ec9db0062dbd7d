"""A process of the peers' environment: a line of JSON in, what to run; a line of JSON out, what came of it.

``python -m smartcl.paper.peers.peer_worker`` ends with its input.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from smartcl.paper.datasets.real_tasks import RealTask
from smartcl.paper.datasets.stream_suite import read_suite_file
from smartcl.paper.peers.models import BUILDERS
from smartcl.paper.peers.names import ALL_PEERS
from smartcl.paper.peers.table_peers import LOOKED_AT, TABLE_PEERS
from smartcl.paper.scores.one_pass import one_pass
from smartcl.paper.scores.prequential import prequential


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """The result of one peer on one stream, with the versions it was made with."""
    name, release = ALL_PEERS[question["peer"]].package or ("smartcl", version("smartcl"))
    if version(name) != release:
        raise RuntimeError(f"{name} {version(name)} is installed, not {release}: 'make peers' installs it")
    result = on_real_stream(question) if "task" in question else on_suite(question)
    return {**result, "versions": {each: version(each) for each in ("river", "scikit-learn", name)}}


def on_real_stream(question: dict[str, Any]) -> dict[str, Any]:
    """Row by row, or some at a time."""
    task, seed = RealTask.parse(question["task"]), question["seed"]
    learned = task.load(seed, question["data"])
    model = TABLE_PEERS[question["peer"]](learned.rows[:LOOKED_AT], learned.classes, seed)
    return one_pass(model, learned, task.step)


def on_suite(question: dict[str, Any]) -> dict[str, Any]:
    """In batches of 50."""
    stream = read_suite_file(Path(question["path"]))
    X, y = stream.with_seed(question["seed"])
    model = BUILDERS[question["peer"]](X.shape[1], stream.classes, question["seed"])
    return prequential(model, X, y)


def main() -> None:
    out, sys.stdout = sys.stdout, sys.stderr  # what a package prints is no answer
    for line in sys.stdin:
        try:
            said = answer(json.loads(line))
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), file=out, flush=True)


if __name__ == "__main__":
    main()
