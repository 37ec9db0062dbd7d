"""Drift: each verdict, jumps of the errors, the inputs two sets have in common, and how rarely nothing is something."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from smartcl.learners.ensemble.drift import (
    CHANGED,
    NEW_TASK,
    RECURRED,
    UNKNOWN,
    Alert,
    Change,
    Comparison,
    DriftWatch,
    Overlap,
    overlap,
)
from smartcl.learners.ensemble.settings import BATCH_ROWS, RECENT_ROWS, SAME_INPUTS, SURE
from smartcl.saving.saved import Saved, StateError

ROWS = 50


def covering(share, error=0.0):
    """What says that new inputs cover this share of the past's."""
    return lambda: Overlap(share, error)


def answers(rng, *accuracies):
    """For each accuracy, which of a batch's answers are right; all independent."""
    return [rng.random(ROWS) < accuracy for accuracy in accuracies]


def watched(rng, batches, pool=0.9, whole=0.9, short=0.9, kept=None, known=None):
    known = known or DriftWatch()
    for _ in range(batches):
        right = answers(rng, pool, whole, short, 0.0 if kept is None else kept)
        known = known.after(*right[:3], None if kept is None else right[3])
    return known


def test_a_comparison_counts_what_only_one_got_right_newer_rows_more():
    """By loops over all rows so far, each batch's rows one age."""
    rng, comparison, batches = np.random.default_rng(0), Comparison(), []
    for _ in range(30):
        first, second = answers(rng, 0.7, 0.8)
        comparison = comparison.after(first, second)
        batches.append((first, second))
    ages = [(1 - 1 / RECENT_ROWS) ** (ROWS * (29 - number)) for number in range(30)]
    lead = sum(age * (s.sum() - f.sum()) for age, (f, s) in zip(ages, batches, strict=True)) / ROWS / sum(ages)
    assert comparison.lead == pytest.approx(float(lead))
    differing = sum(age * (f != s).sum() for age, (f, s) in zip(ages, batches, strict=True))
    assert comparison.sureness == pytest.approx(float(lead * ROWS * sum(ages) / np.sqrt(differing)))
    assert Comparison().lead == Comparison().sureness == 0.0


@pytest.mark.parametrize("batches", [2, 10, 60])
def test_the_standard_error_is_at_least_that_of_a_simulation(batches):
    """Two that are equally often right: the lead in standard errors has a spread of at most 1, about 0."""
    rng = np.random.default_rng(1)
    sureness = []
    for _ in range(400):
        comparison = Comparison()
        for _ in range(batches):
            comparison = comparison.after(*answers(rng, 0.8, 0.8))
        sureness.append(comparison.sureness)
    assert np.std(sureness) < 1.08
    assert abs(np.mean(sureness)) < 0.2
    assert np.std(sureness) > 0.6  # older rows count less: a standard error too large by the square root of two


def test_on_a_stream_that_stays_the_same_there_are_hardly_false_alarms():
    """100 streams of 10,000 rows: comparisons at each batch, and yet at most one stream in twenty with a verdict."""
    rng, alarms = np.random.default_rng(2), 0
    for _ in range(100):
        watch = DriftWatch()
        for batch in range(200):
            watch = watch.after(*answers(rng, 0.85, 0.85, 0.84), None)
            if watch.verdict(ROWS * batch, covering(1.0)):
                alarms += 1
                break
    assert alarms <= 5


@pytest.mark.parametrize(
    ("coverage", "kept", "kind"),
    [(0.95, None, CHANGED), (0.2, None, NEW_TASK), (0.95, 0.9, RECURRED), (0.2, 0.9, RECURRED)],
)
def test_each_verdict(coverage, kept, kind):
    """A short memory that is better on the same inputs, on others; and sums of before that are better still."""
    watch = watched(np.random.default_rng(3), 20, whole=0.5, short=0.85, kept=kept)
    change = watch.verdict(1234, covering(coverage))
    assert change is not None
    assert (change.row, change.kind, change.coverage) == (1234, kind, coverage)
    assert change.lead == pytest.approx(0.4 if kept else 0.35, abs=0.07)
    assert change.sureness > SURE


