"""A client that costs little: it asks at a given rate over a few connections, and notes how long each answer took."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


def request(path: str, body: Any) -> bytes:
    """A POST of JSON as it goes over the wire."""
    data = json.dumps(body).encode()
    head = (
        "POST",
        path,
        "HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length:",
        str(len(data)),
    )
    return " ".join(head).encode() + b"\r\n\r\n" + data


@dataclass
class Asked:
    """What came of a load: seconds of each answer, how many were not 200, and how long it took."""

    seconds: list[float] = field(default_factory=list)
    bad: int = 0
    took: float = 0.0

    @property
    def rate(self) -> float:
        return len(self.seconds) / self.took

    def at(self, share: float) -> float:
        """Milliseconds within which this share of the answers came."""
        return 1000 * sorted(self.seconds)[min(len(self.seconds) - 1, int(share * len(self.seconds)))]


@dataclass(frozen=True)
class Load:
    """Requests, sent in turn, a number of them a second over a number of connections; None: as fast as answers come."""

    requests: Sequence[bytes]
    per_second: float | None
    connections: int = 16


def put(port: int, seconds: float, *loads: Load) -> list[Asked]:
    """Put these loads on a service at the same time."""
    return asyncio.run(_all(port, seconds, loads))


async def _all(port: int, seconds: float, loads: Sequence[Load]) -> list[Asked]:
    found = [Asked() for _ in loads]
    lines = [
        _line(port, seconds, load, place, asked)
        for load, asked in zip(loads, found, strict=True)
        for place in range(load.connections)
    ]
    began = time.perf_counter()
    await asyncio.gather(*lines)
    for asked in found:
        asked.took = time.perf_counter() - began
    return found


async def _line(port: int, seconds: float, load: Load, place: int, asked: Asked) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    gap = 0.0 if load.per_second is None else load.connections / load.per_second
    due = time.perf_counter() + gap * place / load.connections
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        # an answer is as late as it comes after it was due, not after the line was free to ask
        began = due if load.per_second is not None else time.perf_counter()
        writer.write(load.requests[place % len(load.requests)])
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
        asked.seconds.append(time.perf_counter() - began)
        asked.bad += head[9:12] != b"200"
        place, due = place + load.connections, due + gap
    writer.close()
