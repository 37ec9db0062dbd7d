"""Predicted rows that wait for their labels, in a budget of bytes of their own; what expired is counted."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.learners.ids import id_of
from smartcl.saving.saved import Saved

#: Bytes that an entry takes beside its text and its id: the heads of three objects and its place in the table
#: (tests/serve/test_pending.py measures them).
ENTRY_BYTES = 300
#: Bytes by which an id is known again: two of 100,000 are the same with a chance of 1e-29.
DIGEST_BYTES = 16


@dataclass(frozen=True)
class Predicted:
    """A row as it was predicted: by the model of ``version`` rows, at a time in seconds since 1970."""

    row: Mapping[str, Any]
    label: str
    probabilities: Mapping[str, float]
    version: int
    time: float

    def as_text(self) -> bytes:
        return json.dumps([self.row, self.label, self.probabilities, self.version, self.time]).encode()

    @classmethod
    def from_text(cls, text: bytes) -> Predicted:
        return cls(*json.loads(text))


@dataclass
class PendingLabels:
    """Predicted rows by id, the oldest first. ``nbytes`` never exceeds ``budget``: the oldest leave first.

    >>> pending = PendingLabels(budget=10_000, seconds=60)
    >>> pending.add("a", Predicted({"wind": 3}, "calm", {"calm": 1.0}, 100, time=0.0))
    >>> pending.take("a").version, pending.take("a")
    (100, None)
    """

    budget: int
    seconds: float
    nbytes: int = 0
    #: Rows whose time was over before their label came, and rows that had to leave for newer ones.
    expired: int = 0
    crowded_out: int = 0
    _rows: dict[str, bytes] = field(default_factory=dict)
    _times: dict[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, known: str) -> bool:
        return known in self._rows

    def add(self, known: str, predicted: Predicted) -> None:
        """Let a row wait; one with this id that waits already is replaced."""
        self.take(known)
        text = predicted.as_text()
        needed = _cost(known, text)
        if needed > self.budget:
            self.crowded_out += 1
            return
        while self.nbytes + needed > self.budget:
            self._drop(next(iter(self._rows)))
            self.crowded_out += 1
        self._rows[known], self._times[known] = text, predicted.time
        self.nbytes += needed

    def get(self, known: str) -> Predicted | None:
        """The row of an id, if it waits."""
        text = self._rows.get(known)
        return None if text is None else Predicted.from_text(text)

    def take(self, known: str) -> Predicted | None:
        """The row of an id, which waits no longer; None if it is not there, or not any more."""
        found = self.get(known)
        if found is not None:
            self._drop(known)
        return found

    def forget(self, ids: Collection[int], column: str | None) -> int:
        """Drop rows by their ids, as ``ids_of`` gives them: their own, or that in a column; how many there were."""
        gone = []
        for known in self._rows:
            predicted = self.get(known)
            assert predicted is not None
            own = predicted.row.get(column) if column is not None else None
            if id_of(known) in ids or (isinstance(own, str | int | float) and id_of(own) in ids):
                gone.append(known)
        for known in gone:
            self._drop(known)
        return len(gone)

    def expire(self, now: float) -> None:
        """Drop the rows whose time is over."""
        while self._times and next(iter(self._times.values())) + self.seconds < now:
            self._drop(next(iter(self._rows)))
            self.expired += 1

    def _drop(self, known: str) -> None:
        self.nbytes -= _cost(known, self._rows.pop(known))
        del self._times[known]

    def state_dict(self) -> dict[str, Any]:
        """Plain values; the rows as one array of bytes."""
        lines = b"".join(json.dumps(known).encode() + b"\t" + text + b"\n" for known, text in self._rows.items())
        return {
            "rows": np.frombuffer(lines, dtype=np.uint8),
            "expired": self.expired,
            "crowded_out": self.crowded_out,
        }

    def load_state_dict(self, saved: Saved) -> None:
        """Go on as the table that gave this state, as far as the budget goes."""
        text = saved.array("rows", (None,), "uint8").tobytes()
        try:
            for line in text.splitlines():
                known, _, entry = line.partition(b"\t")
                self.add(str(json.loads(known)), Predicted.from_text(entry))
        except (ValueError, TypeError, RecursionError):
            saved.refuse("rows", "must be lines of an id and a predicted row")
        self.expired = saved.whole("expired", 0)
        self.crowded_out = saved.whole("crowded_out", 0)


def _cost(known: str, text: bytes) -> int:
    return ENTRY_BYTES + 4 * len(known) + len(text)


@dataclass
class KnownIds:
    """The newest ids of learned rows, at most ``most``: a row that comes again with one of them is not learned again.

    >>> ids = KnownIds(2)
    >>> ids.add(["a", "b", "c"])
    >>> "a" in ids, "c" in ids
    (False, True)
    """

    most: int
    _digests: dict[bytes, None] = field(default_factory=dict)

    def __contains__(self, known: str) -> bool:
        return _digest(known) in self._digests

    def __len__(self) -> int:
        return len(self._digests)

    def add(self, ids: Iterable[str]) -> None:
        for known in ids:
            self._digests[_digest(known)] = None
        for oldest in list(islice(self._digests, max(0, len(self._digests) - self.most))):
            del self._digests[oldest]

    def state_dict(self) -> dict[str, Any]:
        return {"digests": np.frombuffer(b"".join(self._digests), dtype=np.uint8).reshape(-1, DIGEST_BYTES)}

    def load_state_dict(self, saved: Saved) -> None:
        digests: NDArray[np.uint8] = saved.array("digests", (None, DIGEST_BYTES), "uint8")
        self._digests = {row.tobytes(): None for row in digests[-self.most :]}


def _digest(known: str) -> bytes:
    return blake2b(known.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
