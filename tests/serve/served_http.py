"""A service that listens, in this process, for tests that ask it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from served_rows import AT_ONCE, QUICK

from smartcl.serve.access import AccessGuard
from smartcl.serve.http_api import service_app
from smartcl.serve.limits import Keeping, Limits
from smartcl.serve.model_plan import ModelPlan
from smartcl.serve.running import configured
from smartcl.serve.served_models import Models


@dataclass
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Running:
    """A service, and how it is asked."""

    models: Models
    port: int
    token: str | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def ask(self, path: str, body: Any = None, method: str | None = None, **headers: str) -> Answer:
        """Ask; a body that is not bytes is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            named = {"content-type": "application/json", **named}
        if self.token is not None:
            named = {"authorization": f"Bearer {self.token}", **named}
        try:
            connection.request(method or ("GET" if data is None else "POST"), path, data, named)
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()


@contextmanager
def running(
    folder: Path,
    limits: Limits | None = None,
    per: str | None = None,
    token: str | None = None,
    room: int = 10**9,
    **keeping: Any,
) -> Iterator[Running]:
    """A service on a port of its own, until the test is over."""
    folder.mkdir(exist_ok=True)
    plan = ModelPlan("label", "20kB", settings=QUICK, first_rows=20)
    models = Models(folder, plan, limits or Limits(), Keeping(**{**AT_ONCE, **keeping}), per, room)
    app = service_app(models)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    server = uvicorn.Server(configured(AccessGuard(app, token), "127.0.0.1", 0, "error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    found = Running(models, listening.getsockname()[1], token)
    end = time.monotonic() + 20
    while found.ask("/health/ready").status != 200:
        assert time.monotonic() < end, "the service did not begin in time"
        time.sleep(0.01)
    try:
        yield found
    finally:
        app.state.service.ending = True
        server.should_exit = True
        thread.join(20)
        listening.close()
