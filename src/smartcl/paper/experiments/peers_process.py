"""The process that runs peers in an environment of their own: a line of JSON asks, a line of JSON answers."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import smartcl
from smartcl.errors import UnavailableError

#: What ``make peers`` makes, in the folder of the repository.
ENVIRONMENT = ".venv-peers"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def asked(question: dict[str, Any]) -> dict[str, Any]:
    """What the peers' process answers. It then waits for the next question, and ends with this process."""
    worker = peers_worker(peers_python())
    assert worker.stdin is not None
    assert worker.stdout is not None
    with suppress(OSError):  # dead already: then there is no answer
        worker.stdin.write(json.dumps(question) + "\n")
        worker.stdin.flush()
    line = worker.stdout.readline()
    if not line:
        peers_worker.cache_clear()
        with suppress(OSError), worker:
            worker.wait()
        raise RuntimeError(f"the peers' process ended with exit code {worker.returncode}")
    answer: dict[str, Any] = json.loads(line)
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer


def peers_python() -> Path:
    """The peers' interpreter, beside the package's source or in the folder one is in."""
    for folder in (Path(smartcl.__file__).parents[2], Path.cwd()):
        python = folder / ENVIRONMENT / "bin" / "python"
        if python.exists():
            return python
    raise UnavailableError("the peers' environment is not there: 'make peers' makes it")


@cache
def peers_worker(python: Path) -> subprocess.Popen[str]:
    """One process for all peers' runs of this one."""
    command = [str(python), "-m", "smartcl.paper.peers.peer_worker"]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **ONE_THREAD}
    )
