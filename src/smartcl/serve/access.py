"""Access control: a bearer token, compared in constant time, or only this machine, under its own names."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Open without a token: what says nothing of any row.
OPEN = frozenset(("/", "/service.css", "/service.js", "/health/live", "/health/ready", "/ping"))
#: What a page may load and do: nothing from elsewhere, and no other page may show it in a frame.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]


@dataclass(frozen=True)
class AccessGuard:
    """Lets requests through to ``app`` that bring the token; without one, those that name this machine as their host.

    The second keeps a page of the web, opened in a browser on this machine, from asking under a name of its own.
    """

    app: App
    token: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if self.token is None and not is_this_machine(headers.get(b"host", b"")):
            await _refuse(send, 400, "without a token, only requests to localhost are answered")
        elif (
            self.token is not None
            and scope["path"] not in OPEN
            and not self._brings(headers.get(b"authorization", b""))
        ):
            await _refuse(send, 401, "send the header 'Authorization: Bearer' with the service's token")
        else:
            await self.app(scope, receive, _with_headers(send))

    def _brings(self, authorization: bytes) -> bool:
        scheme, _, given = authorization.partition(b" ")
        assert self.token is not None
        return scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), self.token.encode())


def is_this_machine(host: bytes) -> bool:
    """Whether a host, perhaps with a port, is this machine's own.

    >>> [is_this_machine(host) for host in (b"localhost:8000", b"127.0.0.1", b"[::1]:80", b"example.org")]
    [True, True, True, False]
    """
    text = host.decode("latin-1").strip().lower()
    name = text[1:].partition("]")[0] if text.startswith("[") else text.partition(":")[0]
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _with_headers(send: Send) -> Send:
    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        await send(message)

    return sent


async def _refuse(send: Send, status: int, why: str) -> None:
    body = json.dumps({"error": why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *HEADERS]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
