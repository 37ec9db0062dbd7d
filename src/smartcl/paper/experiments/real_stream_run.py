"""One run on a real stream: each row answered and then learned, by the estimator here or by a peer elsewhere."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from smartcl.data.batch import Doubles, Ints
from smartcl.errors import UnavailableError
from smartcl.estimator import SmartClassifier
from smartcl.learners.methods import USUAL_METHOD
from smartcl.paper.datasets.real_tables import AnyRows
from smartcl.paper.datasets.real_tasks import RealTask, is_real_task
from smartcl.paper.experiments.peers_process import asked, peers_python
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.peers.names import REAL_PEERS
from smartcl.paper.peers.table_peers import LOOKED_AT, TABLE_PEERS
from smartcl.paper.scores.one_pass import one_pass


class Default:
    """The estimator as a user has it: rows as they come, one by one or many at once, and no word of the classes."""

    def __init__(self, spec: RunSpec, classes: int) -> None:
        self.model = SmartClassifier(spec.memory, random_state=spec.seed)
        if spec.method != USUAL_METHOD or spec.parameters:
            self.model.set_params(method=spec.method, parameters=dict(spec.parameters))
        self.classes = classes

    def learn(self, rows: AnyRows, y: Ints) -> None:
        if isinstance(rows, list) and len(rows) == 1:
            self.model.learn_one(rows[0], int(y[0]))
        else:
            self.model.partial_fit(rows, y)

    def scores(self, rows: AnyRows) -> Doubles:
        """Probabilities; zero for a class not seen yet."""
        found = np.zeros((len(rows), self.classes))
        if isinstance(rows, list) and len(rows) == 1:
            for label, probability in self.model.predict_proba_one(rows[0]).items():
                found[0, label] = probability
        else:
            found[:, self.model.classes_] = self.model.predict_proba(rows)
        return found


def real_stream_run(spec: RunSpec, data_dir: Path | None = None) -> dict[str, Any]:
    """The result as plain JSON-able values."""
    task = RealTask.parse(spec.dataset)
    if needs_peer(spec):
        question = {"peer": spec.method, "task": task.name, "seed": spec.seed, "data": data_dir and str(data_dir)}
        result = asked(question)
    elif spec.method in REAL_PEERS:
        learned = task.load(spec.seed, data_dir)
        simple = TABLE_PEERS[spec.method](learned.rows[:LOOKED_AT], learned.classes, spec.seed)
        result = one_pass(simple, learned, task.step)
    else:
        learned = task.load(spec.seed, data_dir)
        own = Default(spec, learned.classes)
        result = one_pass(own, learned, task.step)
        memory = own.model.memory_
        result |= {
            "samples_held": len(memory),
            "memory_bytes": memory.store.nbytes,
            "budget_bytes": memory.budget.nbytes,
            "versions": {name: version(name) for name in ("smartcl", "torch", "numpy")},
        }
    made_from = replace(spec, source=task.source)
    return {
        **result,
        "stream": spec.dataset,
        "spec": made_from.as_dict(),
        "settings": spec.settings,
        "protocol": spec.protocol,
    }


def without_missing_peers(specs: Sequence[RunSpec]) -> tuple[list[RunSpec], list[str]]:
    """The runs that can be made here, and a sentence for each package whose rows stay empty."""
    needed = {spec: REAL_PEERS[spec.method].package for spec in specs if needs_peer(spec)}
    if not needed:
        return list(specs), []
    try:
        there = installed(peers_python())
    except UnavailableError as error:
        return [spec for spec in specs if spec not in needed], [f"{error}; the rows of peers stay empty"]
    short = dict.fromkeys(package for package in needed.values() if package and there.get(package[0]) != package[1])
    said = [f"{name} {release} is not in the peers' environment: its rows stay empty" for name, release in short]
    return [spec for spec in specs if needed.get(spec) not in short], said


def needs_peer(spec: RunSpec) -> bool:
    """Whether a package of the peers' environment makes this run."""
    peer = REAL_PEERS.get(spec.method)
    return is_real_task(spec.dataset) and peer is not None and peer.package is not None


@cache
def installed(python: Path) -> dict[str, str]:
    """The releases of the peers' packages in this environment."""
    names = sorted({peer.package[0] for peer in REAL_PEERS.values() if peer.package})
    asks = (
        "import json, sys, importlib.metadata as m; "
        "there = {d.metadata['Name'].lower(): d.version for d in m.distributions()}; "
        "print(json.dumps({name: there.get(name) for name in sys.argv[1:]}))"
    )
    done = subprocess.run([str(python), "-c", asks, *names], stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found
