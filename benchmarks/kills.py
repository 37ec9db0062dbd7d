"""Kills a service under load at random moments, and looks whether anything acknowledged was lost or learned twice."""

from __future__ import annotations

import http.client
import random
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.forked_service import ForkedService, forked

Labelled = tuple[dict[str, Any], str]


@dataclass(frozen=True)
class Outcome:
    """After all rows were sent: how many were learned, and what was answered then."""

    kills: int
    learned: int
    acknowledged: int
    lost: int
    twice: int
    answers: list[Any]


def killed(
    service: ForkedService, rows: list[Labelled], probes: list[dict[str, Any]], kills: int, seed: int, batch: int = 10
) -> Outcome:
    """Send rows in order, each request again until it is acknowledged, while the service is killed ``kills`` times."""
    draw = random.Random(seed)
    done, count = threading.Event(), 0

    def kill() -> None:
        nonlocal count
        while count < kills and not done.is_set():
            time.sleep(draw.uniform(0.02, 0.5))
            service.kill()
            count += 1
            service.begin_again()

    service.begin()
    killer, acknowledged, twice = threading.Thread(target=kill), 0, 0
    killer.start()
    first = 0
    try:
        while first < len(rows) or count < kills:
            part = rows[first : first + batch]
            if not part:
                time.sleep(0.02)
                continue
            body = {
                "rows": [row for row, _ in part],
                "labels": [label for _, label in part],
                "ids": [f"row {first + place}" for place in range(len(part))],
            }
            try:
                status, answer = service.ask("/learn", body)
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.005)
                continue
            if status == 200:
                acknowledged += answer["accepted"] + answer["repeated"]
                first += batch
            else:
                time.sleep(0.02)
    finally:
        done.set()
        killer.join()
    end = time.monotonic() + 120
    version = -1
    while version < len(rows) // 50 * 50 and time.monotonic() < end:
        version = service.ask("/versions")[1]["version"]
        time.sleep(0.02)
    time.sleep(0.1)
    version = service.ask("/versions")[1]["version"]
    answers = service.ask("/predict", {"rows": probes})[1]["answers"]
    service.kill()
    service.hang_up()
    lost, twice = max(0, len(rows) - version), max(0, version - len(rows))
    return Outcome(count, version, acknowledged, lost, twice, answers)


def undisturbed(folder: Path, rows: list[Labelled], probes: list[dict[str, Any]], arguments: list[str]) -> list[Any]:
    """What a service answers that learned the same rows and was never killed."""
    with forked(folder, *arguments) as service:
        for first in range(0, len(rows), 100):
            part = rows[first : first + 100]
            while (
                service.ask("/learn", {"rows": [row for row, _ in part], "labels": [label for _, label in part]})[0]
                != 200
            ):
                time.sleep(0.05)
        while service.ask("/versions")[1]["version"] < len(rows):
            time.sleep(0.02)
        return list(service.ask("/predict", {"rows": probes})[1]["answers"])
