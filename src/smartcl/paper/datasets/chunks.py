"""The bytes of a file, local or remote, packed or not, as they are read."""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from threading import Thread
from urllib.error import URLError
from urllib.request import urlopen

from smartcl.errors import UnavailableError
from smartcl.paper.datasets.progress import Progress

CHUNK_NBYTES = 1 << 16


class FetchError(UnavailableError):
    """A source did not give the file; another source may."""


def file_chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a local file."""
    try:
        with path.open("rb") as handle:
            while chunk := handle.read(CHUNK_NBYTES):
                yield chunk
    except OSError as error:
        raise FetchError(f"{path}: {error.strerror or error}") from error


def download(url: str, timeout: float, progress: Progress) -> Generator[bytes, None, None]:
    """The bytes behind a URL, as they arrive."""
    name, done = url.rsplit("/", 1)[-1], 0
    try:
        with closing(open_url(url, timeout)) as response:
            length = response.headers.get("Content-Length")
            total = int(length) if length and length.isdigit() else None
            while chunk := response.read(CHUNK_NBYTES):
                done += len(chunk)
                progress(name, done, total)
                yield chunk
    except TimeoutError as error:
        raise FetchError(f"{url}: no answer within {timeout:g} s") from error
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise FetchError(f"{url}: {reason}") from error


def open_url(url: str, timeout: float) -> HTTPResponse:
    """The opened URL within ``timeout`` seconds in all.

    A socket's own timeout holds per address tried and leaves out the name look-up, which alone can hang for
    minutes behind a firewall; so the waiting is done from outside.
    """
    answer: Future[HTTPResponse] = Future()

    def ask() -> None:
        try:
            answer.set_result(urlopen(url, timeout=timeout))
        except Exception as error:
            answer.set_exception(error)

    Thread(target=ask, daemon=True).start()
    try:
        return answer.result(timeout)
    except BaseException:
        answer.add_done_callback(discard)
        raise


def discard(answer: Future[HTTPResponse]) -> None:
    """Close an answer nobody waits for any more; an HTTP error holds a connection too."""
    outcome = answer.exception() or answer.result()
    if hasattr(outcome, "close"):
        outcome.close()


def gunzip(chunks: Iterable[bytes], source: str) -> Iterator[bytes]:
    """Unpack gzip chunks. A stream that ends early is passed on as it is: its checksum will not match."""
    inflate = zlib.decompressobj(wbits=31)
    try:
        for chunk in chunks:
            yield inflate.decompress(chunk)
        yield inflate.flush()
    except zlib.error as error:
        raise FetchError(f"{source} is not a valid gzip file: {error}") from error
