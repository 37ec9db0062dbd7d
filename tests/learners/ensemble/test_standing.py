"""How members stand, and bytes by part: against what the learner holds and against answers counted by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from made_samples import blobs

from smartcl import SmartClassifier
from smartcl.learners.ensemble.standing import Standing, Standings, Stopwatch


def taught(rows: int = 600) -> SmartClassifier:
    x, y = blobs(np.random.default_rng(0), rows)
    model = SmartClassifier("20kB", random_state=0)
    return model.partial_fit(x, y)


def test_every_member_is_told_with_its_weight_bytes_and_time():
    learner = taught().learner_
    told = {standing.name: standing for standing in learner.members}
    assert list(told) == ["ridge", "logistic", "neighbours", "trees", "network"]
    assert sum(standing.weight for standing in told.values()) == pytest.approx(1)
    assert sum(standing.time_share for standing in told.values()) == pytest.approx(1)
    parts = learner.bytes_by_part
    assert {name: parts[name] for name in told} == {name: standing.nbytes for name, standing in told.items()}
    assert parts["memory"] == learner.memory.store.nbytes


def test_a_member_alone_is_as_right_as_its_answers_before_learning():
    """Trees give one answer, so that their accuracy can be counted without any weights."""
    learner = taught().learner_
    at = learner.experts.index("trees: trees of 3000")
    present = learner.evidence.present
    right = (present.logs[:, at].argmax(axis=1) == present.y).mean()
    assert {each.name: each for each in learner.members}["trees"].accuracy == pytest.approx(right)


def test_nothing_is_known_of_members_before_the_first_answers():
    x, y = blobs(np.random.default_rng(0), 50)
    members = SmartClassifier("20kB", random_state=0).partial_fit(x, y).learner_.members
    assert {standing.accuracy for standing in members} == {None}
    assert "no answer yet" in repr(members)


def test_standings_are_plain_values_and_one_line_each():
    told = Standings([Standing("ridge", 0.5, 0.9, 2048, 0.25), Standing("trees", 0.5, None, 0, None)])
    assert repr(told).splitlines()[0] == "ridge: weight 0.50, 90.0% right, 2.05 kB, 25% of the time"
    assert json.loads(json.dumps([each.as_dict() for each in told]))[1]["accuracy"] is None


def test_a_stopwatch_that_measured_nothing_has_no_shares():
    assert Stopwatch().shares() == {}


def test_time_is_no_part_of_the_state():
    """Two learners that took other times are the same learner."""
    first, second = taught(), taught()
    assert first.learner_.clock.seconds != second.learner_.clock.seconds
    assert "clock" not in first.learner_.state_dict()
    x, _ = blobs(np.random.default_rng(1), 20)
    np.testing.assert_array_equal(first.predict_proba(x), second.predict_proba(x))
