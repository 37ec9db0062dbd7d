"""Tops and fates, against their definitions written out; and on simulated events, where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smartcl.data.spec import InputSpec
from smartcl.learners.methods import build_learner
from smartcl.network.mlp import MLP
from smartcl.paper.datasets.protocols import Simulation
from smartcl.paper.datasets.simulated import simulated_events
from smartcl.paper.experiments.feature_ranking import Career, careers, recovery, top_features
from smartcl.paper.experiments.task_run import learn

few_scores = arrays(np.float64, st.integers(1, 12), elements=st.sampled_from([0.0, 0.5, 1.0, 2.0]))


@given(few_scores, st.integers(1, 15))
def test_the_top_is_the_sorted_list_of_those_above_zero(scores, k):
    positive = [feature for feature, score in enumerate(scores) if score > 0]
    assert top_features(scores, k).tolist() == sorted(positive, key=lambda feature: (-scores[feature], feature))[:k]


def test_a_top_of_none_is_refused():
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        top_features(np.ones(3), 0)


@given(st.lists(st.sets(st.integers(0, 5)), min_size=1, max_size=6))
def test_fates_follow_their_definitions(sets):
    tops = [np.array(sorted(top), dtype=np.int64) for top in sets]
    found = {career.feature: career for career in careers(tops)}
    assert found.keys() == set().union(*sets)
    for feature, career in found.items():
        inside = [feature in top for top in sets]
        assert inside.index(True) == career.first
        assert len(sets) - 1 - inside[::-1].index(True) == career.last
        since = inside[career.first :]
        if not inside[-1]:
            assert career.fate == "vanishes"
        elif not all(since):
            assert career.fate == "returns"
        elif len(since) == 1 < len(inside):
            assert career.fate == "new"
        else:
            assert career.fate == "persists"


def test_careers_come_in_order_of_entrance():
    assert careers([np.array([3, 1]), np.array([2, 1])]) == [
        Career(3, 0, 0, "vanishes"),
        Career(1, 0, 1, "persists"),
        Career(2, 1, 1, "new"),
    ]


SMALL = {"cities": 4, "days": 400, "keywords": 200, "precursors": 12}
#: A threshold on a keyword's gradient: above that of most noise, below that of a precursor. The default forgets none.
STRENGTH = 0.05


def test_both_shares_are_counted_as_they_are_defined():
    events = simulated_events(Simulation(cities=1, days=200, keywords=40, precursors=4))
    network = MLP(InputSpec(events.stream.n_features, 2), (3,), np.random.default_rng(0))
    irrelevant = [k for k in range(events.stream.n_features) if k not in events.planted]
    with torch.no_grad():
        network.first.weight.zero_()
        network.first.weight[events.planted[:2], 0] = 1.0
        network.first.weight[irrelevant[:9]] = 0.1
    shares = recovery(events, network)
    assert shares.found == 2 / len(events.planted)
    assert shares.forgotten == pytest.approx(1 - 9 / len(irrelevant))


@pytest.mark.parametrize("seed", [0, 1])
def test_smart_keeps_the_precursors_and_forgets_the_rest(seed):
    events = simulated_events(Simulation(**SMALL), seed=seed)
    assert events.stream.name.startswith("simulated")
    learner = build_learner(
        "smart", events.stream.spec, "60 samples", seed, alpha=STRENGTH, hidden=(50,), iterations=20, lr=3e-4
    )
    result = learn(learner, events.stream)
    shares = recovery(events, learner.model.network)
    assert shares.found >= 0.8
    assert shares.forgotten >= 0.9
    assert result["auc"] > 0.9
    stored = learner.memory.store.schema.mask
    assert stored[events.planted].mean() >= 0.8
    assert np.delete(stored, events.planted).mean() <= 0.1
