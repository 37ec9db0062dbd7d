"""How much of a simulation's planted truth a network found, and how much of the rest it forgot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smartcl.network.mlp import MLP
from smartcl.paper.datasets.simulated import SimulatedEvents
from smartcl.paper.experiments.feature_ranking import top_features


@dataclass(frozen=True)
class Recovery:
    """Two shares: of the planted precursors found, and of the irrelevant keywords forgotten."""

    found: float
    forgotten: float


def recovery(events: SimulatedEvents, network: MLP) -> Recovery:
    """Found: among as many top features by group norm as were planted. Forgotten: without any weight left."""
    planted = events.planted
    top = top_features(network.group_norms().numpy(), len(planted))
    irrelevant = np.setdiff1d(np.arange(events.stream.n_features), planted)
    return Recovery(
        found=float(np.isin(planted, top).mean()),
        forgotten=float((~network.alive().numpy()[irrelevant]).mean()),
    )