def test_no_verdict_yet_where_inputs_are_neither_the_same_nor_surely_others():
    watch = watched(np.random.default_rng(3), 20, whole=0.5, short=0.85)
    for covered in (Overlap(0.8, 0.1), Overlap(0.0, np.inf), Overlap(SAME_INPUTS - 0.01, 0.011 / SURE), UNKNOWN):
        assert watch.verdict(1234, lambda covered=covered: covered) is None
    assert watch.verdict(1234, covering(SAME_INPUTS - 0.01, 0.009 / SURE)).kind == NEW_TASK
    assert watch.verdict(1234, covering(SAME_INPUTS, 0.5)).kind == CHANGED
    back = watched(np.random.default_rng(3), 20, whole=0.5, short=0.85, kept=0.9)
    assert back.verdict(1234, lambda: UNKNOWN).kind == RECURRED  # known by its labels, whatever the inputs


def test_a_new_task_is_noted_once_until_errors_jump_again():
    """It is still the same task that the short memory knows better; what is a change is noted all the same."""
    rng = np.random.default_rng(14)
    watch = watched(rng, 20, whole=0.5, short=0.9)
    noted = watch.noted(watch.verdict(1000, covering(0.1)))
    later = watched(rng, 20, whole=0.5, short=0.9, known=noted)
    assert later.verdict(2000, covering(0.1)) is None
    assert later.verdict(2000, covering(1.0)).kind == CHANGED
    jumped = watched(rng, 5, pool=0.1, whole=0.1, short=0.9, known=later)
    assert jumped.verdict(2250, covering(0.1)).kind == NEW_TASK


def test_no_verdict_where_nobody_is_surely_better():
    rng = np.random.default_rng(4)

    def never() -> Overlap:
        raise AssertionError("inputs are compared only where there is a leader")

    for watch in (
        DriftWatch(),
        watched(rng, 20),
        watched(rng, 20, whole=0.9, short=0.5, kept=0.4),
        watched(rng, 1, whole=0.8, short=0.84),
    ):
        assert watch.verdict(1000, never) is None


def test_after_a_verdict_there_is_calm_unless_errors_jump_again():
    rng = np.random.default_rng(5)
    watch = watched(rng, 20, whole=0.5, short=0.9)
    noted = watch.noted(watch.verdict(1000, covering(1.0)))
    assert noted.changes[-1].row == 1000
    assert noted.leader is None
    again = watched(rng, 5, whole=0.4, short=0.9, known=noted)
    assert again.leader is not None
    assert again.verdict(1000 + RECENT_ROWS - 1, covering(1.0)) is None
    assert again.verdict(1000 + RECENT_ROWS, covering(1.0)).kind == CHANGED
    jumped = watched(rng, 3, pool=0.1, whole=0.1, short=0.9, known=again)
    assert jumped.alert.since < 200
    assert jumped.verdict(1250, covering(1.0)).rows_after == jumped.alert.since


def test_only_the_newest_hundred_changes_are_remembered():
    watch = DriftWatch()
    for row in range(130):
        watch = watch.noted(Change(row, CHANGED, 0.1, 4.0, 1.0))
    assert [change.row for change in watch.changes] == list(range(30, 130))


def test_errors_jump_when_most_answers_are_suddenly_wrong():
    """From 5% errors to 80%; not from 30% to 45%, nor before anything is usual, nor on a small batch by chance."""
    rng = np.random.default_rng(6)
    calm = watched(rng, 20, pool=0.95)
    assert not calm.alert.jumped
    assert calm.alert.usual == pytest.approx(0.05, abs=0.03)
    assert calm.alert.since == 19 * ROWS
    assert calm.alert.after(0.8, ROWS).jumped
    assert not calm.alert.after(0.45, ROWS).jumped
    assert not calm.alert.after(1.0, 1).jumped
    assert not Alert().after(1.0, ROWS).jumped
    assert not watched(rng, 20, pool=0.2).alert.after(1.0, 5).jumped
    fallen = watched(rng, 1, pool=0.1, whole=0.1, short=0.1, known=calm)
    assert fallen.alert.jumped
    assert fallen.short.rows == ROWS  # from here on answers are compared anew
    assert not watched(rng, 1, pool=0.1, known=fallen).alert.jumped


