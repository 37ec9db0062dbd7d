from __future__ import annotations

import numpy as np
import pytest

from event_examples import example_days
from smartcl.events.calendar import EventStream
from smartcl.events.counts import UNKNOWN


@pytest.mark.parametrize("horizon", [1, 3, 89, 90, 200])
def test_labels_are_the_definition_written_out(horizon: int) -> None:
    days = example_days()
    labels = days.labels(horizon)
    for day in range(days.n_days):
        for place in range(days.n_places):
            window = range(day + 1, day + horizon + 1)
            known = window[-1] < days.n_days
            expected = int(any(days.events[then, place] for then in window)) if known else UNKNOWN
            assert labels[day, place] == expected


@pytest.mark.parametrize("horizon", [1, 4])
def test_every_sample_is_handed_out_on_the_day_its_label_is_known(horizon: int) -> None:
    days = example_days(n_days=30)
    rows = np.log1p(days.counts.toarray()).astype(np.float32)
    labels, seen = days.labels(horizon).reshape(-1), []
    for today in EventStream(days, horizon):
        first = today.number * days.n_places
        np.testing.assert_array_equal(today.rows.toarray()[:, :10], rows[first : first + days.n_places])
        np.testing.assert_array_equal(today.rows.toarray()[:, 10:], np.eye(days.n_places))
        if today.learnable is None:
            assert today.number < horizon
            continue
        ids = today.learnable.ids
        assert set(ids // days.n_places + horizon) == {today.number}
        np.testing.assert_array_equal(today.learnable.x.toarray()[:, :10], rows[ids])
        assert today.learnable.y.tolist() == labels[ids].tolist()
        seen.extend(ids.tolist())
    assert seen == np.flatnonzero(labels != UNKNOWN).tolist()


def test_days_cut_out_hold_nothing_else() -> None:
    days = example_days()
    part = days.between(10, 12)
    assert (part.first, part.last, part.n_days) == (days.day(10), days.day(12), 3)
    np.testing.assert_array_equal(part.events, days.events[10:13])
    np.testing.assert_array_equal(part.counts.toarray(), days.counts.toarray()[60:78])


def test_each_feature_has_its_name() -> None:
    days = example_days(n_places=2, n_keywords=3)
    assert days.feature_names == ("word 0", "word 1", "word 2", "place: city 0", "place: city 1")
    assert days.spec.n_features == 5


def test_a_horizon_is_at_least_a_day() -> None:
    with pytest.raises(ValueError, match="horizon must be at least 1 day, got 0"):
        EventStream(example_days(), 0)
