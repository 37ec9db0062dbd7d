"""Which features a model's answers depend on: how far they move when a sample has the value of another one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from scipy import sparse

from smartcl.data.batch import Doubles, Ints, Rows
from smartcl.learners.stream_learner import StreamLearner
from smartcl.memory.export import stored_rows
from smartcl.network.inputs import SparseInput

#: How many stored samples are asked, and about how many features.
SAMPLES, FEATURES = 250, 64


def influences(learner: StreamLearner, rng: np.random.Generator) -> dict[int, float]:
    """By feature, for those that may matter most: how far, in the mean over stored samples, the answers move.

    A distance of answers is half the sum of the differences of their probabilities: 0 is none, 1 another class for
    sure. A feature that is the same in all samples moves nothing, however large its weights are.
    """
    store = learner.memory.store
    if len(store) < 2:
        return {}
    index = rng.choice(len(store), min(SAMPLES, len(store)), replace=False)
    rows = stored_rows(store, index)
    weights = learner.feature_weights()
    asked = np.argsort(-(weights * spreads(learner, rows)), kind="stable")[:FEATURES]
    return dict(zip(asked.tolist(), moved_answers(learner.predict_proba, rows, asked), strict=True))


def moved_answers(answers: Callable[[Rows], torch.Tensor], rows: Rows, features: Ints) -> list[float]:
    """How far answers move, in the mean, if each row has the next one's value of a feature, for each of these.

    >>> rows = torch.tensor([[0.0, 5.0], [1.0, 5.0]])
    >>> moved_answers(lambda x: torch.stack([x[:, 0], 1 - x[:, 0]], dim=1), rows, np.array([0, 1]))
    [1.0, 0.0]
    """
    before = answers(rows)
    after = (answers(with_next_value(rows, int(feature))) for feature in features)
    return [float((before - each).abs().sum(dim=1).mean()) / 2 for each in after]


def with_next_value(rows: Rows, feature: int) -> Rows:
    """Rows that have the next one's value of this feature, the last one the first one's.

    >>> with_next_value(torch.tensor([[1, 7], [2, 8], [3, 9]]), 0)
    tensor([[2, 7],
            [3, 8],
            [1, 9]])
    """
    if isinstance(rows, torch.Tensor):
        changed = rows.clone()
        changed[:, feature] = rows[:, feature].roll(-1)
        return changed
    entries = rows.tocoo()
    its_row = np.where(entries.col == feature, (entries.row - 1) % rows.shape[0], entries.row)
    return sparse.csr_array((entries.data, (its_row, entries.col)), shape=rows.shape)


def spreads(learner: StreamLearner, rows: Rows) -> Doubles:
    """The standard deviation of each feature among these rows, as the network sees them."""
    seen = learner.prepared(rows)
    if isinstance(seen, SparseInput):
        values = seen.to_scipy().astype(np.float64)
        mean = np.asarray(values.mean(axis=0)).ravel()
        return np.sqrt(np.maximum(np.asarray(values.power(2).mean(axis=0)).ravel() - mean**2, 0.0))
    assert isinstance(seen, torch.Tensor)
    spread: Doubles = seen.double().std(dim=0, correction=0).numpy()
    return spread
