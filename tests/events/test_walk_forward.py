"""No look-ahead, three ways: later days change nothing, planted leaks are refused, and noise cannot be forecast."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.metrics import roc_auc_score

from event_examples import QUICK, example_days
from smartcl.data.batch import Batch
from smartcl.events import walk_forward as module
from smartcl.events.calendar import EventDays, EventStream, Today
from smartcl.events.counts import UNKNOWN
from smartcl.events.look_ahead import LookAheadError
from smartcl.events.walk_forward import Walk, joined, walk_forward
from smartcl.learners.learner import Learner
from smartcl.learners.methods import build_learner

START = 30


def learner_for(days: EventDays) -> Learner:
    return build_learner("smart", days.spec, "1MB", **QUICK, smoothing=0.0, robust=0.0)


def walked(stream: EventStream) -> Walk:
    return walk_forward(learner_for(stream.days), stream)


def auc(walk: Walk, forecast: np.ndarray) -> float:
    tested = walk.labels[START:] != UNKNOWN
    return float(roc_auc_score(walk.labels[START:][tested], forecast[START:][tested]))


class OneDayEarly(EventStream):
    """Hands out each label a day before it is known."""

    def learnable(self, today: int) -> Batch | None:
        return super().learnable(min(today + 1, self.days.n_days - 1))


class LabelsOfTomorrow(EventStream):
    """Hands out samples in time, but with the labels of the day after."""

    def learnable(self, today: int) -> Batch | None:
        batch, later = super().learnable(today), super().learnable(min(today + 1, self.days.n_days - 1))
        return None if batch is None or later is None else replace(batch, y=later.y)


class NoIds(EventStream):
    """Does not say which samples it hands out."""

    def learnable(self, today: int) -> Batch | None:
        batch = super().learnable(today)
        return None if batch is None else replace(batch, ids=None)


class TomorrowsEvents(EventStream):
    """Replaces a keyword by what will happen tomorrow, in the rows to forecast from and in those to learn."""

    def __iter__(self):
        labels = self.days.labels(1).clip(0)
        for today in super().__iter__():
            rows, batch = self.told(today.rows, labels[today.number]), today.learnable
            if batch is not None:
                batch = replace(batch, x=self.told(batch.x, labels[batch.ids // self.days.n_places][0]))
            yield Today(today.number, rows, batch)

    @staticmethod
    def told(rows: sparse.csr_array, secret: np.ndarray) -> sparse.csr_array:
        dense = rows.toarray()
        dense[:, 1] = secret
        return sparse.csr_array(dense)


@pytest.mark.parametrize("horizon", [1, 3])
def test_later_days_change_no_forecast(horizon: int) -> None:
    days, other, last = example_days(n_days=50), example_days(n_days=50, seed=9), 30
    counts = sparse.vstack([days.counts[: (last + 1) * 6], other.counts[(last + 1) * 6 :] * 3], format="csr")
    events = np.concatenate([days.events[: last + 1], ~days.events[last + 1 :]])
    whole = walked(EventStream(days, horizon))
    changed = walked(EventStream(replace(days, counts=counts, events=events), horizon))
    for name in ("probability", "base_rate", "share"):
        np.testing.assert_array_equal(getattr(whole, name)[: last + 1], getattr(changed, name)[: last + 1])
    assert not np.array_equal(whole.probability[last + 1 :], changed.probability[last + 1 :])


@pytest.mark.parametrize(
    ("leak", "message"),
    [
        (OneDayEarly, "the labels of 2014-01-01 are known on 2014-01-02, but were to be learned on 2014-01-01"),
        (LabelsOfTomorrow, r"labels learned on 2014-\S+ are not what the events until then say"),
        (NoIds, "must say by their ids"),
        (TomorrowsEvents, r"rows used on 2014-\S+ are not the counts of the day they stand for"),
    ],
)
def test_a_planted_leak_is_refused(leak: type[EventStream], message: str) -> None:
    with pytest.raises(LookAheadError, match=message):
        walked(leak(example_days(), 1))


def test_noise_is_forecast_by_a_leak_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same walk finds nothing in noise, and much as soon as the guard lets a leak pass."""
    noise = example_days(signal=0.0)
    honest = walked(EventStream(noise, 1))
    assert 0.38 < auc(honest, honest.probability) < 0.62
    monkeypatch.setattr(module, "check_rows", lambda *_: None)
    monkeypatch.setattr(module, "check_labels", lambda *_: None)
    leaky = walked(TomorrowsEvents(noise, 1))
    assert auc(leaky, leaky.probability) > 0.9


def test_a_precursor_is_found() -> None:
    walk = walked(EventStream(example_days(), 1))
    assert auc(walk, walk.probability) > 0.8
    assert auc(walk, walk.probability) > auc(walk, walk.base_rate) + 0.15
    errors = {name: getattr(walk, name)[START:-1] - walk.labels[START:-1] for name in ("probability", "base_rate")}
    assert np.mean(errors["probability"] ** 2) < 0.8 * np.mean(errors["base_rate"] ** 2)


def test_the_lines_beside_it_are_their_definition() -> None:
    days, horizon = example_days(n_days=30), 2
    walk, labels = walked(EventStream(days, horizon)), days.labels(horizon)
    for today in range(days.n_days):
        known = labels[: max(0, today - horizon + 1)]
        share = (known.sum() + 0.5) / (known.size + 1)
        np.testing.assert_allclose(walk.base_rate[today], (known.sum(axis=0) + share) / (len(known) + 1))
        np.testing.assert_allclose(walk.share[today], share)
        assert set(walk.majority[today]) == {float(share > 0.5)}


def test_everything_known_is_learned_in_batches_of_whole_days(monkeypatch: pytest.MonkeyPatch) -> None:
    days, seen = example_days(n_days=30), []
    learner = learner_for(days)
    observe = learner.observe
    monkeypatch.setattr(learner, "observe", lambda batch: seen.append(batch) or observe(batch))
    done = []
    walk_forward(learner, EventStream(days, 1), lambda day, total, _: done.append((day, total)))
    assert [len(batch) for batch in seen] == [54, 54, 54, 12]
    assert torch.cat([batch.y for batch in seen]).tolist() == days.labels(1)[:-1].reshape(-1).tolist()
    assert done == [(day, 30) for day in range(1, 31)]


def test_joined_batches_keep_their_order() -> None:
    x = sparse.csr_array(np.arange(6.0).reshape(3, 2))
    batch = joined([Batch(x, torch.tensor([0, 1, 0])), Batch(x[:1], torch.tensor([1]))])
    assert batch.y.tolist() == [0, 1, 0, 1]
    np.testing.assert_array_equal(batch.x.toarray(), [[0, 1], [2, 3], [4, 5], [0, 1]])
