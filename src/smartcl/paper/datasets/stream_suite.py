"""The suite of streams: what there is of it, and the files it is read from, which ``make peers`` writes."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartcl.errors import UnavailableError
from smartcl.paper.datasets.downloads import cache_folder
from smartcl.saving.atomic import write_file

#: The table's, from 0 on.
SEEDS = 5

RIVER = "River 0.26.1"
OWN = "smartcl"


@dataclass(frozen=True)
class SuiteStream:
    """``maker`` and ``digest`` name the rows exactly; ``ranked_by`` is the score that says who is good at it."""

    title: str
    maker: str
    digest: str
    ranked_by: str = "accuracy"

    @property
    def source(self) -> str:
        return f"{self.maker}, {self.digest}"


SUITE: dict[str, SuiteStream] = {
    "phishing": SuiteStream("Phishing", RIVER, "f0616dcdab66"),
    "bananas": SuiteStream("Bananas", RIVER, "41d71859a180"),
    "image-segments": SuiteStream("ImageSegments", RIVER, "ea0cea886a96"),
    "sea-abrupt": SuiteStream("SEA, abrupt", RIVER, "c45075fe90d4"),
    "rbf-drift": SuiteStream("RandomRBFDrift", RIVER, "613e85e8c799"),
    "hyperplane": SuiteStream("Hyperplane, gradual", RIVER, "e878655cafe9"),
    "sine-return": SuiteStream("Sine, reversed and back", RIVER, "a781a9685399"),
    "led": SuiteStream("LED, irrelevant lights", RIVER, "06296b64c0da"),
    "mixed-scale": SuiteStream("mixed scales", OWN, "38c386f92d20"),
    "rare": SuiteStream("one in 1,000", OWN, "f814a9aedac0", ranked_by="auc"),
}


@dataclass(frozen=True)
class SuiteFile:
    """A stream as it lies in its file: rows and labels by seed, or the same for all, and where the concept changes.

    A stream that changes all along is ``gradual`` and names no rows.
    """

    X: NDArray[np.float32]
    y: NDArray[np.int64]
    drifts: tuple[int, ...]
    gradual: bool

    @classmethod
    def of(
        cls, parts: Sequence[tuple[NDArray[np.float32], NDArray[np.int64]]], drifts: tuple[int, ...], gradual: bool
    ) -> SuiteFile:
        """From the rows and labels of each seed."""
        return cls(np.stack([X for X, _ in parts]), np.stack([y for _, y in parts]), drifts, gradual)

    @property
    def digest(self) -> str:
        """Twelve digits that change with any value."""
        parts = (self.X.astype("<f4"), self.y.astype("<i8"), np.array([self.gradual, *self.drifts], dtype="<i8"))
        found = hashlib.sha256(str(self.X.shape).encode())
        for part in parts:
            found.update(part.tobytes())
        return found.hexdigest()[:12]

    @property
    def classes(self) -> int:
        return int(self.y.max()) + 1

    def with_seed(self, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The rows and labels that a run with this seed learns."""
        if not 0 <= seed < SEEDS:
            raise ValueError(f"seed must be 0 to {SEEDS - 1} on a stream of the suite, got {seed}")
        part = seed if len(self.y) > 1 else 0
        return self.X[part], self.y[part]


def stream_path(name: str, data_dir: Path | str | None = None) -> Path:
    """Where a stream of the suite lies.

    >>> stream_path("led", "data").as_posix()
    'data/streams/led.npz'
    """
    return cache_folder(data_dir) / "streams" / f"{name}.npz"


def write_suite_file(path: Path, stream: SuiteFile) -> None:
    """Whole or not there."""
    packed = io.BytesIO()
    drifts = np.array(stream.drifts, dtype=np.int64)
    np.savez_compressed(packed, X=stream.X, y=stream.y, drifts=drifts, gradual=np.array(stream.gradual))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, packed.getvalue())


def read_suite_file(path: Path) -> SuiteFile:
    """The stream in this file; one line that says what to do if there is none, or it is damaged."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as found:
            X, y, drifts, gradual = (found[name] for name in ("X", "y", "drifts", "gradual"))
    except FileNotFoundError:
        raise UnavailableError(f"{path} is not there: 'make peers' writes the streams of the suite") from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise _damaged(path, str(error)) from None
    if X.ndim != 3 or X.shape[:2] != y.shape or X.dtype != np.float32 or y.dtype != np.int64 or not y.size:
        raise _damaged(path, f"rows of shape {X.shape} ({X.dtype}), labels of shape {y.shape} ({y.dtype})")
    if not np.isfinite(X).all() or y.min() < 0:
        raise _damaged(path, "values that are not finite, or labels below zero")
    return SuiteFile(X, y, tuple(int(drift) for drift in drifts), bool(gradual))


def _damaged(path: Path, reason: str) -> UnavailableError:
    return UnavailableError(f"{path} is no stream of the suite ({reason}): 'make peers' writes it anew")
