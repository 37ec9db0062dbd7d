"""How far a training has come: what was read, what was passed over and why, and how good it was on the way."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from smartcl.columns.row_encoder import Odd
from smartcl.files.blocks import Mark
from smartcl.files.byte_streams import Beginning
from smartcl.files.steps import Step
from smartcl.saved import Saved

#: Accuracy over time is kept in at most this many spans of rows, each twice as long when there are too many.
MOST_SPANS = 128
#: Of columns that were not there in the beginning so many are remembered.
MOST_STRANGERS = 100


@dataclass
class Progress:
    """Counts since the first row. ``right`` are rows whose label was predicted before it was learned."""

    rows: int = 0
    tested: int = 0
    right: int = 0
    span: int = 1
    #: Of each span of rows, how many were tested and how many of them were right.
    spans: list[tuple[int, int]] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    odd: Odd = field(default_factory=Odd)
    #: Columns that came later, and the row before which they were first seen.
    strangers: dict[str, int] = field(default_factory=dict)
    #: Classes that came after the first batch, and the row before which they did.
    late_classes: dict[str, int] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)
    beginnings: dict[str, Beginning] = field(default_factory=dict)

    @property
    def accuracy(self) -> float | None:
        """The share of rows whose label was predicted before it was learned."""
        return self.right / self.tested if self.tested else None

    @property
    def recent(self) -> float | None:
        """The same over the last tenth of the rows."""
        last = self.spans[-max(1, len(self.spans) // 10) :]
        tested = sum(tested for tested, _ in last)
        return sum(right for _, right in last) / tested if tested else None

    def pass_over(self, step: Step) -> None:
        """Count what a step left out, and how far it takes."""
        for why, count in step.bad.items():
            self.skipped[why] = self.skipped.get(why, 0) + count
        for name in step.strangers:
            if len(self.strangers) < MOST_STRANGERS:
                self.strangers.setdefault(name, self.rows)
        self.marks.update(step.marks)
        self.beginnings.update(step.beginnings)

    def count(self, rows: int, tested: int, right: int) -> None:
        """Count rows that were learned, and those of them that were tested before."""
        self.rows += rows
        self.tested += tested
        self.right += right
        if not rows:
            return
        while (place := (self.rows - 1) // self.span) >= MOST_SPANS:
            self.span *= 2
            pairs = [self.spans[first : first + 2] for first in range(0, len(self.spans), 2)]
            self.spans = [(sum(t for t, _ in pair), sum(r for _, r in pair)) for pair in pairs]
        self.spans += [(0, 0)] * (place + 1 - len(self.spans))
        before = self.spans[place]
        self.spans[place] = (before[0] + tested, before[1] + right)

    def begun_anew(self, rows: int) -> Progress:
        """As if these rows were all that ever came: how far files were read stays, and the rows that were skipped.

        The beginnings of files go too: of a row in them they are a checksum.
        """
        anew = Progress(skipped=dict(self.skipped), marks=dict(self.marks))
        anew.count(rows, 0, 0)
        return anew

    def state_dict(self) -> dict[str, Any]:
        return {
            **{name: value for name, value in asdict(self).items() if name != "spans"},
            "spans": [list(span) for span in self.spans],
        }

    @classmethod
    def from_state(cls, saved: Saved) -> Progress:
        """The same again, or a ``StateError``."""
        rows = saved.whole("rows", 0)
        odd = saved.part("odd")
        spans = saved.items("spans")
        pairs = all(
            isinstance(span, list) and len(span) == 2 and all(type(n) is int and n >= 0 for n in span) for span in spans
        )
        if len(spans) > MOST_SPANS or not pairs:
            saved.refuse("spans", f"must be up to {MOST_SPANS} pairs of counts")
        beginnings = saved.part("beginnings")
        return cls(
            rows,
            saved.whole("tested", 0, rows),
            saved.whole("right", 0, rows),
            saved.whole("span", 1, 2**62),
            [(span[0], span[1]) for span in spans],
            _counts(saved, "skipped"),
            Odd(**{name: _counts(odd, name) for name in asdict(Odd())}),
            _counts(saved, "strangers"),
            _counts(saved, "late_classes"),
            {name: Mark.from_state(saved.part("marks").part(name)) for name in saved.part("marks")},
            {name: _beginning(beginnings.part(name)) for name in beginnings},
        )


def _counts(saved: Saved, name: str) -> dict[str, int]:
    part = saved.part(name)
    return {key: part.whole(key, 0) for key in part}


def _beginning(saved: Saved) -> Beginning:
    return Beginning(saved.whole("nbytes", 0, 1 << 20), saved.text("sha256"))
