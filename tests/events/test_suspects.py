from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from event_examples import example_days
from smartcl.events.calendar import EventDays
from smartcl.events.counts import count_table
from smartcl.events.suspects import column_aucs, suspects


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5, 5.0])
def test_areas_are_those_of_scikit_learn(rate: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.poisson(rate, size=(40, 7)).astype(float), rng.permutation([0] * 25 + [1] * 15)
    expected = [roc_auc_score(y, column) for column in x.T]
    np.testing.assert_allclose(column_aucs(sparse.csr_array(x), y), expected, atol=1e-12)


def leaking(days: EventDays, horizon: int) -> EventDays:
    """With a keyword that is counted only where an event follows."""
    told = (days.labels(horizon) == 1).reshape(-1, 1)
    table = count_table(sparse.hstack([days.counts, sparse.csr_array(told.astype(float))]))
    return replace(days, counts=table, keywords=(*days.keywords, "breaking news"))


@pytest.mark.parametrize("horizon", [1, 3])
def test_a_keyword_that_tells_tomorrow_is_named_and_no_other(horizon: int) -> None:
    assert suspects(example_days(), horizon) == {}
    assert suspects(leaking(example_days(), horizon), horizon) == {"breaking news": 1.0}


def test_too_few_events_accuse_nobody() -> None:
    days = leaking(example_days(), 1)
    few = replace(days, events=days.events & (np.cumsum(days.events).reshape(days.events.shape) <= 5))
    assert suspects(leaking(few, 1), 1) == {}