def test_the_usual_errors_are_those_of_the_newest_rows():
    rng, alert = np.random.default_rng(7), Alert()
    for share in np.concatenate([np.full(20, 0.1), np.full(60, 0.3)]):
        alert = alert.after(float(rng.binomial(ROWS, share) / ROWS), ROWS)
    assert alert.usual == pytest.approx(0.3, abs=0.06)
    young = Alert().after(0.2, 10).after(0.4, 30)
    assert young.usual == pytest.approx((10 * 0.2 + 30 * 0.4) / 40)


@pytest.mark.parametrize("width", [5, 700])
def test_the_same_inputs_overlap_wholly_and_others_not_at_all(width):
    """Fewer features than rows, and more."""
    rng = np.random.default_rng(8)
    old, new = rng.normal(size=(2, 250, width)).astype(np.float32)
    assert overlap(new, old).share > 0.8
    assert overlap(new + np.float32(5), old).share < 0.05
    assert overlap(100 * new, 100 * old).share == pytest.approx(overlap(new, old).share, abs=0.02)
    mixed = np.where(np.arange(250)[:, None] % 2, new, new + 5).astype(np.float32)
    assert overlap(new + np.float32(5), old).share < overlap(mixed, old).share < overlap(new, old).share


@pytest.mark.parametrize("width", [5, 400])
@pytest.mark.parametrize("rows", [30, 100, 300])
def test_the_same_inputs_are_no_more_often_told_apart_than_by_chance(rows, width):
    """However few rows there are: the mean over draws, of which half are by chance below one."""
    rng = np.random.default_rng(12)
    drawn = [overlap(*rng.normal(size=(2, rows, width)).astype(np.float32)).share for _ in range(40)]
    assert np.mean(drawn) > 1 - np.sqrt(2 / rows / np.pi)


@pytest.mark.parametrize("rows", [ROWS, 150])
def test_the_same_inputs_are_hardly_ever_taken_for_others(rows):
    """Of the first batch after a jump, too, of which one draw in five is below SAME_INPUTS."""
    rng = np.random.default_rng(13)
    drawn = [overlap(*rng.normal(size=(2, rows, 350)).astype(np.float32)) for _ in range(200)]
    assert np.mean([each.surely_other for each in drawn]) <= 0.02
    assert np.mean([each.same for each in drawn]) > 0.5


@pytest.mark.parametrize("shift", [1.0, 2.0])
def test_the_standard_error_of_the_overlap_is_about_that_of_a_simulation(shift):
    rng = np.random.default_rng(15)
    new, old = rng.normal(size=(2, 200, ROWS, 5)).astype(np.float32)
    new[:, :, 0] += np.float32(shift)
    drawn = [overlap(*pair) for pair in zip(new, old, strict=True)]
    spread = np.std([each.share for each in drawn])
    assert np.mean([each.error for each in drawn]) == pytest.approx(spread, rel=0.3)


def test_rows_that_are_all_alike_cannot_be_told_apart():
    same = np.ones((100, 5), np.float32)
    assert overlap(same, same).share == 1.0


@pytest.mark.parametrize("width", [4, 90])
@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0])
def test_overlap_is_twice_the_error_of_leaving_each_row_out(width, shift):
    """Refits of scikit-learn's ridge classifier."""
    new, old = np.random.default_rng(11).normal(size=(2, 20, width)).astype(np.float32)
    new[:, 0] += np.float32(shift)
    both = np.concatenate([new, old]).astype(np.float64)
    both -= both.mean(axis=0)
    y = np.repeat([1, 0], 20)
    model = RidgeClassifier(BATCH_ROWS * np.square(both).mean())
    told = cross_val_predict(model, both, y, cv=LeaveOneOut()) == y
    assert overlap(new, old).share == pytest.approx(min(1.0, 2 * (1 - told.mean())), abs=1e-9)


def test_a_saved_watch_goes_on_the_same_and_damage_is_refused():
    rng = np.random.default_rng(9)
    watch = watched(rng, 20, whole=0.5, short=0.9, kept=0.6)
    watch = watched(rng, 3, known=watch.noted(watch.verdict(1000, covering(1.0))))
    assert DriftWatch.from_state(Saved(watch.state_dict())) == watch
    state = watch.state_dict()
    state["changes"][0]["kind"] = "eaten"
    with pytest.raises(StateError, match="kind must be changed or new task or recurred"):
        DriftWatch.from_state(Saved(state))
