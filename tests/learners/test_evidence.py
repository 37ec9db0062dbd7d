"""What a stream says: duels against counting, jumps, and the pace of learning."""

from __future__ import annotations

import numpy as np
import pytest

from smartcl.learners.evidence import Alertness, Duel, Pace, Record, shares
from smartcl.saved import Saved, StateError


def test_a_duel_is_the_difference_of_the_two_accuracies() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random(1000) < 0.7, rng.random(1000) < 0.8
    duel = Duel()
    for some in np.array_split(np.arange(1000), 20):
        duel = duel.after(first[some], second[some], memory=1.0)
    assert duel.gap == pytest.approx(second.mean() - first.mean())
    alone = (second & ~first).sum(), (first & ~second).sum()
    assert duel.sureness == pytest.approx((alone[0] - alone[1]) / np.sqrt(sum(alone)))  # McNemar's z


def test_equal_contenders_are_seldom_told_apart() -> None:
    rng = np.random.default_rng(1)
    sure = [Duel().after(rng.random(500) < 0.8, rng.random(500) < 0.8, 1.0).sureness for _ in range(300)]
    assert np.mean(np.abs(sure) > 3) < 0.02


def test_errors_that_wander_about_their_mean_do_not_jump_and_a_change_does() -> None:
    rng = np.random.default_rng(2)
    alert, jumps = Alertness(), 0
    for _ in range(300):
        alert = alert.after(rng.binomial(50, 0.15) / 50, 50)
        jumps += alert.jumped
    assert jumps <= 6
    assert alert.after(0.6, 50).jumped


def test_the_pace_falls_where_nothing_changes_and_rises_at_once() -> None:
    rng = np.random.default_rng(3)
    pace = Pace()
    for _ in range(200):
        pace = pace.after(rng.binomial(50, 0.1) / 50, 50, jumped=False)
    assert pace.steps(20) <= 8
    for _ in range(4):
        pace = pace.after(0.7, 50, jumped=False)
    assert pace.steps(20) == 20


def test_evidence_is_saved_and_damage_refused() -> None:
    duel = Duel(1.0, 2.0, 50.0)
    assert Duel.from_state(Saved(duel.state_dict(), "duel")) == duel
    with pytest.raises(StateError):
        Duel.from_state(Saved({**duel.state_dict(), "first": -1.0}, "duel"))


def test_a_record_is_saved_and_damage_refused() -> None:
    record = Record((3.0, 4.0), 5.0)
    assert Record.from_state(Saved(record.state_dict(), "record"), count=2) == record
    for damage in ({"right": [6.0, 1.0]}, {"right": [1.0]}, {"asked": -1.0}):
        with pytest.raises(StateError):
            Record.from_state(Saved({**record.state_dict(), **damage}, "record"), count=2)


def test_shares_fall_by_e_with_each_hundredth_and_small_ones_are_none() -> None:
    assert shares(np.array([0.90, 0.89, 0.80]), asked=1000) == pytest.approx(
        [1 / (1 + np.exp(-1)), 1 / (1 + np.e), 0.0]
    )
