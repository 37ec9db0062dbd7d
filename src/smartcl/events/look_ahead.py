"""Guard against look-ahead: what a backtest uses on a day must follow from the calendar of that day.

It cuts the calendar off after the day and works out again, from what is left, what the
stream handed over.
"""

from __future__ import annotations

import numpy as np
import torch

from smartcl.data.batch import Batch, Ints, Rows
from smartcl.events.calendar import EventDays


class LookAheadError(RuntimeError):
    """Something was used on a day on which it was not known yet."""


def check_rows(days: EventDays, today: int, rows: Rows) -> None:
    """The rows to forecast from, one per place, are today's counts."""
    _check_features(days.between(today, today), np.arange(days.n_places), rows, days, today)


def check_labels(days: EventDays, horizon: int, today: int, batch: Batch) -> None:
    """The samples to learn are of days whose labels are known, and the labels are what the events until today say."""
    if batch.ids is None:
        raise LookAheadError("samples to learn must say by their ids which day and place they are of")
    day, place = np.divmod(batch.ids, days.n_places)
    if (early := day[day + horizon > today]).size:
        raise LookAheadError(
            f"the labels of {days.day(int(early[0]))} are known on {days.day(int(early[0]) + horizon)}, "
            f"but were to be learned on {days.day(today)}"
        )
    for number in np.unique(day):
        mine = batch.take(np.flatnonzero(day == number))
        its_places, seen = place[day == number], days.between(int(number), int(number) + horizon)
        _check_features(seen, its_places, mine.x, days, today)
        followed = seen.events[1:, its_places].any(axis=0)
        if not np.array_equal(followed, mine.y.numpy() == 1):
            raise LookAheadError(f"labels learned on {days.day(today)} are not what the events until then say")


def _check_features(seen: EventDays, samples: Ints, rows: Rows, days: EventDays, today: int) -> None:
    expected = seen.features(samples)
    if isinstance(rows, torch.Tensor) or rows.shape != expected.shape or abs(rows - expected).max() > 0:
        raise LookAheadError(f"rows used on {days.day(today)} are not the counts of the day they stand for")
