"""What a stream says: duels against counting, jumps, and the pace of learning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from smartcl.learners.evidence import Duel, Evidence, Likeness, Record, shares
from smartcl.learners.pace import LEAST, YOUNG_STREAM, Alertness, Pace, excess
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


@pytest.mark.parametrize("usual", [0.02, 0.06, 0.15, 0.4])
def test_an_excess_is_as_seldom_at_a_small_share_as_at_a_large_one(usual: float) -> None:
    """By the exact binomial tails: a batch 3 standard errors above is one in some hundreds, wherever the share lies."""
    wrong = np.arange(51)
    jumps = wrong[[excess(each / 50, usual, 50) > 3 for each in wrong]]
    assert 1e-5 < binom.sf(jumps.min() - 1, 50, usual) < 0.004


def test_guards_come_first_where_some_inputs_are_new_and_much_is_unknown() -> None:
    """A lead of one point in a hundred counts where inputs are the same; elsewhere not, if half of all is not known."""
    lead = Record((50.0, 51.0), 100.0)
    evidence = Evidence(past=lead, present=lead)
    same, other = (replace(evidence, likeness=Likeness(common, 1.0)).merit(False) for common in (1.0, 0.8))
    assert same[0] < same[1]
    assert other[0] > other[1]


def test_the_pace_falls_where_nothing_changes_and_rises_at_once() -> None:
    rng = np.random.default_rng(3)
    pace = Pace()
    for _ in range(200):
        pace = pace.after(rng.binomial(50, 0.1) / 50, 50, jumped=False)
    assert pace.share < 0.1
    assert pace.after(0.7, 50, jumped=False).share == 1


def test_a_rise_that_is_no_surprise_brings_the_steps_back_one_by_one() -> None:
    pace = Pace(level=0.1, quick=0.1, slow=0.1, batches=200, calm=100, share=LEAST)
    shares = [(pace := pace.after(0.2, 50, jumped=False)).share for _ in range(20)]
    assert shares[0] < 2 * LEAST
    assert shares[-1] == 1


def test_nothing_is_slowed_while_steps_teach_nor_in_a_young_stream() -> None:
    teaching = calm = Pace()
    for _ in range(300):
        teaching = teaching.after(0.1, 50, jumped=False, teaches=True)
    assert teaching.share == 1
    for _ in range(YOUNG_STREAM):
        calm = calm.after(0.1, 50, jumped=False, teaches=False)
    assert calm.share == 1
    assert calm.after(0.1, 50, jumped=False, teaches=False).share < 1
    assert calm.after(0.1, 50, jumped=False, teaches=True).share == 1


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
