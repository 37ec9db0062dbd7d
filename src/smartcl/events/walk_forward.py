"""A backtest without look-ahead: go through the calendar once; each day learn what it makes known, then forecast.

The learner forecasts every day before it can know the outcome. Its probabilities are brought to scale by its own
earlier forecasts whose outcomes are known by then. All that is learned or forecast from passes ``look_ahead``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse

from smartcl.data.batch import Batch, Doubles, Ints
from smartcl.events.calendar import EventStream
from smartcl.events.counts import UNKNOWN
from smartcl.events.event_calibration import EventCalibration
from smartcl.events.look_ahead import check_labels, check_rows
from smartcl.learners.stream_learner import StreamLearner
from smartcl.learners.watching import TellProgress

#: New samples that make a batch, rounded up to whole days.
BATCH_SIZE = 50
#: The number of latest forecasts that calibration is fitted to.
SCALED_BY = 20_000


@dataclass(frozen=True)
class Walk:
    """What was forecast at the end of each day, ``[day, place]``, by the learner and by two lines to compare it with.

    ``share`` is the share of events among the labels known that day; ``base_rate`` the same of the place alone,
    counting one more label at the share of all; ``majority`` the more frequent label. ``labels`` are what came true.
    """

    probability: Doubles
    base_rate: Doubles
    share: Doubles
    labels: Ints
    calibration: EventCalibration

    @property
    def majority(self) -> Doubles:
        return (self.share > 0.5).astype(np.float64)


def walk_forward(learner: StreamLearner, stream: EventStream, progress: TellProgress | None = None) -> Walk:
    """Learn and forecast day after day; afterwards the learner has learned all that is known."""
    days = stream.days
    raw, probability, base_rate, share = (np.full((days.n_days, days.n_places), np.nan) for _ in range(4))
    known, calibration = KnownLabels(days.n_days, days.n_places), EventCalibration()
    pending: list[Batch] = []
    has_learned = False
    for today in stream:
        check_rows(days, today.number, today.rows)
        if today.learnable is not None:
            check_labels(days, stream.horizon, today.number, today.learnable)
            known.add(today.learnable)
            pending.append(today.learnable)
        if pending and (sum(map(len, pending)) >= BATCH_SIZE or today.number == days.n_days - 1):
            learner.observe(joined(pending))
            calibration = EventCalibration.fit(*known.outcomes_of(raw))
            pending, has_learned = [], True
        base_rate[today.number], share[today.number] = known.rates()
        probability[today.number] = share[today.number]
        if has_learned:
            raw[today.number] = learner.predict_proba(today.rows).numpy()[:, 1]
            probability[today.number] = calibration(raw[today.number])
        if progress is not None:
            progress(today.number + 1, days.n_days, learner)
    return Walk(probability, base_rate, share, days.labels(stream.horizon), calibration)


class KnownLabels:
    """The labels that became known so far, and what can be said from them."""

    def __init__(self, n_days: int, n_places: int) -> None:
        self._labels: Ints = np.full((n_days, n_places), UNKNOWN, dtype=np.int64)
        self._events, self._counted = np.zeros(n_places), np.zeros(n_places)
        self._days = 0

    def add(self, batch: Batch) -> None:
        """These labels are known from now on."""
        assert batch.ids is not None
        day, place = np.divmod(batch.ids, self._labels.shape[1])
        self._labels[day, place] = batch.y.numpy()
        np.add.at(self._events, place, batch.y.numpy())
        np.add.at(self._counted, place, 1)
        self._days = max(self._days, int(day.max()) + 1)

    def rates(self) -> tuple[Doubles, float]:
        """Each place's share of events, counting one more label at the share of all places; and that share."""
        share = float((self._events.sum() + 0.5) / (self._counted.sum() + 1))
        return (self._events + share) / (self._counted + 1), share

    def outcomes_of(self, forecasts: Doubles) -> tuple[Doubles, Ints]:
        """The latest of these forecasts whose outcomes are known, and the outcomes."""
        latest = slice(max(0, self._days - -(-SCALED_BY // self._labels.shape[1])), self._days)
        made = np.isfinite(forecasts[latest]) & (self._labels[latest] != UNKNOWN)
        return forecasts[latest][made], self._labels[latest][made]


def joined(batches: list[Batch]) -> Batch:
    """The samples of several sparse batches as one."""
    rows = sparse.csr_array(sparse.vstack([sparse.csr_array(batch.x) for batch in batches], format="csr"))
    return Batch(rows, torch.cat([batch.y for batch in batches]))
