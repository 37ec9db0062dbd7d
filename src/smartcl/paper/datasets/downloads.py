"""Downloads: a file is in the cache whole, with its checksum, or not at all.

Why not pooch (1.9): a name look-up that hangs outlasts its timeout (20 s where 2 s were asked), it knows one address a
file, and it can check a packed file but not what comes out of it, which is what MNIST's sources have in common.
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
import zlib
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from threading import Thread
from typing import Protocol
from urllib.error import URLError
from urllib.request import urlopen

from smartcl.errors import UnavailableError
from smartcl.saving.atomic import write_file

CHUNK_NBYTES = 1 << 16


class FetchError(UnavailableError):
    """A source did not give the file; another source may."""


class StorageError(OSError):
    """The file cannot be kept or read here, whatever the source."""


class DownloadProgress(Protocol):
    """Told after each chunk of ``name`` how many bytes are done, of how many if that is known."""

    def __call__(self, name: str, done: int, total: int | None) -> None: ...


def silent(name: str, done: int, total: int | None) -> None:
    """Say nothing."""


def cache_folder(chosen: Path | str | None = None) -> Path:
    """Where data files are kept: ``chosen``, else ``SMARTCL_DATA``, else the user's cache folder.

    >>> cache_folder("data").as_posix()
    'data'
    """
    chosen = chosen or os.environ.get("SMARTCL_DATA")
    if chosen:
        return Path(chosen).expanduser()
    user_cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (user_cache if user_cache.is_absolute() else Path.home() / ".cache") / "smartcl"


def fetch(url: str, target: Path, md5: str, *, timeout: float = 10.0, progress: DownloadProgress = silent) -> None:
    """Have ``target`` with this MD5, from the cache or else from ``url`` (unpacked if that ends in ``.gz``).

    A cached file with another MD5 is removed and fetched again. ``timeout`` limits the wait for the first
    answer as a whole, and for each later read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = Path(folder, "there"), Path(folder, "here")
    ...     _ = source.write_bytes(b"abc")
    ...     fetch(source.as_uri(), target, "900150983cd24fb0d6963f7d28e17f72")
    ...     target.read_bytes()
    b'abc'
    """
    if is_intact(target, md5):
        return
    with closing(download(url, timeout, progress)) as chunks:
        store(gunzip(chunks, url) if url.endswith(".gz") else chunks, target, md5, url)


def is_intact(path: Path, md5: str) -> bool:
    """Whether the file is there with this MD5; one with another MD5 is removed, with a warning."""
    try:
        with path.open("rb") as handle:
            found = hashlib.file_digest(handle, _new_md5).hexdigest()
        if found != md5:
            path.unlink(missing_ok=True)
            warnings.warn(f"{path} was corrupt and is removed: expected MD5 {md5}, found {found}", stacklevel=2)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StorageError(f"cannot use {path}: {error.strerror or error}") from error
    return found == md5


def store(chunks: Iterable[bytes], target: Path, md5: str, source: str) -> None:
    """Write the chunks under the name ``target`` if they have this MD5; otherwise leave nothing behind."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        data = b"".join(chunks)
        found = md5_of(data)
        if found != md5:
            raise FetchError(
                f"{target.name} from {source} is corrupt or truncated and was not kept: "
                f"expected MD5 {md5}, found {found} ({len(data):,} bytes)"
            )
        write_file(target, data)
    except OSError as error:
        raise StorageError(
            f"cannot write {target}: {error.strerror or error}; make room there or set SMARTCL_DATA to another folder"
        ) from error


def md5_of(data: bytes) -> str:
    """The checksum of these bytes; it tells damage, not malice."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _new_md5() -> hashlib._Hash:
    return hashlib.md5(usedforsecurity=False)


def file_chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a local file."""
    try:
        with path.open("rb") as handle:
            while chunk := handle.read(CHUNK_NBYTES):
                yield chunk
    except OSError as error:
        raise FetchError(f"{path}: {error.strerror or error}") from error


def download(url: str, timeout: float, progress: DownloadProgress) -> Generator[bytes, None, None]:
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
        answer.add_done_callback(_discard)
        raise


def _discard(answer: Future[HTTPResponse]) -> None:
    """Close an answer that comes too late; an HTTP error holds a connection too."""
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


@contextmanager
def terminal_bar() -> Iterator[DownloadProgress]:
    """A bar that goes away when it is done if stderr is a terminal, and silence otherwise.

    >>> with terminal_bar() as progress:
    ...     progress("train-images", 512, 1024)
    """
    if not sys.stderr.isatty():
        yield silent
        return

    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

    rows: dict[str, TaskID] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def show(name: str, done: int, total: int | None) -> None:
            if name not in rows:
                rows[name] = bar.add_task(name, total=total)
            bar.update(rows[name], completed=done)

        yield show
