"""One run on a stream of the suite: each batch predicted and then learned, by ``smart`` here or by a peer elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.estimator import SmartClassifier
from smartcl.paper.datasets.stream_suite import SUITE, SuiteFile, read_suite_file, stream_path
from smartcl.paper.experiments.peers_process import asked, peers_python
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.peers.names import PEERS
from smartcl.paper.scores.prequential import prequential


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
    """What the peers' environment answers."""
    return asked({"peer": spec.method, "path": str(path), "seed": spec.seed})
