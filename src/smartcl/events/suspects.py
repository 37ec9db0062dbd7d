"""Suspicious keywords: they forecast so well that they were probably counted after the event."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints
from smartcl.events.calendar import EventDays
from smartcl.events.counts import UNKNOWN, Csr

#: A keyword alone with this AUC is suspicious, if at least this number of events supports it.
SUSPICIOUS_AUC = 0.95
LEAST_EVENTS = 10


def suspects(days: EventDays, horizon: int) -> dict[str, float]:
    """The keywords whose count alone nearly determines the label, with their AUC, the highest first."""
    labels = days.labels(horizon).reshape(-1)
    known = np.flatnonzero(labels != UNKNOWN)
    y = labels[known]
    if min((y == 1).sum(), (y == 0).sum()) < LEAST_EVENTS:
        return {}
    areas = column_aucs(days.counts[known], y)
    order = np.argsort(-areas, kind="stable")
    return {days.keywords[i]: float(areas[i]) for i in order if areas[i] >= SUSPICIOUS_AUC}


def column_aucs(x: Csr, y: Ints) -> NDArray[np.float64]:
    """The area under the ROC curve of each column alone; stored values must be above zero.

    Per column it is the share of pairs (a row of label 1, one of label 0) in which the first has the larger value, a
    tie counting half. Zeros are one tie, so the work is that of sorting the non-zeros.
    """
    n_ones, n_noughts, width = (y == 1).sum(), (y == 0).sum(), x.shape[1]
    rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    order = np.lexsort((x.data, x.indices))
    column, value, label = x.indices[order], x.data[order], y[rows[order]]
    tie = np.cumsum((np.diff(column, prepend=-1) != 0) | (np.diff(value, prepend=0) != 0)) - 1
    ones, noughts = np.bincount(tie, label == 1), np.bincount(tie, label == 0)
    column = column[np.flatnonzero(np.diff(tie, prepend=-1))]
    stored_ones, stored_noughts = np.bincount(column, ones, width), np.bincount(column, noughts, width)
    zero_noughts = n_noughts - stored_noughts
    below_in_column = np.cumsum(noughts) - noughts - (np.cumsum(stored_noughts) - stored_noughts)[column]
    won = np.bincount(column, ones * (zero_noughts[column] + below_in_column + noughts / 2), width)
    areas: NDArray[np.float64] = (won + (n_ones - stored_ones) * zero_noughts / 2) / (n_ones * n_noughts)
    return areas
