"""How far a training has come: what was read, and what was passed over and why."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from smartcl.columns.row_encoder import Odd
from smartcl.files.blocks import Mark, Step
from smartcl.files.byte_streams import Beginning
from smartcl.saving.saved import Saved

#: The number of columns, not there in the beginning, that are remembered.
MOST_STRANGERS = 100
#: Of so many changes of the stream it is remembered what moved.
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
