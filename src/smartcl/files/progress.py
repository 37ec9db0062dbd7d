"""Progress of a training: what was read, what was passed over and why, and how old the stored samples are."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from smartcl.columns.row_encoder import Odd
from smartcl.files.blocks import Mark, Step
from smartcl.files.byte_streams import Beginning
from smartcl.memory.schematic_memory import Observation
from smartcl.saving.saved import Saved

#: The number of columns, not there in the beginning, that are remembered.
MOST_STRANGERS = 100
#: Changes of the stream of which it is remembered what moved.
MOST_CHANGES = 100


@dataclass
class Progress:
    """Counts since the first row; ``rows`` are those that were learned."""

    rows: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    odd: Odd = field(default_factory=Odd)
    #: Columns that came later, and the row before which they were first seen.
    strangers: dict[str, int] = field(default_factory=dict)
    #: Classes that came after the first batch, and the row before which they did.
    late_classes: dict[str, int] = field(default_factory=dict)
    #: By the row of a change of the stream, what moved; of the newest changes.
    moved: dict[str, list[str]] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)
    beginnings: dict[str, Beginning] = field(default_factory=dict)

    def pass_over(self, step: Step) -> None:
        """Count what a step left out, and how far it takes."""
        for why, count in step.bad.items():
            self.skipped[why] = self.skipped.get(why, 0) + count
        for name in step.strangers:
            if len(self.strangers) < MOST_STRANGERS:
                self.strangers.setdefault(name, self.rows)
        self.marks.update(step.marks)
        self.beginnings.update(step.beginnings)

    def note_change(self, row: int, moved: list[str]) -> None:
        """Remember what moved at a change after this row."""
        self.moved[str(row)] = moved
        while len(self.moved) > MOST_CHANGES:
            del self.moved[next(iter(self.moved))]

    def begun_anew(self, rows: int) -> Progress:
        """As if these rows were all that ever came: how far files were read stays, and the rows that were skipped.

        The beginnings of files go too: of a row in them they are a checksum.
        """
        return Progress(rows, skipped=dict(self.skipped), marks=dict(self.marks))

    def state_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_state(cls, saved: Saved) -> Progress:
        """The same again, or a ``StateError``."""
        odd = saved.part("odd")
        beginnings = saved.part("beginnings")
        return cls(
            saved.whole("rows", 0),
            _counts(saved, "skipped"),
            Odd(**{name: _counts(odd, name) for name in asdict(Odd())}),
            _counts(saved, "strangers"),
            _counts(saved, "late_classes"),
            {row: _texts(saved.part("moved"), row) for row in saved.part("moved")},
            {name: Mark.from_state(saved.part("marks").part(name)) for name in saved.part("marks")},
            {name: _beginning(beginnings.part(name)) for name in beginnings},
        )


def _counts(saved: Saved, name: str) -> dict[str, int]:
    part = saved.part(name)
    return {key: part.whole(key, 0) for key in part}


def _texts(saved: Saved, name: str) -> list[str]:
    found = saved.items(name)
    if not all(isinstance(text, str) for text in found):
        saved.refuse(name, "must be texts")
    return found


def _beginning(saved: Saved) -> Beginning:
    return Beginning(saved.whole("nbytes", 0, 1 << 20), saved.text("sha256"))


MOST_BANDS = 16


@dataclass(frozen=True)
class Ages:
    """``held[i]`` samples are left of the rows from ``i * band`` on, up to the next band. None: not known any more.

    >>> ages = Ages().after(Observation(np.array([], dtype=int), np.array([0, 1])), before=0)
    >>> ages.after(Observation(np.array([1]), np.array([0])), before=2).held
    (0, 1, 1)
    """

    band: int = 1
    held: tuple[int, ...] | None = ()

    def after(self, seen: Observation, before: int) -> Ages:
        """With a batch that came after ``before`` rows: which samples stayed, and which of its own were stored."""
        if self.held is None or (np.diff(seen.kept) <= 0).any():
            return Ages(self.band, None)
        ends = np.cumsum(self.held)
        left = np.diff(np.searchsorted(seen.kept, ends), prepend=0) if len(ends) else np.zeros(0, dtype=np.int64)
        counts, band, rows = left.tolist(), self.band, before + seen.stored
        while len(rows) and int(rows.max()) // band >= MOST_BANDS:
            counts, band = [sum(counts[first : first + 2]) for first in range(0, len(counts), 2)], 2 * band
        new = np.bincount(rows // band, minlength=len(counts))
        new[: len(counts)] += np.array(counts, dtype=np.int64)
        return Ages(band, tuple(new.tolist()))

    def by_rows(self, rows: int) -> list[dict[str, int]] | None:
        """For people: from which row to which, how many samples."""
        if self.held is None:
            return None
        return [
            {"from": place * self.band + 1, "to": min((place + 1) * self.band, rows), "samples": count}
            for place, count in enumerate(self.held)
        ]

    def state_dict(self) -> dict[str, Any]:
        return {"band": self.band, "held": None if self.held is None else list(self.held)}

    @classmethod
    def from_state(cls, saved: Saved, samples: int) -> Ages:
        """From a saved state, if its counts add up to this number of samples."""
        held = saved.optional_items("held")
        fine = held is None or (
            len(held) <= MOST_BANDS and all(type(n) is int and n >= 0 for n in held) and sum(held) == samples
        )
        if not fine:
            saved.refuse("held", f"must be up to {MOST_BANDS} counts of the {samples} samples in memory")
        return cls(saved.whole("band", 1, 2**62), None if held is None else tuple(held))
