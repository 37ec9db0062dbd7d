"""Every policy of this folder inside a learner: within the budget, repeatable, resumable."""

from __future__ import annotations

import pytest

from helpers import SMALL, assert_same_state, small_batches, small_spec
from smartcl.learners.learner import Learner
from smartcl.learners.recipe import Recipe
from smartcl.memory.pool import Selector
from smartcl.selection.fair_shares import Balanced
from smartcl.selection.gss_iqp import GSSIQP
from smartcl.selection.k_centers import FSSClust, GSSClust
from smartcl.selection.reservoir import Nothing

POLICIES = [Balanced(), FSSClust(), FSSClust(layer="logits"), GSSClust(), GSSIQP(), Nothing()]


def learner_with(selector: Selector, sparse: bool, whole: bool) -> Learner:
    recipe = Recipe(**SMALL, replay=5)
    return Learner(small_spec(sparse), "15 samples", recipe, selector, whole=whole, seed=0)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("selector", POLICIES, ids=lambda selector: type(selector).__name__)
def test_it_keeps_to_the_budget_and_resumes(selector: Selector, sparse: bool, whole: bool) -> None:
    batches = small_batches(6, sparse_rows=sparse)
    straight, resumed = (learner_with(selector, sparse, whole) for _ in range(2))
    for batch in batches[:3]:
        straight.observe(batch)
    resumed.load_state_dict(straight.state_dict())
    for learner in (straight, resumed):
        for batch in batches[3:]:
            learner.observe(batch)
            assert learner.memory.store.nbytes <= learner.memory.budget.nbytes
    assert_same_state(resumed.state_dict(), straight.state_dict())
    assert (len(straight.memory) > 0) == (not isinstance(selector, Nothing))
