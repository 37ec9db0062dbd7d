"""``smartcl serve`` in a process that can be killed at any moment and begun again without loading torch again.

``python -m benchmarks.forked_service`` loads everything once, and forks a process for each line of its input: a JSON
list of the command's arguments. It answers with the number of the process.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

#: A connection that was not used for longer may have been closed by the service.
IDLE_SECONDS = 30.0


class ForkedService:
    """Begins services in a folder, asks them, and kills them."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder, self.arguments, self.port = folder, arguments, _free_port()
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.forked_service"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
        )
        self.pid = 0
        self._connection: http.client.HTTPConnection | None = None
        self._asked_at = 0.0

    def begin(self) -> None:
        """Begin a service, and wait until it is ready."""
        self.begin_again()
        end = time.monotonic() + 60
        while True:
            try:
                if self.ask("/health/ready")[0] == 200:
                    return
            except (OSError, http.client.HTTPException):
                pass
            if time.monotonic() > end:
                raise TimeoutError("the service did not begin")
            time.sleep(0.01)

    def begin_again(self) -> None:
        """Begin a service; it is asked by others as soon as it listens."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        words = ["serve", str(self.folder), "--port", str(self.port), *self.arguments]
        print(json.dumps(words), file=self._parent.stdin, flush=True)
        self.pid = int(self._parent.stdout.readline())

    def kill(self, how: signal.Signals = signal.SIGKILL) -> int:
        """End the service; its exit code, or minus the signal."""
        assert self._parent.stdout is not None
        os.kill(self.pid, how)
        return int(self._parent.stdout.readline())

    def ask(self, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the JSON of an answer, over one connection as long as it lasts."""
        if time.monotonic() - self._asked_at > IDLE_SECONDS:
            self.hang_up()
        self._asked_at = time.monotonic()
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = None if body is None else json.dumps(body).encode()
        headers = {} if data is None else {"Content-Type": "application/json"}
        try:
            self._connection.request("GET" if data is None else "POST", path, data, headers)
            answer = self._connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            self.hang_up()
            raise

    def figure(self, name: str) -> float:
        """A figure of ``/metrics``."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=60) as answer:
            found = re.search(rf"^{name} (\S+)$", answer.read().decode(), re.MULTILINE)
        if found is None:
            raise ValueError(f"/metrics tells no {name}")
        return float(found[1])

    def hang_up(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def end(self) -> None:
        """End the process that forks services."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self.hang_up()
        self._parent.stdin.close()
        self._parent.wait(300)
        self._parent.stdout.close()


@contextmanager
def forked(folder: Path, *arguments: str) -> Iterator[ForkedService]:
    """A service that has begun, ended with SIGTERM."""
    service = ForkedService(folder, *arguments)
    try:
        service.begin()
        yield service
    finally:
        with suppress(OSError):
            os.kill(service.pid, signal.SIGTERM)
        service.end()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def main() -> None:
    """Fork a service for each line, and tell how it ended."""
    import smartcl.serve.running  # noqa: F401
    from smartcl import train_stream
    from smartcl.cli.app import call

    train_stream([({"a": number % 7}, number % 2) for number in range(100)], memory="2kB")  # loads what learning needs
    for line in sys.stdin:
        child = os.fork()
        if not child:
            sys.stdin.close()
            os._exit(call(json.loads(line)))
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
