"""The bytes of a file or of stdin, plain, gzip or zstd, from any offset, also of a file that still grows."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from smartcl.errors import extra
from smartcl.saving.persistence import path_of

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
STDIN = "-"
READ_NBYTES = 1 << 20
#: How long to wait before looking again whether a file has grown.
PAUSE_SECONDS = 0.2
#: Bytes at its beginning that tell a file from another one of its name.
BEGINNING_NBYTES = 4096


def is_pipe(name: str) -> bool:
    """Whether this can be read only once, from the front: stdin, a named pipe, a shell's ``<(command)``."""
    return name == STDIN or (Path(name).exists() and not Path(name).is_file())


@dataclass(frozen=True)
class Beginning:
    """The first bytes of a file, to know it by."""

    nbytes: int
    sha256: str

    @classmethod
    def of(cls, name: str, nbytes: int = BEGINNING_NBYTES) -> Beginning:
        """Of a file; a pipe would lose its first bytes by that."""
        with Path(name).open("rb") as file:
            first = file.read(nbytes)
        return cls(len(first), hashlib.sha256(first).hexdigest())

    def check(self, name: str) -> None:
        """Refuse a file that does not begin as it did."""
        if Beginning.of(name, self.nbytes) != self:
            raise ValueError(f"{name} is not the file that was read before: it begins otherwise; rename it to read it")


def check_input(name: str) -> None:
    """Refuse what is no file to read."""
    path = path_of(name, "an input")
    if name != STDIN and not path.exists():
        raise ValueError(f"there is no file {name}")
    if name != STDIN and path.is_dir():
        raise ValueError(f"{name} is a folder, not a file")


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """The bytes as they are once unpacked; what is damaged says so as a ``ValueError``."""
    if name == STDIN:
        yield unpacked(sys.stdin.buffer)
        return
    check_input(name)
    with Path(name).open("rb") as file:
        yield unpacked(file)


def unpacked(file: Any) -> BinaryIO:
    """The same bytes, unpacked if their beginning says that they are packed."""
    if not hasattr(file, "peek"):
        file = io.BufferedReader(file)
    magic = file.peek(4)[:4]
    if magic.startswith(GZIP):
        return gzip.GzipFile(fileobj=file, mode="rb")  # type: ignore[return-value]
    if magic == ZSTD:
        zstandard = extra("zstandard", "zstd")
        return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True))
    plain: BinaryIO = file
    return plain


class ByteStream:
    """Bytes in the order they come. ``follow`` waits for more at the end of a file that may still grow.

    It ends when another file has come under the name: then ``replaced`` is true.
    """

    replaced = False

    def __init__(self, name: str, file: BinaryIO, follow: bool = False) -> None:
        self._name, self._file = name, file
        self._follows = follow and not is_pipe(name) and isinstance(file, io.BufferedReader)

    def skip(self, offset: int, read: int) -> None:
        """Go to an offset; ``read`` of its bytes were read already."""
        if self._file.seekable():
            with damage(self._name):
                self._file.seek(offset)
            return
        while read < offset and (data := self.read(min(offset - read, READ_NBYTES))):
            read += len(data)

    def read(self, nbytes: int = READ_NBYTES) -> bytes:
        """The next bytes, as soon as there are any; none at the end."""
        while True:
            with damage(self._name):
                data = self._read_once(nbytes)
            if data or not self._follows or self.replaced:
                return data
            if os.fstat(self._file.fileno()).st_size < self._file.tell():
                raise ValueError(f"{self._name} has become shorter while it was read")
            if self._is_replaced():
                self.replaced = True  # read once more: the old file may have grown before the new one came
            else:
                time.sleep(PAUSE_SECONDS)

    def _is_replaced(self) -> bool:
        """Whether another file has come under the name; while it is empty, the old one may still be written."""
        try:
            there = Path(self._name).stat()
        except FileNotFoundError:
            return False
        return there.st_size > 0 and not os.path.samestat(there, os.fstat(self._file.fileno()))

    def _read_once(self, nbytes: int) -> bytes:
        read: Callable[[int], bytes] = getattr(self._file, "read1", self._file.read)
        return read(nbytes)


@contextmanager
def damage(name: str) -> Iterator[None]:
    """Inside, packed bytes that cannot be unpacked are a ``ValueError``."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{name} is damaged, or was cut off: {error}") from None
    except OSError:
        raise
    except Exception as error:
        if type(error).__name__ == "ZstdError":
            raise ValueError(f"{name} is damaged, or was cut off: {error}") from None
        raise
