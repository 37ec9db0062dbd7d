"""Blocks of records that are read together, marks of how far an input was read, and batches cut from blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from smartcl.columns.records import Records, Wanted
from smartcl.columns.row_encoder import Parsed, RowEncoder
from smartcl.files.byte_streams import Beginning
from smartcl.saving.saved import Saved


@dataclass(frozen=True)
class Mark:
    """How far an input has been read: ``records`` of the block that begins at ``place``.

    A place is an offset in bytes, or a row of a Parquet file or a table in memory.
    """

    place: int = 0
    records: int = 0

    @classmethod
    def from_state(cls, saved: Saved) -> Mark:
        return cls(saved.whole("place", 0, 2**62), saved.whole("records", 0, 2**62))


@dataclass(frozen=True)
class Block:
    """Records that are read together. They are taken apart when asked for: once to find out what the columns are."""

    input: str
    place: int
    parse: Callable[[Wanted | None], Records]
    #: Number of its records that were learned before.
    known: int = 0
    #: The first bytes of the file that it is of, where that file has taken the place of another one.
    beginning: Beginning | None = None


NO_LABEL = "no label"
#: NumPy drops the character at the end of a text: two labels would become one.
ENDS_IN_NUL = "a label that ends in the character NUL"


@dataclass
class Step:
    """Rows to learn together: it ends where the marks say, and ``bad`` counts the records left out, by reason."""

    rows: Parsed
    marks: dict[str, Mark] = field(default_factory=dict)
    bad: dict[str, int] = field(default_factory=dict)
    strangers: dict[str, None] = field(default_factory=dict)
    #: Of inputs whose file has been replaced by another one, the first bytes of the new file.
    beginnings: dict[str, Beginning] = field(default_factory=dict)


def steps(blocks: Iterable[Block], encoder: RowEncoder, size: int) -> Iterator[Step]:
    """Batches of ``size`` rows with a label, whatever the blocks are; the last may be smaller, or empty."""
    cutter = _Cutter(encoder)
    carried: dict[str, int] = {}
    checked: set[str] = set()
    for block in blocks:
        records = block.parse(encoder.schema.wanted)
        if block.input not in checked:
            encoder.check_columns(block.input, records)
            checked.add(block.input)
        known = carried.pop(block.input, block.known)
        if known > records.count:
            carried[block.input] = known - records.count
        yield from cutter.cut(block, records, min(known, records.count), size)
    if cutter.marks:
        yield cutter.step()


class _Cutter:
    """Rows that wait for more, and what was met since the last batch."""

    def __init__(self, encoder: RowEncoder) -> None:
        self._encoder = encoder
        self._none = encoder.parse(Records.of({}))
        self._begin()

    def cut(self, block: Block, records: Records, passed: int, size: int) -> Iterator[Step]:
        rows = self._encoder.parse(records)
        bad = {
            **records.bad,
            **{int(records.at[row]): why for row, name in enumerate(rows.labels) if (why := _no_label(name))},
        }
        troubles = sorted(number for number in bad if number >= passed)
        usable = [row for row, name in enumerate(rows.labels) if not _no_label(name) and records.at[row] >= passed]
        strange = sorted(records.strangers.items(), key=lambda item: item[1])
        first = 0
        while True:
            taken = usable[first : first + size - self._waiting]
            first += len(taken)
            full = self._waiting + len(taken) == size
            end = int(records.at[taken[-1]]) + 1 if full else records.count
            self._add(rows, taken)
            while troubles and troubles[0] < end:
                why = bad[troubles.pop(0)]
                self.bad[why] = self.bad.get(why, 0) + 1
            while strange and strange[0][1] < end:
                self.strangers.setdefault(strange.pop(0)[0])
            self.marks[block.input] = Mark(block.place, end)
            if block.beginning is not None:
                self.beginnings[block.input] = block.beginning
            if not full:
                return
            yield self.step()

    def step(self) -> Step:
        """All that waits, as a batch."""
        rows = Parsed.joined(self._parts) if self._parts else self._none
        step = Step(rows, self.marks, self.bad, self.strangers, self.beginnings)
        self._begin()
        return step

    def _add(self, rows: Parsed, taken: list[int]) -> None:
        if taken:
            whole = taken[-1] - taken[0] + 1 == len(taken)
            self._parts.append(rows.take(slice(taken[0], taken[-1] + 1) if whole else np.array(taken)))
            self._waiting += len(taken)

    def _begin(self) -> None:
        self._parts: list[Parsed] = []
        self._waiting = 0
        self.marks: dict[str, Mark] = {}
        self.bad: dict[str, int] = {}
        self.strangers: dict[str, None] = {}
        self.beginnings: dict[str, Beginning] = {}


def _no_label(name: str | None) -> str:
    """Why this is no label to learn; nothing if it is one."""
    if name is None:
        return NO_LABEL
    return ENDS_IN_NUL if name.endswith("\0") else ""


def first_rows(blocks: Iterator[Block], count: int) -> tuple[list[Block], Records]:
    """The first blocks, until they have ``count`` rows, and these rows alone, as the source has them."""
    taken: list[Block] = []
    parts: list[Records] = []
    while sum(len(part.at) for part in parts) < count:
        block = next(blocks, None)
        if block is None:
            break
        taken.append(block)
        parts.append(block.parse(None))
    names = dict.fromkeys(name for part in parts for name in part.columns)
    columns = {name: [value for part in parts for value in _column(part, name)][:count] for name in names}
    return taken, Records.of(columns)


def _column(part: Records, name: str) -> Sequence[object]:
    return list(part.columns[name]) if name in part.columns else [None] * len(part.at)
