"""A service that is killed under load: what it acknowledged is learned, once, and the model is that of the library."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from served_rows import labelled_rows

from benchmarks.forked_service import ForkedService
from benchmarks.kills import killed
from smartcl.columns.column_schema import read_schema
from smartcl.files.training import train_stream

ROWS = labelled_rows(1000)
#: Saved often, so that kills meet saves; rows wait for a full batch, so that steps do not depend on the time.
ARGUMENTS = [
    *("--label", "label", "--memory", "20kB", "--method", "er", "--set", "hidden=8", "--set", "iterations=1"),
    *("--save-seconds", "0.2", "--gather-seconds", "1e9", "--log", "error"),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkedService]:
    found = ForkedService(tmp_path_factory.mktemp("killed"), *ARGUMENTS)
    yield found
    found.end()


def test_kills_lose_nothing_and_change_nothing(service: ForkedService, tmp_path: Path) -> None:
    service.folder = tmp_path / "model"
    probes = [row for row, _ in ROWS[:20]]
    found = killed(service, ROWS, probes, kills=3, seed=0, batch=7)
    assert (found.kills, found.acknowledged, found.lost, found.twice) == (3, 1000, 0, 0)
    schema = read_schema(str(tmp_path / "model" / "schema.json"))
    settings: dict[str, Any] = {"method": "er", "hidden": (8,), "iterations": 1, "random_state": 0}
    model = train_stream(ROWS, memory="20kB", schema=schema, **settings)
    expected = model.predict_proba(probes)
    answered = [[answer["probabilities"][name] for name in model.classes] for answer in found.answers]
    assert np.array_equal(answered, expected)


def test_sigterm_learns_what_waits_and_saves(service: ForkedService, tmp_path: Path) -> None:
    service.folder = tmp_path / "model"
    service.arguments = (*service.arguments, "--save-seconds", "3600")
    service.begin()
    status, answer = service.ask("/learn", {"rows": [{**row, "label": label} for row, label in ROWS[:80]]})
    assert (status, answer["accepted"]) == (200, 80)
    assert service.kill(signal.SIGTERM) == 0
    service.begin()
    assert service.ask("/versions")[1] == {"version": 80, "saved": [80]}
    assert service.kill(signal.SIGTERM) == 0
