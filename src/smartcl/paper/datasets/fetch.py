"""Files from elsewhere: whole and checksummed under their name in the cache, or not there at all."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from uuid import uuid4

from smartcl.paper.datasets.chunks import FetchError, download, gunzip
from smartcl.paper.datasets.progress import Progress, silent


class StorageError(OSError):
    """The file cannot be kept or read here, whatever the source."""


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


def fetch(url: str, target: Path, md5: str, *, timeout: float = 10.0, progress: Progress = silent) -> None:
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
            found = hashlib.file_digest(handle, new_md5).hexdigest()
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
    part = target.with_name(f"{target.name}.{uuid4().hex}.part")
    digest = new_md5()
    nbytes = 0
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with part.open("xb") as handle:
            for chunk in chunks:
                nbytes += handle.write(chunk)
                digest.update(chunk)
        if digest.hexdigest() != md5:
            raise FetchError(
                f"{target.name} from {source} is corrupt or truncated and was not kept: "
                f"expected MD5 {md5}, found {digest.hexdigest()} ({nbytes:,} bytes)"
            )
        part.replace(target)
    except OSError as error:
        raise StorageError(
            f"cannot write {target}: {error.strerror or error}; make room there or set SMARTCL_DATA to another folder"
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def new_md5() -> hashlib._Hash:
    return hashlib.md5(usedforsecurity=False)
