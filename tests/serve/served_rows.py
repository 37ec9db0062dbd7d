"""Rows of mixed columns whose label can be learned, and services for tests."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from smartcl.files.table_model import TableModel
from smartcl.saving.persistence import detached
from smartcl.serve.bodies import Item
from smartcl.serve.limits import Keeping, Limits
from smartcl.serve.model_plan import ModelPlan
from smartcl.serve.served_model import ServedModel
from smartcl.serve.served_models import Models

Labelled = tuple[dict[str, Any], str]
#: Nothing is gathered, saved or synced but when a test says so.
AT_ONCE = {"gather_seconds": 0.0, "sync_seconds": 0.001, "save_seconds": 3600.0}
#: The quickest learner there is: what is tested here is the service.
QUICK = {"method": "er", "hidden": (8,), "iterations": 1}


def labelled_rows(count: int, seed: int = 0) -> list[Labelled]:
    """Rows of numbers, names, a truth value and a date."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        size, colour, new = float(rng.normal()), str(rng.choice(["red", "green", "blue"])), bool(rng.random() < 0.5)
        day = f"2024-{rng.integers(1, 13):02d}-{rng.integers(1, 28):02d}"
        rows.append(({"size": size, "colour": colour, "new": new, "day": day}, "yes" if size + new > 0.5 else "no"))
    return rows


def items(rows: list[Labelled], prefix: str | None = None, first: int = 0) -> list[Item]:
    """These as a request has them, with ids if they are to have any."""
    return [
        Item(row, label, None if prefix is None else f"{prefix}{first + place}")
        for place, (row, label) in enumerate(rows)
    ]


@contextmanager
def service(
    folder: Path,
    limits: Limits | None = None,
    per: str | None = None,
    room: int = 10**9,
    settings: dict[str, Any] = QUICK,
    **keeping: Any,
) -> Iterator[Models]:
    """Models with a quick learner, ended when the test is over."""
    plan = ModelPlan("label", "20kB", settings=settings, first_rows=20)
    models = Models(folder, plan, limits or Limits(), Keeping(**{**AT_ONCE, **keeping}), per, room)
    try:
        yield models
    finally:
        models.end()


@contextmanager
def one_model(folder: Path, limits: Limits | None = None, **keeping: Any) -> Iterator[ServedModel]:
    """The one model of a service."""
    folder.mkdir(exist_ok=True)
    with service(folder, limits, **keeping) as models, models.use(None) as served:
        served.call = models.call  # type: ignore[attr-defined]
        yield served


def learn(served: ServedModel, given: list[Item], key: str | None = None) -> Any:
    """Send rows, and wait until they are on the disk and learned."""
    accepted = served.accept(given, key)
    for future in accepted.durable:
        future.result(10)
    settle(served)
    return accepted


def settle(served: ServedModel, left: int = 1) -> None:
    """Wait until fewer than this number of rows wait for the learner."""
    end = time.monotonic() + 20
    while served.queued >= left:
        assert time.monotonic() < end, "the rows were not learned in time"
        time.sleep(0.002)
    served.call(lambda: None).result(10)  # type: ignore[attr-defined]


def state_of(model: TableModel) -> str:
    """A digest of all that the future of a model depends on."""
    state = {"learner": model.classifier.learner_.state_dict(), "encoder": model.encoder.state_dict()}
    tree, arrays = detached({**state, "progress": model.progress.state_dict(), "names": model.classes})
    found = hashlib.sha256(json.dumps(tree, sort_keys=True).encode())
    for name in sorted(arrays):
        found.update(name.encode() + arrays[name].tobytes())
    return found.hexdigest()
