"""Limits of a service: sizes of requests, of queues and of what waits, each with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Limits:
    """Bounds of what one service accepts and holds; beyond them a request is refused, never half taken.

    >>> Limits(rows=0)
    Traceback (most recent call last):
    ValueError: rows must be at least 1, got 0
    """

    #: Bytes of a request's body: 10,000 rows of 800 bytes of JSON.
    body_bytes: int = 8 << 20
    #: Rows of a request: the learner's thread is busy with them for about 3 s (docs/howto/serve.md).
    rows: int = 10_000
    #: Values of a row, those inside objects counted: as many columns as a file may have.
    values: int = 1 << 16
    #: Characters of a value: a long text; of a column's name, an id, a label and a key: names are short.
    text: int = 20_000
    name: int = 200
    #: Classes of a model: labels come from outside, and each takes weights in every member.
    classes: int = 1_000
    #: Rows that wait for the learner; more are refused with 429: about 10 s of learning.
    queued_rows: int = 20_000
    #: Bytes of predicted rows that wait for their label, and how long they do: a day.
    pending_bytes: int = 10_000_000
    pending_seconds: float = 86_400.0
    #: Ids of learned rows that are known again: 16 bytes each in a saved model, 24 to 48 in memory.
    known_ids: int = 100_000
    #: Seconds in which a body must have come.
    body_seconds: float = 30.0
    #: Folders of models by key.
    keys: int = 100_000

    def __post_init__(self) -> None:
        for each in fields(self):
            if not getattr(self, each.name) >= 1:
                raise ValueError(f"{each.name} must be at least 1, got {getattr(self, each.name)}")


@dataclass(frozen=True)
class Keeping:
    """When a service writes what to the disk."""

    #: Seconds and rows after which the model is saved, at the latest.
    save_seconds: float = 60.0
    save_rows: int = 100_000
    #: Bytes that come to the journal before the model is saved, at the latest: predicted rows are in it too, and a
    #: service that is never told a label would fill the disk.
    journal_bytes: int = 100_000_000
    #: Seconds that a request waits so that others share its fsync: the delay that is added to an answer to ``/learn``.
    sync_seconds: float = 0.005
    #: Saved versions that can be gone back to.
    versions: int = 10
    #: Seconds that rows wait for others to be learned with, at most a batch; 0: none. Ten rows are learned in 4.6 ms
    #: together, and in 14 ms one by one (docs/howto/serve.md).
    gather_seconds: float = 0.02
    #: Rows by which a shadow copy is compared with the served one; None: there is none.
    shadow_rows: int | None = None

    def __post_init__(self) -> None:
        for name in ("save_seconds", "save_rows", "journal_bytes", "versions"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be more than 0, got {getattr(self, name)}")
        for name in ("sync_seconds", "gather_seconds"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")
        if self.shadow_rows is not None and self.shadow_rows < 1:
            raise ValueError(f"shadow_rows must be at least 1, got {self.shadow_rows}")
