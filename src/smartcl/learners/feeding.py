"""The cut of a call's rows into batches: the same whatever the calls that the rows come in."""

from __future__ import annotations

from collections.abc import Callable

from smartcl.data.batch import Batch, Ints
from smartcl.learners.stream_learner import StreamLearner


def feed(
    learner: StreamLearner,
    take: Callable[[Ints], Batch],
    order: Ints,
    batch_size: int,
    told: Callable[[int], None] = lambda rows: None,
) -> None:
    """Teach rows in this order. The first ones complete the batch that waits, if one does; the last ones may wait."""
    start = 0
    while start < len(order):
        end = min(len(order), start + max(1, batch_size - learner.waiting))
        learner.follow(take(order[start:end]), batch_size, len(order))
        start = end
        told(start)
