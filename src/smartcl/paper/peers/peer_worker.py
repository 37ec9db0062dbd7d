"""A process of the peers' environment: a line of JSON in, what to run; a line of JSON out, what came of it.

``python -m smartcl.paper.peers.peer_worker`` ends with its input.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from smartcl.paper.datasets.stream_suite import read_suite_file
from smartcl.paper.peers.models import BUILDERS
from smartcl.paper.peers.names import PEERS
from smartcl.paper.scores.prequential import prequential


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """The result of one peer on one stream, with the versions it was made with."""
    stream = read_suite_file(Path(question["path"]))
    X, y = stream.with_seed(question["seed"])
    name, release = PEERS[question["peer"]].package
    if version(name) != release:
        raise RuntimeError(f"{name} {version(name)} is installed, not {release}: 'make peers' installs it")
    model = BUILDERS[question["peer"]](X.shape[1], stream.classes, question["seed"])
    return {**prequential(model, X, y), "versions": {each: version(each) for each in ("river", "scikit-learn", name)}}


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
