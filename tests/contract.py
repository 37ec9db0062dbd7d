"""What every learner promises, checked on a learner that a test builds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from helpers import assert_same_state, small_batches, small_spec
from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Learner

#: ``build(spec, memory, seed)``
Build = Callable[[InputSpec, int, int], Learner]

BUDGET = 900


def assert_keeps_the_contract(build: Build, sparse_rows: bool = False) -> None:
    """Same seed, same learner; the same after a reload; unchanged by an interrupt; inside the budget."""
    spec, batches = small_spec(sparse_rows), small_batches(sparse_rows=sparse_rows)
    straight, again = build(spec, BUDGET, 0), build(spec, BUDGET, 0)
    for batch in batches[:4]:
        straight.observe(batch)
        again.observe(batch)
        assert straight.memory.store.nbytes <= straight.memory.budget.nbytes
    assert_same_state(straight.state_dict(), again.state_dict())
    assert_unchanged_by_an_interrupt(again, batches[4])
    resumed = build(spec, BUDGET, 99)
    resumed.load_state_dict(straight.state_dict())
    for learner in (straight, again, resumed):
        for batch in batches[4:]:
            learner.observe(batch)
        assert (learner.predict_proba(batches[0].x).sum(dim=1) - 1).abs().max() < 1e-5
    assert_same_state(straight.state_dict(), again.state_dict())
    assert_same_state(straight.state_dict(), resumed.state_dict())
    assert (straight.predict_proba(batches[0].x) == resumed.predict_proba(batches[0].x)).all()


def assert_unchanged_by_an_interrupt(learner: Learner, batch: Batch) -> None:
    before = learner.state_dict()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learner.memory.selector, "select", _interrupt, raising=False)
        with pytest.raises(KeyboardInterrupt):
            learner.observe(batch)
    assert_same_state(learner.state_dict(), before)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
