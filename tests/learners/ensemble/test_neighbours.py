"""Nearest neighbours against scikit-learn's, dense by distance and sparse by cosine, with the same votes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from made_samples import past, samples
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from smartcl.learners.ensemble.neighbours import Neighbours, squared_distances, unit_rows
from smartcl.learners.ensemble.settings import LEAST, NEIGHBOUR_ROWS, NEIGHBOURS


def nearer_counts_more(distances):
    """The votes' weights, from distances as scikit-learn knows them."""
    squared = distances**2
    return 1 / (squared + 0.1 * squared.mean(axis=1, keepdims=True) + 1e-9)


def shares_of(recent, asked, n_classes):
    """What the member says, one answer for each number of newest rows."""
    logs = Neighbours().answers(samples(asked, np.zeros(asked.shape[0])).rows, recent)
    assert logs.shape == (asked.shape[0], len(NEIGHBOUR_ROWS), n_classes)
    return np.exp(logs)


def clipped(shares):
    """As what is said to be impossible is only rare."""
    raised = np.maximum(shares, LEAST)
    return raised / raised.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("stored", [9, 700, 2600])
def test_dense_rows_by_distance(stored):
    rng = np.random.default_rng(0)
    x, asked = rng.normal(size=(stored, 5)).astype(np.float32), rng.normal(size=(40, 5)).astype(np.float32)
    y = rng.integers(0, 3, stored)
    y[-7:] = 0, 1, 2, 0, 1, 2, 0
    got = shares_of(past(x, y, n_classes=3), asked, 3)
    for place, count in enumerate(NEIGHBOUR_ROWS):
        theirs = KNeighborsClassifier(NEIGHBOURS, weights=nearer_counts_more).fit(x[-count:], y[-count:])
        np.testing.assert_allclose(got[:, place], clipped(theirs.predict_proba(asked)), atol=2e-3)


def test_sparse_rows_by_cosine():
    """Two minus twice the cosine is the squared distance of rows of length one."""
    rng = np.random.default_rng(1)
    dense = (rng.random((300, 40)) * (rng.random((300, 40)) < 0.2)).astype(np.float32)
    dense[:, 0] = rng.uniform(0.1, 1, 300)
    x, asked, y = sparse.csr_array(dense[:260]), sparse.csr_array(dense[260:]), rng.integers(0, 2, 260)
    got = shares_of(past(x, y), asked, 2)
    units = dense / np.linalg.norm(dense, axis=1, keepdims=True)
    for place, count in enumerate(NEIGHBOUR_ROWS):
        theirs = KNeighborsClassifier(NEIGHBOURS, weights=nearer_counts_more)
        theirs.fit(units[:260][-count:], y[-count:])
        np.testing.assert_allclose(got[:, place], clipped(theirs.predict_proba(units[260:])), atol=2e-3)
    np.testing.assert_allclose(unit_rows(x).toarray(), units[:260], atol=1e-6)


def test_an_empty_row_is_as_far_from_all():
    rows = sparse.csr_array(np.array([[0.0, 0.0], [0.0, 2.0]], np.float32))
    torch.testing.assert_close(squared_distances(rows, rows), torch.tensor([[2.0, 2.0], [2.0, 0.0]]))


def test_a_sample_of_weight_five_votes_as_five():
    """Weighed votes by loops; one sample that lies on the row asked about outvotes the rest."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(50, 3)).astype(np.float32), rng.integers(0, 2, 50)
    asked, weight = rng.normal(size=(20, 3)).astype(np.float32), rng.choice([1.0, 5.0], 50)
    got = shares_of(past(x, y, weight=weight), asked, 2)
    for row, answer in zip(asked.astype(np.float64), got, strict=True):
        squared = np.square(x - row).sum(axis=1)
        near = np.argsort(squared)[:NEIGHBOURS]
        votes = weight[near] / (squared[near] + 0.1 * squared[near].mean() + 1e-9)
        share = votes[y[near] == 1].sum() / votes.sum()
        np.testing.assert_allclose(answer[0], clipped(np.array([[1 - share, share]]))[0], atol=2e-3)
    on_the_spot = shares_of(past(x, y), x[:5], 2)
    assert (on_the_spot[:, 0].argmax(axis=1) == y[:5]).all()


@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_a_factor_common_to_all_weights_changes_nothing(unit):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(50, 3)).astype(np.float32), rng.integers(0, 2, 50)
    plain, scaled = (shares_of(past(x, y, weight=np.full(50, each)), x, 2) for each in (1.0, unit))
    np.testing.assert_allclose(scaled, plain, rtol=1e-4)


def test_seven_rows_in_one_spot_vote_evenly():
    x = np.ones((NEIGHBOURS, 3), np.float32)
    got = shares_of(past(x, [0, 0, 0, 0, 1, 1, 1]), x[:1], 2)
    np.testing.assert_allclose(got[0, 0], [4 / 7, 3 / 7], atol=1e-4)


def test_before_there_are_enough_all_classes_are_alike():
    x = np.ones((NEIGHBOURS - 1, 3), np.float32)
    np.testing.assert_allclose(shares_of(past(x, np.zeros(6)), x, 2), 0.5)
    assert Neighbours().nbytes == 0
