"""Every penalty inside a learner holds the weights back; what else all of them promise is in test_contracts."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from helpers import SMALL, small_batches, small_spec
from smartcl.data.batch import Batch
from smartcl.learners.learner import Learner
from smartcl.learners.methods import METHODS
from smartcl.regularizers.l2 import L2

every_penalty = pytest.mark.parametrize("method", ["l2", "ewc", "ewc-online", "si", "mas", "ncc"])
every_kind = pytest.mark.parametrize("kind", ["dense", "sparse", "table"])


def learner_of(method: str, kind: str = "dense", **settings: Any) -> Learner:
    return METHODS[method].learner(small_spec(kind != "dense"), "40 samples", 0, **{**SMALL, **settings})


def learn(learner: Learner, batches: list[Batch]) -> None:
    for batch in batches:
        learner.observe(batch)
    learner.end_task(batches[-1])


@every_penalty
@pytest.mark.parametrize(("replay", "consolidate"), [(0, "task"), (5, "batch")])
@every_kind
def test_it_learns_and_holds_back(
    method: str, replay: int, consolidate: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a strength, the weights stay nearer to where the first task left them than without."""
    if kind == "table":
        monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    batches = small_batches(6, sparse_rows=kind != "dense")
    moved = []
    for strength in (0.0, 1e4):
        learner = learner_of(method, kind, replay=replay, consolidate=consolidate, strength=strength)
        learn(learner, batches[:3])
        before = {name: value.clone() for name, value in learner.model.network.full_weights().items()}
        learn(learner, batches[3:])
        after = learner.model.network.full_weights()
        moved.append(sum(float((after[name][: len(old)] - old).square().sum()) for name, old in before.items()))
        assert (len(learner.memory) > 0) == (replay > 0)
    assert moved[1] < moved[0]


def test_l2_is_the_squared_distance() -> None:
    learner = learner_of("l2", strength=0.5)
    learn(learner, small_batches(2))
    (penalty,) = learner.model.regularizers
    assert isinstance(penalty, L2)
    before = {name: value.clone() for name, value in learner.model.network.full_weights().items()}
    learner.observe(small_batches(3)[2])
    expected = sum(
        float((value.double() - before[name].double()).square().sum())
        for name, value in learner.model.network.full_weights().items()
    )
    assert penalty.penalty(learner.model.network).item() == pytest.approx(0.5 * expected, rel=1e-5)
    assert torch.equal(penalty.importance["first.bias"], torch.ones(12))
