"""The account of a stream that is answered before it is learned: overall, in the last tenth and over time.

It takes a fixed number of bytes however long the stream is: windows of rows are twice as long when there are too many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from smartcl.account.tally import Tally
from smartcl.data.batch import Doubles, Ints
from smartcl.saving.saved import Saved

#: Bins of the whole stream's probabilities: AUC is within .001 of the exact one, and average precision within .004
#: where one row in 100 is of the class (tests/account; .005 with 512 bins). A window has fewer: AUC within .005.
BINS, WINDOW_BINS = 1024, 64
#: Of more classes no ranks are kept, and no confusion: 0.5 MB, and in all windows together 0.5 MB too.
MOST_RANKED, MOST_WINDOW_RANKED = 32, 16
#: Windows over time; from half of them on, one has 1 to 2% of the rows.
MOST_WINDOWS = 64


class Guesses(NamedTuple):
    """What the two simplest rules say next: the commonest label so far and the last one, of those that are known."""

    commonest: int
    last: int


@dataclass(frozen=True, eq=False)
class Account:
    """Answers to rows before they were learned, and what always-the-commonest and repeat-the-last would have said.

    >>> account = Account.none(2).after(np.array([1, 0, 1]), None)
    >>> account = account.after(np.array([1, 0]), np.array([[0.2, 0.8], [0.4, 0.6]]))
    >>> account.total.scores().accuracy, account.guesses
    (0.5, Guesses(commonest=1, last=0))
    """

    total: Tally
    #: Rows by label (first) and prediction (second); empty with too many classes.
    confusion: Ints
    #: Rows so far, also those without an answer; ``span`` of them in each window, which tallies those with one.
    rows: int
    windows: tuple[Tally, ...]
    span: int
    #: Labels that are known, by class, and the last of them; -1: none yet.
    known: Ints
    newest: int = -1

    @classmethod
    def none(cls, classes: int) -> Account:
        """Of a stream that has not begun."""
        held = classes if classes <= MOST_RANKED else 0
        total, confusion = Tally.none(classes, BINS, MOST_RANKED), np.zeros((held, held), np.int64)
        return cls(total, confusion, 0, (), 1, np.zeros(classes, np.int64))

    @classmethod
    def knowing(cls, known: Ints) -> Account:
        """Of a stream that begins when ``known`` labels of each class are known already."""
        return replace(cls.none(len(known)), known=np.array(known, dtype=np.int64))

    def anew(self) -> Account:
        """As if the stream began now, and the labels so far were known."""
        return replace(Account.none(len(self.known)), known=self.known, newest=self.newest)

    @property
    def guesses(self) -> Guesses | None:
        """What the simplest rules say now; None before any label is known."""
        return None if self.newest < 0 else Guesses(int(self.known.argmax()), self.newest)

    def after(
        self,
        y: Ints,
        probabilities: Doubles | None,
        guesses: Guesses | None = None,
        *,
        known: bool = True,
        in_turn: bool = False,
    ) -> Account:
        """With these rows and the answers to them, if there were any.

        ``guesses`` are those of the time when the answers were given, if that is not now. ``known`` says whether the
        labels are known from here on; they are not where a model is tested and does not learn. ``in_turn`` says that
        each row was answered when the labels of all rows before it were known.
        """
        next_row = replace(self, rows=self.rows + len(y))
        if known and len(y):
            counted = self.known + np.bincount(y, minlength=len(self.known))
            next_row = replace(next_row, known=counted, newest=int(y[-1]))
        if probabilities is None or not len(y):
            return next_row
        right = self._right_in_turn(y) if in_turn else self._right(y, self.guesses if guesses is None else guesses)
        confusion = self.confusion
        if len(confusion):
            cells = y * len(confusion) + probabilities.argmax(axis=1)
            confusion = confusion + np.bincount(cells, minlength=confusion.size).reshape(confusion.shape)
        windows, span, place = _windows(self.windows, self.span, next_row.rows - 1, len(self.known))
        windows = (
            *windows[:place],
            windows[place] + Tally.of(y, probabilities, windows[place], *right),
            *windows[place + 1 :],
        )
        total = self.total + Tally.of(y, probabilities, self.total, *right)
        return replace(next_row, total=total, confusion=confusion, windows=windows, span=span)

    def _right(self, y: Ints, said: Guesses | None) -> tuple[int, int]:
        """How many of these rows each of the simplest rules has right."""
        return (0, 0) if said is None else (int((y == said.commonest).sum()), int((y == said.last).sum()))

    def _right_in_turn(self, y: Ints) -> tuple[int, int]:
        """The same, where each label is known before the next row."""
        came = np.eye(len(self.known), dtype=np.int64)[y]
        before = self.known + came.cumsum(axis=0) - came
        commonest = int(((before.argmax(axis=1) == y) & before.any(axis=1)).sum())
        return commonest, int((y == np.concatenate([[self.newest], y[:-1]])).sum())

    def widened(self, classes: int) -> Account:
        """With room for classes that come later."""
        more = classes - len(self.known)
        if not more:
            return self
        held = len(self.confusion) and classes <= MOST_RANKED
        confusion = np.pad(self.confusion, ((0, more), (0, more))) if held else np.zeros((0, 0), np.int64)
        return replace(
            self,
            total=self.total.widened(classes),
            confusion=confusion,
            windows=tuple(window.widened(classes) for window in self.windows),
            known=np.pad(self.known, (0, more)),
        )

    def placed(self, at: Ints, classes: int) -> Account:
        """With its classes at these places among ``classes``."""
        held = classes if classes <= MOST_RANKED else 0
        confusion, known = np.zeros((held, held), np.int64), np.zeros(classes, np.int64)
        if held and len(self.confusion):
            confusion[np.ix_(at, at)] = self.confusion
        known[at] = self.known
        total, windows = self.total.placed(at, classes), tuple(window.placed(at, classes) for window in self.windows)
        newest = -1 if self.newest < 0 else int(at[self.newest])
        return replace(self, total=total, confusion=confusion, windows=windows, known=known, newest=newest)

    @classmethod
    def combined(cls, parts: Sequence[tuple[int, Account]]) -> Account:
        """Accounts of the same classes, each counted a number of times; with a negative number it is taken out again.

        Over time, the windows of all parts are added one by one, as if their streams had gone on side by side.
        """
        span = max(part.span for _, part in parts)
        wide = [(times, part._in_windows_of(span)) for times, part in parts]
        count, rows = max(len(each) for _, each in wide), sum(times * part.rows for times, part in parts)
        none = Tally.none(len(parts[0][1].known), WINDOW_BINS, MOST_WINDOW_RANKED)
        added = [
            Tally.combined([(1, none), *((times, each[place]) for times, each in wide if place < len(each))])
            for place in range(count)
        ]
        span = max(1, -(-rows // max(1, count)))
        wanted = -(-rows // span)
        last = sum(added[wanted:], added[wanted - 1]) if wanted else none
        return cls(
            Tally.combined([(times, part.total) for times, part in parts]),
            np.maximum(np.sum([times * part.confusion for times, part in parts], axis=0), 0),
            rows,
            (*added[: wanted - 1], last) if wanted else (),
            span,
            np.maximum(np.sum([times * part.known for times, part in parts], axis=0), 0),
            max(parts, key=lambda each: (each[0], each[1].rows))[1].newest,
        )

    def _in_windows_of(self, span: int) -> list[Tally]:
        """The windows, as many of them together as make one of ``span`` rows."""
        together = max(1, span // self.span)
        groups = [self.windows[first : first + together] for first in range(0, len(self.windows), together)]
        return [sum(group[1:], group[0]) for group in groups]

    @property
    def last_tenth(self) -> Tally:
        """The rows of the last tenth, in whole windows."""
        newest = self.windows[-max(1, round(len(self.windows) / 10)) :]
        return sum(newest[1:], newest[0]) if newest else self.total

    @property
    def nbytes(self) -> int:
        return self.total.nbytes + self.confusion.nbytes + sum(each.nbytes for each in self.windows) + self.known.nbytes

    def over_time(self) -> list[tuple[int, Tally]]:
        """Of each window the number of its last row, and its tally."""
        return [(min((place + 1) * self.span, self.rows), window) for place, window in enumerate(self.windows)]

    def state_dict(self) -> dict[str, Any]:
        return {
            "total": self.total.state_dict(),
            "confusion": self.confusion,
            "rows": self.rows,
            "windows": [window.state_dict() for window in self.windows],
            "span": self.span,
            "known": self.known,
            "newest": self.newest,
        }

    @classmethod
    def from_state(cls, saved: Saved, classes: int) -> Account:
        """The same again, or a ``StateError``."""
        fresh, windows = cls.none(classes), saved.parts("windows")
        if len(windows) > MOST_WINDOWS:
            saved.refuse("windows", f"must be up to {MOST_WINDOWS}")
        known = np.array(saved.array("known", (classes,), "int64"))
        confusion = np.array(saved.array("confusion", fresh.confusion.shape, "int64"))
        for name, counts in (("known", known), ("confusion", confusion)):
            if (counts < 0).any():
                saved.refuse(name, "must not be negative")
        empty = Tally.none(classes, WINDOW_BINS, MOST_WINDOW_RANKED)
        return cls(
            fresh.total.loaded(saved.part("total")),
            confusion,
            saved.whole("rows", 0, 2**62),
            tuple(empty.loaded(window) for window in windows),
            saved.whole("span", 1, 2**62),
            known,
            saved.whole("newest", -1, classes - 1),
        )


def _windows(windows: tuple[Tally, ...], span: int, row: int, classes: int) -> tuple[tuple[Tally, ...], int, int]:
    """The windows with one for this row, how many rows each has, and the place of the row's window."""
    while row // span >= MOST_WINDOWS:
        pairs = [windows[first : first + 2] for first in range(0, len(windows), 2)]
        windows, span = tuple(pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs), 2 * span
    empty = Tally.none(classes, WINDOW_BINS, MOST_WINDOW_RANKED)
    return windows + (empty,) * (row // span + 1 - len(windows)), span, row // span
