"""Progress lines of a long call on standard output, as scikit-learn's estimators print them with ``verbose=1``."""

from __future__ import annotations

import time
from contextlib import suppress

#: Seconds of work that a line tells of, at least: a call that is shorter says nothing, nor do many short ones.
LINE_SECONDS = 2.0


class RowsLearned:
    """Tells of the rows of one call, of which there are ``total``. With ``verbose=0`` it says nothing."""

    def __init__(self, name: str, total: int, verbose: int) -> None:
        self._name, self._total, self._verbose = name, total, verbose
        self._start = self._told = time.monotonic()

    def reached(self, rows: int) -> None:
        """Tell, if it is time, that this number of rows is learned."""
        if not self._verbose:
            return
        now = time.monotonic()
        ended = rows == self._total and now - self._start >= LINE_SECONDS
        if ended or now - self._told >= LINE_SECONDS:
            self._told = now
            with suppress(OSError, ValueError):  # a closed output is no reason to undo the call
                print(line_of(self._name, rows, self._total, now - self._start), flush=True)


def line_of(name: str, rows: int, total: int, seconds: float) -> str:
    """What is told once these rows were learned in these seconds.

    >>> line_of("SmartClassifier", rows=25_000, total=1_000_000, seconds=20.0)
    '[SmartClassifier] 25,000 of 1,000,000 rows learned, 1,250 rows/s, about 13 min left'
    """
    pace = rows / max(seconds, 1e-9)
    left = (total - rows) / pace
    about = (
        "" if rows == total else f", about {left / 60:,.0f} min left" if left >= 100 else f", about {left:.0f} s left"
    )
    return f"[{name}] {rows:,} of {total:,} rows learned, {pace:,.0f} rows/s{about}"
