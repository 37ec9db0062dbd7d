"""A real web server on the loopback interface, whose answers a test sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass
class Site:
    """Bodies by path; ``claimed`` overrides a body's Content-Length, ``hanging`` paths never answer."""

    url: str = ""
    bodies: dict[str, bytes] = field(default_factory=dict)
    claimed: dict[str, int] = field(default_factory=dict)
    hanging: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)


@contextmanager
def serve() -> Iterator[Site]:
    site, closing = Site(), Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            site.asked.append(name)
            if name in site.hanging:
                closing.wait(10)
                return
            if name not in site.bodies:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(site.claimed.get(name, len(site.bodies[name]))))
            self.end_headers()
            self.wfile.write(site.bodies[name])

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.url = f"http://127.0.0.1:{server.server_port}/"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield site
        closing.set()
        server.shutdown()
        thread.join()
