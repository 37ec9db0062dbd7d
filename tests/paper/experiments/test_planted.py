"""On simulated events, where the truth is known: SMART finds what announces events and forgets the rest."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from smartcl.data.spec import InputSpec
from smartcl.learners.methods import build_learner
from smartcl.network.mlp import MLP
from smartcl.paper.datasets.simulated import Simulation, simulated_events
from smartcl.paper.experiments.planted import recovery
from smartcl.paper.experiments.run import learn

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
