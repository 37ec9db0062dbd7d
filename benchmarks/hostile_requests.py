"""Requests that no friend would send: damaged bodies, and what schemathesis makes of the API's own description."""

from __future__ import annotations

import http.client
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

#: Statuses that are the service's own fault. 503 says that it ends or has no model, which it does not and has.
DEEP = 100_000
WHOLE = {"row": {"size": 1.5, "colour": "red", "new": True, "day": "2024-05-01"}, "label": "yes", "id": "x"}
ODD_VALUES: list[Any] = [
    *(None, True, -1, 0, 1e308, -1e308, 10**400, float("nan"), float("inf"), "", " ", "\0", "\ud800", "x" * 300_000),
    *(
        [],
        [1],
        {},
        {"a": {"b": {"c": 1}}},
        [[]],
        "NaN",
        "1e999",
        "\u202e",
        "é" * 500,
        "'; drop table",
        "../../etc/passwd",
    ),
]
PATHS = ("/predict", "/learn", "/invocations", "/versions", "/save")
KINDS = (
    "application/json",
    "application/json",
    "application/x-ndjson",
    "text/csv",
    "text/plain",
    "",
    "application/json; charset=latin-1",
)


@dataclass(frozen=True)
class Hostile:
    """One request as it goes over the wire."""

    path: str
    body: bytes
    headers: dict[str, str]


def damaged(seed: int, count: int) -> Iterator[Hostile]:
    """So many requests, each damaged in its own way."""
    draw = random.Random(seed)
    for _ in range(count):
        body = draw.choice(WAYS)(draw)
        headers = {"Content-Type": draw.choice(KINDS)} if draw.random() < 0.9 else {}
        if draw.random() < 0.05:
            headers["Idempotency-Key"] = draw.choice(["k" * 5_000, "é", "key"])
        path = draw.choice(PATHS) + draw.choice(["", "", "", "?key=x", "?key=%00", "?" + "a" * 3_000])
        yield Hostile(path, body, headers)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


def _cut(draw: random.Random) -> bytes:
    whole = _json(WHOLE)
    return whole[: draw.randrange(len(whole))]


def _flipped(draw: random.Random) -> bytes:
    whole = bytearray(_json({"rows": [WHOLE["row"]] * 3, "labels": ["yes", "no", "yes"]}))
    for _ in range(draw.randint(1, 5)):
        whole[draw.randrange(len(whole))] = draw.randrange(256)
    return bytes(whole)


def _odd_value(draw: random.Random) -> bytes:
    content = json.loads(json.dumps(WHOLE))
    if draw.random() < 0.5:
        content["row"][draw.choice(["size", "colour", "new", "day", "x" * 500])] = draw.choice(ODD_VALUES)
    else:
        content[draw.choice(["row", "label", "id", "rows", "labels", "version", "dataframe_split", "inputs"])] = (
            draw.choice(ODD_VALUES)
        )
    return _json(content)


def _odd_whole(draw: random.Random) -> bytes:
    return _json(draw.choice(ODD_VALUES))


def _deep(draw: random.Random) -> bytes:
    opening = draw.choice([b"[", b'{"row":', b'{"a":'])
    return opening * draw.choice([50, 5_000, DEEP])


def _wide(draw: random.Random) -> bytes:
    return _json({"row": {f"column {place}": place for place in range(draw.choice([1_000, 70_000]))}, "label": "yes"})


def _noise(draw: random.Random) -> bytes:
    return draw.randbytes(draw.choice([0, 1, 100, 10_000]))


def _twice(draw: random.Random) -> bytes:
    return b'{"row": {"size": 1}, "row": {"size": 2}, "label": "yes", "row": {"a.b": 1, "a": {"b": 2}}}'


def _lines(draw: random.Random) -> bytes:
    lines = [_json(WHOLE), b"", b"\r", _cut(draw), _odd_whole(draw), b"null"]
    return b"\n".join(draw.choice(lines) for _ in range(draw.randint(1, 30)))


WAYS: list[Callable[[random.Random], bytes]] = [
    *(_cut, _flipped, _flipped, _odd_value, _odd_value, _odd_value, _odd_whole, _deep, _wide, _noise, _twice, _lines),
]


def send(port: int, request: Hostile, timeout: float = 30.0) -> int:
    """The status of the answer; an answer that is no JSON with a reason counts as 599."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("POST", request.path, request.body, request.headers)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status >= 400 and b"error" not in body and answer.getheader("content-type") == "application/json":
            return 599
        return answer.status
    finally:
        connection.close()


def described(url: str, examples: int, seed: int = 0) -> tuple[int, list[str]]:
    """What schemathesis sends to all operations: how many requests, and where an answer was not as described."""
    import hypothesis
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_headers_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [
        *(not_a_server_error, status_code_conformance, content_type_conformance),
        *(response_headers_conformance, response_schema_conformance),
    ]
    schema = schemathesis.openapi.from_url(f"{url}openapi.json")
    sent, failures = 0, list[str]()
    for result in schema.get_all_operations():
        operation = result.ok()
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):

            @hypothesis.seed(seed)
            @hypothesis.settings(
                max_examples=examples, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck)
            )
            @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: Any) -> None:
                nonlocal sent
                sent += 1
                case.call_and_validate(base_url=url, checks=checks)

            try:
                ask()
            except hypothesis.errors.Unsatisfiable:
                pass  # nothing of this operation can be wrong
            except BaseException as error:
                failures.append(f"{operation.label}: {str(error)[:2000]}")
    return sent, failures
