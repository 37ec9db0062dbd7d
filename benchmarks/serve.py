"""The service: how fast it answers while it learns, and what kills, hostile requests, a day and many keys do to it.

``python -m benchmarks.serve rates kills ...`` measures some of it only, and prints the figures; ``--predictions`` says
how many a day has.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.forked_service import ForkedService, forked
from benchmarks.hostile_requests import damaged, described, send
from benchmarks.kills import killed, undisturbed
from benchmarks.load import Load, put, request
from benchmarks.timing import report

Figures = list[tuple[str, float, str]]
Labelled = tuple[dict[str, Any], str]
SECONDS = 15.0
KILLS, DAMAGED, EXAMPLES = 50, 2_000, 40
#: Predictions of a day, for how many of them there is a label, and how many come together.
PREDICTIONS, A_LABEL_OF, TOGETHER = 500_000, 5, 20
KEYS, ROOM_FOR, ROWS_BY_KEY = 1_000, 50, 60


def mixed_rows(count: int, seed: int = 0) -> list[Labelled]:
    """Ten columns: numbers, names, truth values and a date; the label follows three of them."""
    draw = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        row: dict[str, Any] = {
            "amount": round(float(draw.lognormal(3)), 2),
            "balance": round(float(draw.normal()), 3),
            "country": str(draw.choice(["de", "fr", "uk", "us", "jp", "br"])),
            "returning": bool(draw.random() < 0.5),
            "age": int(draw.integers(18, 90)),
            "since": f"2024-{draw.integers(1, 13):02d}-{draw.integers(1, 28):02d}",
            "channel": str(draw.choice(["web", "shop"])),
            "minutes": round(float(draw.exponential(5)), 2),
            "items": int(draw.integers(1, 6)),
            "plan": str(draw.choice(["free", "small", "large"])),
        }
        pull = row["balance"] + (row["country"] in ("de", "fr", "uk")) - row["returning"] + 0.3 * draw.normal()
        rows.append((row, "yes" if pull > 0 else "no"))
    return rows


def learn_body(rows: list[Labelled], first: int | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {"rows": [row for row, _ in rows], "labels": [label for _, label in rows]}
    return body if first is None else {**body, "ids": [f"row {first + place}" for place in range(len(rows))]}


def begun(service: ForkedService, rows: list[Labelled]) -> None:
    """Let a service learn its first rows."""
    for first in range(0, len(rows), 100):
        while service.ask("/learn", learn_body(rows[first : first + 100]))[0] != 200:
            time.sleep(0.05)
    settled(service)


def settled(service: ForkedService) -> None:
    while service.figure("smartcl_queued_rows"):
        time.sleep(0.1)


def rates(folder: Path) -> Figures:
    """Answers a second, alone and while rows are learned."""
    rows = mixed_rows(4_000)
    asks = [request("/predict", {"row": row}) for row, _ in rows[:1_000]]
    figures: Figures = []
    with forked(folder, "--label", "label", "--queue-rows", "1000000") as service:
        begun(service, rows[:2_000])
        used = cpu_seconds(service.pid)
        (alone,) = put(service.port, SECONDS / 3, Load(asks, None))
        used = cpu_seconds(service.pid) - used
        figures.append(("single-row predictions a second, nothing else to do", alone.rate, "-"))
        figures.append(("CPU ms of the service for one of them", 1000 * used / len(alone.seconds), "-"))
        for batch in (50, 10):
            learns = [request("/learn", learn_body(rows[k : k + batch])) for k in range(2_000, 4_000, batch)]
            used = cpu_seconds(service.pid)
            busy, learning = put(service.port, SECONDS, Load(asks, 1_000.0), Load(learns, 500 / batch, 2))
            used = cpu_seconds(service.pid) - used
            told = f"while learning 500 rows a second in requests of {batch}"
            learned = learning.rate * batch
            figures += [
                (f"single-row predictions a second {told}", busy.rate, ">= 990"),
                (f"99% of these in milliseconds, {told}", busy.at(0.99), "<= 20"),
                (f"rows taken a second, {told}", learned, ">= 495"),
                (f"processors that the service used {told}", used / busy.took, "<= 1"),
                (f"answers other than 200, {told}", float(busy.bad + learning.bad), "0"),
            ]
            settled(service)
        before = service.ask("/versions")[1]["version"]
        began, used = time.perf_counter(), cpu_seconds(service.pid)
        learns = [request("/learn", learn_body(rows[k : k + 100])) for k in range(0, 4_000, 100)]
        put(service.port, SECONDS / 2, Load(learns, None, 2))
        settled(service)
        learned = service.ask("/versions")[1]["version"] - before
        figures.append(("rows learned a second in batches of 100", learned / (time.perf_counter() - began), ">= 2000"))
        figures.append(
            ("CPU ms of the service for a row of these", 1000 * (cpu_seconds(service.pid) - used) / learned, "<= 0.5")
        )
        seconds = [timed(lambda: service.ask("/learn", learn_body(rows[:1]))) for _ in range(200)]
        figures.append(("ms until one row is acknowledged, median", 1000 * float(np.median(seconds)), "-"))
        figures.append(("resident MB after it", resident(service.pid) / 1e6, "-"))
    return figures


def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def kills(folder: Path) -> Figures:
    """Kill -9 under load; steps of full batches, so that an undisturbed run takes the same."""
    rows = mixed_rows(10_000)
    arguments = ["--label", "label", "--gather-seconds", "1e9", "--save-seconds", "0.5", "--log", "error"]
    probes = [row for row, _ in mixed_rows(500, seed=1)]
    service = ForkedService(folder / "killed", *arguments)
    found = killed(service, rows, probes, KILLS, seed=random.SystemRandom().randrange(2**31), batch=20)
    service.end()
    never = undisturbed(folder / "never", rows, probes, arguments)
    differ = sum(
        one["probabilities"] != other["probabilities"] for one, other in zip(found.answers, never, strict=True)
    )
    return [
        ("kills under load", float(found.kills), f">= {KILLS}"),
        ("rows acknowledged", float(found.acknowledged), "-"),
        ("acknowledged rows lost", float(found.lost), "0"),
        ("rows learned twice", float(found.twice), "0"),
        ("answers that differ from an undisturbed run's, of 500", float(differ), "0"),
    ]


def hostile(folder: Path) -> Figures:
    """What schemathesis makes of the description, and damaged bodies."""
    with forked(folder, "--label", "label") as service:
        begun(service, mixed_rows(500))
        service.ask("/save", {})
        seed = random.SystemRandom().randrange(2**31)
        sent, failures = described(f"http://127.0.0.1:{service.port}/", EXAMPLES, seed)
        print(*failures, sep="\n", file=sys.stderr)
        statuses, slowest = list[int](), 0.0
        requests = list(damaged(seed, DAMAGED))
        for one in requests[: DAMAGED // 4]:
            statuses.append(send(service.port, one))
        settled(service)
        before = resident(service.pid)
        for one in requests[DAMAGED // 4 :]:
            began = time.perf_counter()
            statuses.append(send(service.port, one))
            slowest = max(slowest, time.perf_counter() - began)
        settled(service)
        ready = service.ask("/health/ready")
        return [
            ("requests of schemathesis", float(sent), "-"),
            ("operations that were not as described, or failed", float(len(failures)), "0"),
            ("damaged requests", float(len(statuses)), f">= {DAMAGED}"),
            ("of these answered with 5xx", float(sum(status >= 500 for status in statuses)), "0"),
            ("seconds that the slowest took", slowest, "<= 5"),
            ("resident memory after them / after a quarter of them", resident(service.pid) / before, "<= 1.05"),
            ("ready after them", float(ready[0] == 200 and ready[1]["ready"]), "1"),
        ]


def day(folder: Path, predictions: int = PREDICTIONS) -> Figures:
    """Predictions of which a fifth get a label at once, a fifth of all labels late, and most never."""
    rows, draw = mixed_rows(5_000), random.Random(0)
    held: list[float] = []
    worst = 0.0
    late: list[tuple[str, str]] = []
    labels = labelled = 0
    budget = 10_000_000
    with forked(folder, "--label", "label", "--pending", str(budget), "--queue-rows", "1000000") as service:
        begun(service, rows[:1_000])
        for first in range(0, predictions, TOGETHER):
            part = [rows[(first + place) % len(rows)] for place in range(TOGETHER)]
            ids = [str(first + place) for place in range(TOGETHER)]
            service.ask("/predict", {"rows": [row for row, _ in part], "ids": ids})
            wanted = (first + TOGETHER) // A_LABEL_OF - labels
            for known, (_, label) in list(zip(ids, part, strict=True))[:wanted]:
                kind = draw.random()  # three fifths at once, a fifth late, a fifth never
                labels += 1
                if kind < 0.8:
                    late.append((known, label))
                if kind < 0.2:
                    late.insert(max(0, len(late) - 1000), late.pop())
            while len(late) >= 1_500:
                now, late = late[-500:], late[:-500]
                body = "\n".join(json.dumps({"id": known, "label": label}) for known, label in now)
                labelled += _learn_lines(service, body)
            if first % (predictions // 50) < TOGETHER:
                pending = service.ask("/model")[1]["service"]["pending"]
                worst = max(worst, pending["bytes"] / pending["budget_bytes"])
                held.append(resident(service.pid))
        settled(service)
        state = service.ask("/model")[1]
        return [
            ("predictions", float(state["service"]["counts"]["predicted"]), f">= {PREDICTIONS}"),
            ("labels that found their row", float(labelled), "-"),
            ("predicted rows that left without a label", float(state["service"]["pending"]["crowded_out"]), "-"),
            (
                "resident memory of the last tenth / second tenth",
                float(np.mean(held[-5:]) / np.mean(held[5:10])),
                "<= 1.05",
            ),
            ("largest share of the budget for pending rows", worst, "<= 1"),
            ("share of the memory's budget", state["model"]["memory_bytes"] / state["model"]["budget_bytes"], "<= 1"),
        ]


def _learn_lines(service: ForkedService, body: str) -> int:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    connection.request("POST", "/learn", body.encode(), {"Content-Type": "application/x-ndjson"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return int(answer["accepted"])


def keys(folder: Path) -> Figures:
    """Many models by key, of which few fit into memory: each answers as one that is alone."""
    sent = {number: mixed_rows(ROWS_BY_KEY, seed=number) for number in range(KEYS)}
    probes = [row for row, _ in mixed_rows(5, seed=KEYS)]
    plain = ["--label", "label", "--gather-seconds", "0", "--log", "error"]
    with forked(folder / "alone", *plain, "--per", "shop", "--room", "100GB") as service:
        _learn_key(service, 0, sent[0])
        one = service.ask("/model?shop=0")[1]["model"]
        room = ROOM_FOR * sum(one["bytes_by_part"].values())
    began = time.perf_counter()
    with forked(folder / "many", *plain, "--per", "shop", "--room", str(room)) as service:
        order = list(range(KEYS))
        random.Random(0).shuffle(order)
        for half in range(2):
            for number in order:
                part = sent[number][half * ROWS_BY_KEY // 2 : (half + 1) * ROWS_BY_KEY // 2]
                _learn_key(service, number, part)
        resident_bytes = resident(service.pid)
        answers = {number: _answers_of_key(service, number, probes) for number in order}
        gauges = service.ask("/model?shop=0")[0]
    seconds = time.perf_counter() - began
    differ = 0
    some = random.Random(1).sample(range(KEYS), 40)
    with forked(folder / "one", *plain, "--per", "shop", "--room", "100GB") as service:
        for number in some:
            for half in range(2):
                _learn_key(service, number, sent[number][half * ROWS_BY_KEY // 2 : (half + 1) * ROWS_BY_KEY // 2])
            differ += _answers_of_key(service, number, probes) != answers[number]
    return [
        ("models by key", float(len(answers)), f">= {KEYS}"),
        ("models for which there is room", float(ROOM_FOR), "-"),
        ("of 40 models, those that answer otherwise than alone", float(differ), "0"),
        ("seconds a request of another key, learned or predicted", seconds / (3 * KEYS), "-"),
        ("resident MB with them", resident_bytes / 1e6, "-"),
        ("answers 200 to the end", float(gauges == 200), "1"),
    ]


def _learn_key(service: ForkedService, number: int, rows: list[Labelled]) -> None:
    status, answer = service.ask(f"/learn?shop={number}", learn_body(rows))
    if status != 200:
        raise RuntimeError(answer)


def _answers_of_key(service: ForkedService, number: int, probes: list[dict[str, Any]]) -> Any:
    """The answers of a model that has learned all it was sent."""
    while True:
        status, answer = service.ask(f"/predict?shop={number}", {"rows": probes})
        if status == 200 and answer["version"] == ROWS_BY_KEY:
            return answer["answers"]
        time.sleep(0.005)


def cpu_seconds(pid: int) -> float:
    """What a process has used of processors."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Bytes of a process in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096.0


PARTS: dict[str, Callable[[Path], Figures]] = {
    "rates": rates,
    "kills": kills,
    "hostile": hostile,
    "day": day,
    "keys": keys,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="by default, all")
    parser.add_argument("--predictions", type=int, default=PREDICTIONS)
    asked = parser.parse_args()
    found: Figures = []
    for name in asked.parts or PARTS:
        with tempfile.TemporaryDirectory() as root:
            print(f"{name} ...", file=sys.stderr, flush=True)
            found += day(Path(root), asked.predictions) if name == "day" else PARTS[name](Path(root))
    report(*found)
