"""Ridge regression as a member: its weights against explicit rows, when it solves, what it keeps, how it forgets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_samples import blobs, past, samples

from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.drift import CHANGED, NEW_TASK, RECURRED, Change
from smartcl.learners.ensemble.feature_maps import first_map
from smartcl.learners.ensemble.ridge import Ridge
from smartcl.learners.ensemble.settings import BATCH_ROWS, FORGETTING, LOOK_ROWS, PENALTIES, SHARPNESS, SNAPSHOTS
from smartcl.saving.saved import Saved, StateError

WIDE = 1030
NOTHING = past(np.zeros((0, 6), np.float32), [], n_classes=3)


def taught(x, y, weight=None, known=None, width=6, linear=1, n_classes=2, size=BATCH_ROWS):
    """A member that has learned these rows batch by batch."""
    member = known or Ridge.fresh(width, linear, n_classes)
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        member = member.learn(samples(x[part], y[part], None if weight is None else weight[part]), NOTHING)
    return member


def by_hand(x, y, weight, penalty, n_classes=2, width=None):
    """Ridge regression of weighted rows: what is shrunk is all but the constant, by the mean square of a feature."""
    x, weight = x.astype(np.float64), np.asarray(weight, np.float64)
    unit = np.average(np.square(x[:, 1:]).mean(axis=1), weights=weight)
    x = x[:, :width]
    second = (x * weight[:, None]).T @ x
    shrunk = np.diag([0.0] + [penalty * unit] * (x.shape[1] - 1))
    return np.linalg.solve(second + shrunk, (x * weight[:, None]).T @ np.eye(n_classes)[y])


@pytest.mark.parametrize("weighted", [False, True])
def test_each_rate_answers_as_a_regression_on_rows_weighed_by_age(weighted):
    rng = np.random.default_rng(0)
    x, y = blobs(rng, 400, n_classes=3)
    weight = rng.uniform(0.2, 4, 400).astype(np.float32) if weighted else np.ones(400, np.float32)
    member = taught(x, y, weight if weighted else None, n_classes=3)
    assert member.solved().solved_at == (400,) * len(FORGETTING)
    member = member.solved()
    ages = (len(y) // BATCH_ROWS - 1) - np.arange(400) // BATCH_ROWS
    answers = member.answers(samples(x, y).rows, NOTHING)
    for place, rate in enumerate(FORGETTING):
        expected = SHARPNESS * x @ by_hand(x, y, weight * rate**ages, 1.0, 3)
        expected -= np.log(np.exp(expected).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(answers[:, place], expected, atol=1e-4)
    np.testing.assert_allclose(answers[:, -1], -np.log(3), atol=1e-6)  # no snapshot yet: it says nothing


def test_the_values_alone_are_asked_too_where_they_are_features():
    x, y = blobs(np.random.default_rng(1), 200)
    member = taught(x, y, linear=4)
    assert len(member.experts) == 2 * len(FORGETTING) + 1
    place = member.experts.index("1, linear")
    expected = SHARPNESS * x[:, :4] @ by_hand(x, y, np.ones(200), 1.0, width=4)
    expected -= np.log(np.exp(expected).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(member.answers(samples(x, y).rows, NOTHING)[:, place], expected, atol=1e-4)


@pytest.mark.parametrize("wide", [False, True])
def test_a_sample_taken_out_was_never_there(wide):
    """Of the whole past; in packed sums also while rows still wait to be added."""
    rng = np.random.default_rng(2)
    x, y = blobs(rng, 250, WIDE if wide else 6)
    weight = rng.uniform(0.5, 3, 250).astype(np.float32)
    gone = rng.random(250) < 0.2
    member = taught(x, y, weight, width=x.shape[1]).without(samples(x[gone], y[gone], weight[gone]))
    never = taught(x[~gone], y[~gone], weight[~gone], width=x.shape[1]).solved()
    assert not member.waiting
    np.testing.assert_allclose(member.sums[0].second, never.sums[0].second, atol=2e-3)
    np.testing.assert_allclose(member.sums[0].products, never.sums[0].products, atol=2e-3)
    np.testing.assert_allclose(x @ member.weights[0], x @ never.weights[0], atol=2e-3)


def test_rows_that_wait_count_as_if_they_had_been_added_at_once():
    x, y = blobs(np.random.default_rng(3), LOOK_ROWS + 60, WIDE)
    member = taught(x, y, width=WIDE, size=30)
    assert sum(len(part[1]) for part in member.waiting) < LOOK_ROWS
    assert member.nbytes > member.sums[0].nbytes + sum(part[0].nbytes for part in member.waiting)
    whole = replace(member.solved(), rows=0, solved_at=(0,) * len(FORGETTING))
    at_once = Ridge.fresh(WIDE, 1, 2).sums[0].with_rows(x, y)
    np.testing.assert_allclose(whole.sums[0].second, at_once.second, atol=1e-2)
    assert whole.sums[0].rows == len(y)


def test_it_solves_when_a_class_is_new_and_otherwise_when_a_tenth_of_what_is_known_is_new():
    width = 480
    x, y = blobs(np.random.default_rng(4), 60 * BATCH_ROWS, width)
    member, solved = Ridge.fresh(width, 1, 2), []
    for start in range(0, len(y), BATCH_ROWS):
        part = slice(start, start + BATCH_ROWS)
        member = member.learn(samples(x[part], y[part]), NOTHING)
        solved.append(member.solved_at)
    whole, fast = (np.diff(np.unique(each)) for each in zip(*solved, strict=True))
    assert whole[0] == fast[0] == BATCH_ROWS
    assert (np.diff(whole) >= 0).all()
    assert fast[-1] == 2 * BATCH_ROWS  # 480 features: a solution takes as long as adding 80 rows
    assert 0.1 * 2400 <= whole[-1] <= 0.1 * 3000 + BATCH_ROWS
    fresh = past(np.zeros((0, width), np.float32), [], seen=[10**6, 30])
    part = slice(0, 30)
    assert member.learn(samples(x[part], np.ones(30)), fresh).solved_at == (member.rows + 30,) * len(FORGETTING)
    known = member.learn(samples(x[part], np.zeros(30)), fresh)
    assert known.solved_at[0] == member.solved_at[0]


def test_the_penalty_is_the_largest_that_does_no_harm():
    """Where labels are noise nearly nothing is believed; where one feature of many decides, much."""
    rng = np.random.default_rng(5)
    x, y = blobs(rng, 300, 60)
    x[:, 1] = 3 * (2 * y - 1)
    few = taught(x, y, width=60).with_penalties(past(x, y))
    noise = taught(x, rng.integers(0, 2, 300), width=60).with_penalties(past(x, rng.integers(0, 2, 300)))
    assert noise.penalties[0] >= 1000 * min(PENALTIES)
    assert few.penalties[0] <= noise.penalties[0]
    again = few.with_penalties(past(x, rng.integers(0, 2, 300)))
    assert again.penalties == few.penalties  # not before twice as many rows have come


def test_penalties_are_those_of_the_best_leave_one_out():
    """Refits by hand: no other penalty answers more than half a standard error better, no larger one as well."""
    x, y = blobs(np.random.default_rng(6), 120, 40, spread=4.0)
    member = taught(x, y, width=40).with_penalties(past(x, y))
    unit = member.sums[0].mean_square
    right = []
    for penalty in PENALTIES:
        hits = 0
        for out in range(120):
            rest = np.delete(np.arange(120), out)
            rows = x[rest].astype(np.float64)
            shrunk = np.diag([0.0] + [penalty * unit] * 39)
            weights = np.linalg.solve(rows.T @ rows + shrunk, rows.T @ np.eye(2)[y[rest]])
            hits += (x[out] @ weights).argmax() == y[out]
        right.append(hits / 120)
    best = max(right)
    near = [
        p for p, share in zip(PENALTIES, right, strict=True) if share >= best - np.sqrt(best * (1 - best) / 120) / 2
    ]
    assert member.penalties == (max(near),)


def change(kind, rows_after=100):
    return Change(1000, kind, 0.3, 5.0, 0.9, rows_after)


def test_after_a_change_only_the_newest_rows_count_and_what_was_known_is_kept():
    rng = np.random.default_rng(7)
    x, y = blobs(rng, 500)
    before = taught(x, y)
    after = before.after_change(change(CHANGED), past(x, 1 - y))
    expected = taught(x[-100:], 1 - y[-100:]).solved()
    np.testing.assert_allclose(after.sums[0].second, expected.sums[0].second, rtol=1e-6)
    np.testing.assert_allclose(after.weights[0], expected.weights[0], atol=1e-5)
    np.testing.assert_array_equal(after.snapshots[0].weights, before.weights[0])
    assert after.nbytes > before.nbytes
    assert before.after_change(change(NEW_TASK), past(x, y)) is before


def test_after_a_change_without_rows_after_it_the_past_is_empty():
    """Noticed with the very batch whose errors jumped: none of the stored rows is surely of the time after it."""
    x, y = blobs(np.random.default_rng(8), 200)
    after = taught(x, y).after_change(change(CHANGED, rows_after=0), past(x, y))
    assert after.sums[0].rows == 0


@pytest.mark.parametrize("wide", [False, True])
def test_what_was_known_before_comes_back(wide):
    """Its sums where they are small, and its answers always."""
    rng, width = np.random.default_rng(9), WIDE if wide else 6
    x, y = blobs(rng, 300, width)
    here = past(x[-100:], 1 - y[-100:])
    old = taught(x, y, width=width)
    new = taught(x, 1 - y, known=old.after_change(change(CHANGED), here), width=width)
    assert new.snapshot is not None
    fits = new
    for _ in range(20):
        fits = fits.learn(samples(x[:50], y[:50]), NOTHING)
    assert fits.snapshots[0].accuracy > 0.75 > 0.5 > new.snapshots[0].accuracy
    back = fits.after_change(change(RECURRED), here)
    if not wide:
        np.testing.assert_array_equal(back.sums[0].second, old.sums[0].second)
        np.testing.assert_array_equal(back.sums[0].products, old.sums[0].products)
    assert len(back.snapshots) == 1  # what fits is the present now, what was the present is kept
    for _ in range(4):
        back = back.after_change(change(CHANGED), here)
    assert len(back.snapshots) == SNAPSHOTS


def test_after_a_jump_the_short_memories_begin_anew():
    x, y = blobs(np.random.default_rng(10), 300)
    known = taught(x, y)
    jumped = known.after_jump()
    np.testing.assert_array_equal(jumped.sums[0].second, known.sums[0].second)
    assert all(sums.rows == 0.0 for sums in jumped.sums[1:])


def test_restarted_it_knows_these_samples_and_no_others():
    rng = np.random.default_rng(11)
    x, y = blobs(rng, 300)
    weight = rng.uniform(0.5, 2, 300).astype(np.float32)
    again = taught(-5 * x, y).restarted(samples(x, y, weight), NOTHING)
    fresh = taught(x, y, weight).solved()
    for mine, theirs in zip(again.weights, fresh.weights, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_new_classes_find_room_everywhere():
    x, y = blobs(np.random.default_rng(12), 300, n_classes=3)
    two = y < 2
    known = taught(x[two], y[two]).after_change(change(CHANGED), past(x[two], y[two]))
    wider = known.widened(3, np.random.default_rng(0))
    assert wider.answers(samples(x, y).rows, NOTHING).shape == (300, len(wider.experts), 3)
    rows = samples(x[two], y[two]).rows
    mine, before = wider.answers(rows, NOTHING), known.answers(rows, NOTHING)
    np.testing.assert_allclose(mine[..., 0] - mine[..., 1], before[..., 0] - before[..., 1], atol=1e-5)


@pytest.mark.parametrize("wide", [False, True])
def test_a_saved_state_reads_back_bit_for_bit_and_damage_is_refused(wide):
    rng, width = np.random.default_rng(13), WIDE if wide else 6
    x, y = blobs(rng, 230, width)
    weight = rng.uniform(0.5, 2, 230).astype(np.float32)
    known = taught(x, y, weight, width=width).after_change(change(CHANGED), past(x[:100], y[:100]))
    known = known.learn(samples(x[:30], y[:30]), NOTHING).learn(samples(x[:30], y[:30], weight[:30]), NOTHING)
    again = Ridge.fresh(width, 1, 2).loaded(Saved(known.state_dict()))
    rows = samples(x, y).rows
    np.testing.assert_array_equal(again.answers(rows, NOTHING), known.answers(rows, NOTHING))
    on = [member.learn(samples(x[30:], y[30:]), NOTHING).solved() for member in (known, again)]
    np.testing.assert_array_equal(on[0].answers(rows, NOTHING), on[1].answers(rows, NOTHING))
    assert again.nbytes == known.nbytes
    state = known.state_dict()
    for name, damage in (("penalties", [3.0]), ("sums", state["sums"][:1]), ("rows", -1)):
        with pytest.raises(StateError, match=name):
            Ridge.fresh(width, 1, 2).loaded(Saved({**state, name: damage}))
    if known.waiting:
        state["waiting"][0]["y"] = np.full_like(state["waiting"][0]["y"], 2)
        with pytest.raises(StateError, match="labels below 2"):
            Ridge.fresh(width, 1, 2).loaded(Saved(state))


def test_the_values_of_wide_rows_have_experts_of_their_own_and_those_of_narrow_rows_have_none():
    narrow, wide = (InputSpec(n_features=columns, n_classes=2) for columns in (10, 300))
    features = [f"{rate:g}, features" for rate in FORGETTING]
    assert Ridge.of(narrow, first_map(narrow, 0)).experts == [*features, "snapshot"]
    both = [f"{rate:g}, {what}" for rate in FORGETTING for what in ("linear", "features")]
    assert Ridge.of(wide, first_map(wide, 0)).experts == [*both, "snapshot"]
