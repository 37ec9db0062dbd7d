"""What the stream has said of the members: which answers weights are fitted to, who adds something, what is noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax

from smartcl.learners.ensemble.evidence import Evidence, Roles
from smartcl.learners.ensemble.settings import AFTER_JUMP, LOOK_ROWS, SMALL_SHARE, WORTH
from smartcl.learners.ensemble.weighting import Answered, Weights
from smartcl.saving.saved import Saved, StateError

ROLES = Roles(whole=0, short=1, snapshot=2)


def said(rng, y, strengths, n_classes=2):
    """Experts whose scores speak for the label so strongly, and for another where that is negative."""
    scores = np.stack([s * np.eye(n_classes)[y] + rng.normal(size=(len(y), n_classes)) for s in strengths], axis=1)
    return Answered(log_softmax(scores, axis=2).astype(np.float32), y, np.ones(len(y), np.float32))


def labels(rng, rows=50, n_classes=2):
    return rng.integers(0, n_classes, rows)


def after_batches(evidence, rng, count, strengths, roles=None, n_classes=2, draw=labels):
    for _ in range(count):
        evidence = evidence.after(said(rng, draw(rng), strengths, n_classes), roles)
    return evidence


def test_weights_go_to_those_that_were_right():
    evidence = after_batches(Evidence.none(3, 2), np.random.default_rng(0), 20, (4.0, 0.5, -2.0))
    weights = evidence.weights.experts
    assert weights[0] > 5 * weights[1]
    assert weights[2] == 0
    assert len(evidence.present) == 1000
    assert evidence.drift.changes == ()


def test_answers_become_probabilities_that_come_true():
    """One expert that is far too sure: pooled and calibrated, it is right as often as it says."""
    rng = np.random.default_rng(1)
    evidence = after_batches(Evidence.none(1, 2), rng, 40, (1.0,))
    for _ in range(40):
        answered = said(rng, labels(rng), (1.0,))
        evidence = evidence.after(replace(answered, logs=8 * answered.logs), None)
    fresh = said(rng, labels(rng, 4000), (1.0,))
    shares = evidence.probabilities(8 * fresh.logs)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    for low in (0.5, 0.65, 0.8):
        some = (shares.max(axis=1) >= low) & (shares.max(axis=1) < low + 0.15)
        if some.sum() > 100:
            assert (shares.argmax(axis=1) == fresh.y)[some].mean() == pytest.approx(
                shares.max(axis=1)[some].mean(), abs=0.06
            )


def test_the_past_counts_where_the_newest_rows_say_nothing_of_it():
    """Three cases: it is all there, some classes stay away, or the inputs are others."""
    rng = np.random.default_rng(2)
    evidence = after_batches(Evidence.none(2, 3), rng, 20, (3.0, 1.0), n_classes=3)  # only classes 0 and 1 came
    held = said(rng, labels(rng, 90, 3), (1.0, 3.0), 3)
    np.testing.assert_array_equal(evidence.stay_away, [False, False, True])
    away = evidence.looked_back(held, other_inputs=False)
    missing = int((held.y == 2).sum())
    assert away.coverage == pytest.approx(1 - missing / 90)
    known = away.known
    assert known.weight[-90:].sum() == missing
    assert known.weight[:-90].sum() == pytest.approx(90 - missing, rel=1e-4)  # each side by its share of the stream
    others = evidence.looked_back(held, other_inputs=True)
    assert others.coverage == 0.0
    np.testing.assert_array_equal(others.known.logs, held.logs)
    assert others.weights.experts.argmax() == 1
    assert evidence.weights.experts.argmax() == 0
    there = after_batches(Evidence.none(2, 2), rng, 20, (3.0, 1.0))
    still = there.looked_back(said(rng, labels(rng, 90), (1.0, 3.0)), other_inputs=False)
    assert still.coverage == 1.0
    np.testing.assert_array_equal(still.known.logs, still.present.logs)


def test_inputs_are_other_ones_at_once_and_familiar_again_only_after_several_looks():
    """One look is wrong too often; what a saved state says of it holds."""
    rng = np.random.default_rng(12)
    evidence = after_batches(Evidence.none(2, 2), rng, 5, (3.0, 1.0))
    held = said(rng, labels(rng, 60), (1.0, 3.0))
    assert evidence.looked_back(held, other_inputs=False).familiar == 1.0
    other = evidence.looked_back(held, other_inputs=True)
    assert other.familiar == other.coverage == 0.0
    looked, looks = other, 0
    while looked.past.weight.all():
        looked, looks = looked.looked_back(held, other_inputs=False), looks + 1
        assert looked.familiar == pytest.approx(looks * SMALL_SHARE)
        looked = Evidence.none(2, 2).loaded(Saved(looked.state_dict()))
        assert looked.familiar == looked.coverage == pytest.approx(looks * SMALL_SHARE)
    assert looks == 5
    assert looked.looked_back(held, other_inputs=True).familiar == 0.0
    with pytest.raises(StateError, match="familiar must be a finite number from 0 to 1"):
        evidence.loaded(Saved({**other.state_dict(), "familiar": 1.5}))


def test_a_class_that_comes_now_and_then_does_not_stay_away():
    rng = np.random.default_rng(3)

    def draw(rng):
        return (rng.random(50) < 0.03).astype(np.int64)

    evidence = after_batches(Evidence.none(1, 2), rng, 20, (2.0,), draw=draw)
    assert evidence.present.y[-LOOK_ROWS:].sum() >= 3
    assert not evidence.stay_away.any()


def test_the_past_fits_the_weights_it_was_asked_for():
    """Right away, not after so many batches: several steps from weights that were fitted to other answers."""
    rng = np.random.default_rng(4)
    evidence = after_batches(Evidence.none(2, 2), rng, 20, (3.0, -1.0))
    held = said(rng, labels(rng, 100), (-1.0, 3.0))
    looked = evidence.looked_back(held, other_inputs=True)
    best = Weights.equal(2, 2)
    for _ in range(30):
        best = best.fitted(held)
    assert looked.weights.losses(held).mean() < best.losses(held).mean() + 0.02


def test_after_a_change_the_answers_of_now_decide():
    rng = np.random.default_rng(5)
    evidence = after_batches(Evidence.none(2, 2), rng, 20, (3.0, 0.5))
    evidence = evidence.looked_back(said(rng, labels(rng, 90), (3.0, 0.5)), other_inputs=True)
    turned = evidence.judged_anew(said(rng, labels(rng), (-3.0, 3.0)))
    for _ in range(5):
        turned = turned.after(said(rng, labels(rng), (-3.0, 3.0)), None)
    assert turned.weights.experts[1] > 5 * turned.weights.experts[0]
    assert not turned.past.weight.any()


def test_drift_is_told_from_the_experts_named():
    """The short memory is right, the whole past is not, and what was known before says nothing yet or is right."""
    rng = np.random.default_rng(6)
    evidence = after_batches(Evidence.none(3, 2), rng, 20, (3.0, 3.0, 0.0), ROLES)
    assert evidence.drift.leader is None
    behind = after_batches(evidence, rng, 10, (0.0, 4.0, 0.0), ROLES)
    assert behind.drift.leader is behind.drift.short
    back = after_batches(evidence, rng, 10, (-3.0, 0.5, 4.0), ROLES)
    assert back.drift.leader is back.drift.kept
    silent = evidence
    for _ in range(10):
        answered = said(rng, labels(rng), (0.0, 4.0, 0.0))
        answered.logs[:, 2] = np.log(0.5)
        silent = silent.after(answered, ROLES)
    assert silent.drift.kept.rows == 0


def test_a_jump_of_the_errors_makes_earlier_answers_count_less():
    rng = np.random.default_rng(7)
    evidence = after_batches(Evidence.none(3, 2), rng, 20, (5.0, 5.0, 0.0), ROLES)
    jumped = evidence.after(said(rng, labels(rng), (-9.0, -9.0, 0.0)), ROLES)
    assert jumped.drift.alert.jumped
    kept = jumped.present.weight[:-50].sum() / evidence.present.weight[-len(jumped.present.weight) + 50 :].sum()
    assert kept == pytest.approx(AFTER_JUMP, rel=0.15)
    assert jumped.present.weight[-50:].sum() == 50


def test_who_adds_is_who_is_worth_something():
    rng = np.random.default_rng(8)
    evidence = after_batches(Evidence.none(3, 2), rng, 30, (2.0, 2.0, 0.0))
    parts = {"first": slice(0, 1), "second": slice(1, 2), "noise": slice(2, 3)}
    asked = evidence.asked_who_adds(parts)
    assert asked.adds == ("first", "second")
    for name, part in parts.items():
        rise, error = evidence.weights.worth(evidence.known, part)
        assert (rise > max(WORTH, 2 * error)) == (name in asked.adds)
    nothing = Evidence.none(3, 2)
    assert nothing.asked_who_adds(parts) is nothing


def test_later_classes_find_room():
    rng = np.random.default_rng(9)
    evidence = after_batches(Evidence.none(2, 2), rng, 10, (3.0, 1.0)).widened(3)
    more = evidence.after(said(rng, labels(rng, 50, 3), (3.0, 1.0), 3), None)
    assert more.probabilities(more.present.logs).shape == (550, 3)
    assert more.nbytes > 0


def test_a_saved_state_goes_on_the_same():
    rng = np.random.default_rng(10)
    evidence = after_batches(Evidence.none(3, 2), rng, 20, (2.0, 3.0, 0.0), ROLES)
    evidence = evidence.looked_back(said(rng, labels(rng, 90), (1.0, 3.0, 0.0)), other_inputs=False)
    evidence = evidence.asked_who_adds({"first": slice(0, 1)})
    again = Evidence.none(3, 2).loaded(Saved(evidence.state_dict()))
    fresh = said(rng, labels(rng), (2.0, 3.0, 0.0))
    mine, theirs = (each.after(fresh, ROLES) for each in (evidence, again))
    np.testing.assert_array_equal(mine.probabilities(fresh.logs), theirs.probabilities(fresh.logs))
    assert (mine.drift, mine.coverage, mine.adds) == (theirs.drift, theirs.coverage, theirs.adds)
