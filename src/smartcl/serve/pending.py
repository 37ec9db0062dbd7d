"""Predicted rows that wait for their labels, in a budget of bytes of their own; what expired is counted."""

from __future__ import annotations

import json
from array import array
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.learners.ids import id_of
from smartcl.saving.saved import Saved

#: Bytes that an entry takes beside its text and its id: the heads of four objects and its place in the table
#: (tests/serve/test_pending.py measures them).
ENTRY_BYTES = 300
#: Bytes by which an id is known again: two of 100,000 are the same with a chance of 1e-29.
DIGEST_BYTES = 16
#: Ids for which there is room at first; then twice as many, and so on.
FIRST_IDS = 64


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
    #: By id the time and the text; a plain dict would search for its oldest entry behind all that have left.
    _rows: OrderedDict[str, tuple[float, bytes]] = field(default_factory=OrderedDict)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, known: str) -> bool:
        return known in self._rows

    def add(self, known: str, predicted: Predicted) -> None:
        """Let a row wait; one with this id that waits already is replaced."""
        self.add_text(known, predicted.time, predicted.as_text())

    def add_text(self, known: str, at: float, text: bytes) -> None:
        """The same of a row that was predicted at this time, as ``Predicted.as_text`` wrote it."""
        if known in self._rows:
            self._drop(known)
        needed = _cost(known, text)
        if needed > self.budget:
            self.crowded_out += 1
            return
        while self.nbytes + needed > self.budget:
            self._drop(next(iter(self._rows)))
            self.crowded_out += 1
        self._rows[known] = at, text
        self.nbytes += needed

    def get(self, known: str) -> Predicted | None:
        """The row of an id, if it waits."""
        found = self._rows.get(known)
        return None if found is None else Predicted.from_text(found[1])

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

    def answer_only(self, classes: Collection[str]) -> None:
        """Leave out of what was answered to waiting rows all classes but these."""
        for known in list(self._rows):
            predicted = self.get(known)
            assert predicted is not None
            left = {name: share for name, share in predicted.probabilities.items() if name in classes}
            if len(left) == len(predicted.probabilities):
                continue
            total = sum(left.values())
            if not total:
                self._drop(known)
                continue
            shares = {name: share / total for name, share in left.items()}
            text = replace(predicted, label=max(shares, key=shares.__getitem__), probabilities=shares).as_text()
            self.nbytes += len(text) - len(self._rows[known][1])
            self._rows[known] = predicted.time, text

    def expire(self, now: float) -> None:
        """Drop the rows whose time is over."""
        while self._rows and next(iter(self._rows.values()))[0] + self.seconds < now:
            self._drop(next(iter(self._rows)))
            self.expired += 1

    def _drop(self, known: str) -> None:
        self.nbytes -= _cost(known, self._rows.pop(known)[1])

    def state_dict(self) -> dict[str, Any]:
        """Plain values; the rows as one array of bytes."""
        lines = b"".join(json.dumps(known).encode() + b"\t" + text + b"\n" for known, (_, text) in self._rows.items())
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


class KnownIds:
    """The newest ids of learned rows, at most ``most``: a row that comes again with one of them is not learned again.

    Digests stand in a ring, oldest first, and their places in a hash table with open addressing: 24 to 48 bytes an id.
    A dict takes 130.

    >>> ids = KnownIds(2)
    >>> ids.add(["a", "b", "c"])
    >>> "a" in ids, "c" in ids
    (False, True)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._start(FIRST_IDS)

    def __contains__(self, known: str) -> bool:
        return bool(self._slots[self._slot(_digest(known))])

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        return len(self._digests) + self._slots.itemsize * len(self._slots)

    def add(self, ids: Iterable[str]) -> None:
        """Know these too; beyond ``most`` the oldest are known no longer."""
        for known in ids:
            self._add(_digest(known))

    def state_dict(self) -> dict[str, Any]:
        return {"digests": np.frombuffer(b"".join(self._in_order()), dtype=np.uint8).reshape(-1, DIGEST_BYTES)}

    def load_state_dict(self, saved: Saved) -> None:
        digests: NDArray[np.uint8] = saved.array("digests", (None, DIGEST_BYTES), "uint8")
        self._start(FIRST_IDS)
        for row in digests[-self.most :]:
            self._add(row.tobytes())

    def _start(self, room: int) -> None:
        """Start empty, with ``room`` slots, a power of two; a slot holds a place in the ring plus one."""
        self._room, self._first, self._count = room, 0, 0
        self._digests, self._slots = bytearray(DIGEST_BYTES * room), array("i", bytes(8 * room))

    def _in_order(self) -> list[bytes]:
        return [self._at((self._first + each) % self._room) for each in range(self._count)]

    def _at(self, place: int) -> bytes:
        return bytes(self._digests[DIGEST_BYTES * place : DIGEST_BYTES * (place + 1)])

    def _slot(self, digest: bytes) -> int:
        """The slot of a digest, or the free one where it would stand."""
        mask = len(self._slots) - 1
        slot = _home(digest) & mask
        while (place := self._slots[slot]) and self._at(place - 1) != digest:
            slot = slot + 1 & mask
        return slot

    def _add(self, digest: bytes) -> None:
        slot = self._slot(digest)
        if self._slots[slot]:
            return
        if self._count == self.most:
            self._drop_oldest()
        elif self._count == self._room:
            kept = self._in_order()
            self._start(2 * self._room)
            for each in kept:
                self._add(each)
        place = (self._first + self._count) % self._room
        self._digests[DIGEST_BYTES * place : DIGEST_BYTES * (place + 1)] = digest
        self._slots[self._slot(digest)] = place + 1
        self._count += 1

    def _drop_oldest(self) -> None:
        """Free the slot of the oldest, and move those up that stand behind it for want of room."""
        mask, slots = len(self._slots) - 1, self._slots
        free = self._slot(self._at(self._first))
        self._first, self._count = (self._first + 1) % self._room, self._count - 1
        slots[free] = 0
        slot = free + 1 & mask
        while place := slots[slot]:
            home = _home(self._at(place - 1)) & mask
            if (slot - home & mask) >= (slot - free & mask):
                slots[free], slots[slot], free = place, 0, slot
            slot = slot + 1 & mask


def _home(digest: bytes) -> int:
    """Where the search for a digest begins."""
    return int.from_bytes(digest[:8], "little")


def _digest(known: str) -> bytes:
    return blake2b(known.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
