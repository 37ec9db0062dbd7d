"""One run on a stream of the suite: each batch predicted and then learned, by ``smart`` here or by a peer elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import smartcl
from smartcl.errors import UnavailableError
from smartcl.estimator import SmartClassifier
from smartcl.paper.datasets.stream_suite import SUITE, SuiteFile, read_suite_file, stream_path
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.peers.names import PEERS
from smartcl.paper.scores.prequential import prequential

#: What ``make peers`` makes, in the folder of the repository.
ENVIRONMENT = ".venv-peers"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


class OurOwn:
    """The estimator as a user has it: raw values, and no word of the classes to come."""

    def __init__(self, spec: RunSpec, classes: int) -> None:
        self.model = SmartClassifier(
            spec.memory, method=spec.method, parameters=dict(spec.parameters), random_state=spec.seed
        )
        self.classes = classes

    def learn(self, X: NDArray[np.float32], y: NDArray[np.int64]) -> None:
        self.model.partial_fit(X, y)

    def scores(self, X: NDArray[np.float32]) -> NDArray[np.float64]:
        """Probabilities; zero for a class not seen yet."""
        scores = np.zeros((len(X), self.classes))
        scores[:, self.model.classes_] = self.model.predict_proba(X)
        return scores


def prequential_run(spec: RunSpec, data_dir: Path | None = None) -> dict[str, Any]:
    """The result as plain JSON-able values; the spec in it names the data that were learned."""
    path = stream_path(spec.dataset, data_dir)
    stream = read_suite_file(path)
    result = peer_result(spec, path) if spec.method in PEERS else own_result(spec, stream)
    made_from = replace(spec, source=replace(SUITE[spec.dataset], digest=stream.digest).source)
    return {
        **result,
        "drifts": list(stream.drifts),
        "gradual": stream.gradual,
        "stream": spec.dataset,
        "spec": made_from.as_dict(),
        "settings": spec.settings,
        "protocol": spec.protocol,
    }


def check_there(specs: Iterable[RunSpec], data_dir: Path | None = None) -> None:
    """Before the first run: the streams it learns and the peers it asks are there."""
    on_streams = [spec for spec in specs if spec.dataset in SUITE]
    for name in dict.fromkeys(spec.dataset for spec in on_streams):
        read_suite_file(stream_path(name, data_dir))
    if any(spec.method in PEERS for spec in on_streams):
        peers_python()


def own_result(spec: RunSpec, stream: SuiteFile) -> dict[str, Any]:
    """The estimator's, with what its memory holds."""
    own = OurOwn(spec, stream.classes)
    result = prequential(own, *stream.with_seed(spec.seed))
    memory = own.model.memory_
    return {
        **result,
        "samples_held": len(memory),
        "memory_bytes": memory.store.nbytes,
        "total_bytes": own.model.learner_.total_nbytes,
        "budget_bytes": memory.budget.nbytes,
        "versions": {name: version(name) for name in ("smartcl", "torch", "numpy")},
    }


def peer_result(spec: RunSpec, path: Path) -> dict[str, Any]:
    """What the peers' environment answers. Its process then waits for the next question, and ends with this process."""
    worker = peers_worker(peers_python())
    assert worker.stdin is not None
    assert worker.stdout is not None
    question = {"peer": spec.method, "path": str(path), "seed": spec.seed}
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
