"""How much each answer counts: the fit against a general optimiser of the same loss, its bounds, what it is worth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from smartcl.learners.ensemble.settings import ACCURACY_WEIGHT, NO_SHIFT, PRIOR_ROWS, RECENT_ROWS
from smartcl.learners.ensemble.weighting import Answered, Weights, newest, softmax, trust
from smartcl.saving.saved import Saved, StateError


def made(seed, rows=300, n_classes=3, noises=(0.5, 1.0, 3.0, 10.0), bias=0.0, weighted=False):
    """Experts that see each row's scores through more or less noise; one class is answered too seldom by ``bias``."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, rows)
    scores = 2 * np.eye(n_classes)[y][:, None] + np.array(noises)[:, None] * rng.normal(
        size=(rows, len(noises), n_classes)
    )
    scores[..., 0] -= bias
    weight = rng.uniform(0.1, 3, rows) if weighted else np.ones(rows)
    return Answered(log_softmax(scores, axis=2).astype(np.float32), y, weight.astype(np.float32))


def loss(parameters, answered, prior):
    """The penalised log loss, written down from the module's description alone."""
    n = answered.logs.shape[1]
    w, b = parameters[:n], parameters[n:]
    scores = np.einsum("rkc,k->rc", answered.logs.astype(np.float64), w) + b
    losses = logsumexp(scores, axis=1) - scores[np.arange(len(scores)), answered.y]
    return losses @ answered.weight + PRIOR_ROWS / 2 * np.square(w - prior).sum() + NO_SHIFT / 2 * np.square(b).sum()


def best(answered):
    n, n_classes = answered.logs.shape[1:]
    start = np.concatenate([np.full(n, 1 / n), np.zeros(n_classes)])
    bounds = [(0, None)] * n + [(None, None)] * n_classes
    found = minimize(loss, start, (answered, trust(answered)), method="L-BFGS-B", bounds=bounds, tol=1e-10)
    return found.x, float(found.fun)


def settled(answered, steps=30):
    weights = Weights.equal(*answered.logs.shape[1:])
    for _ in range(steps):
        weights = weights.fitted(answered)
        assert (weights.experts >= 0).all()
    return weights


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.booleans(), st.floats(0, 3))
@settings(max_examples=15)
def test_newton_s_steps_end_at_the_optimum(seed, n_classes, weighted, bias):
    answered = made(seed, n_classes=n_classes, weighted=weighted, bias=bias)
    weights = settled(answered)
    parameters, least = best(answered)
    got = loss(np.concatenate([weights.experts, weights.classes]), answered, trust(answered))
    assert got <= least + 1e-3 * abs(least)
    np.testing.assert_allclose(weights.experts, parameters[: len(weights.experts)], atol=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_experts_that_are_surely_wrong_count_nothing_and_the_others_nearly_their_best(seed):
    """Three of the six are pushed to the bound, where a step that is cut off may stop: 0.003 nats a row, measured."""
    answered = made(seed, noises=(0.5, 1.0, 2.0, 0.5, 0.7, 1.0))
    turned = answered.logs.copy()
    turned[:, 3:] = np.roll(turned[:, 3:], 1, axis=2)
    answered = Answered(turned, answered.y, answered.weight)
    weights, (parameters, least) = settled(answered), best(answered)
    got = loss(np.concatenate([weights.experts, weights.classes]), answered, trust(answered))
    assert got <= least + 0.005 * len(answered)
    np.testing.assert_array_equal(weights.experts[3:], 0)
    np.testing.assert_allclose(parameters[3:6], 0, atol=1e-6)


def test_a_step_never_raises_the_loss():
    rng = np.random.default_rng(0)
    for seed in range(20):
        answered = made(seed, noises=(0.1, 20.0, 5.0), bias=2.0, weighted=True)
        weights = Weights(rng.exponential(2, 3), rng.normal(size=3))
        for _ in range(5):
            after = weights.fitted(answered)
            mine, before = (
                loss(np.concatenate([w.experts, w.classes]), answered, trust(answered)) for w in (after, weights)
            )
            assert mine <= before + 1e-6
            weights = after


def test_several_steps_are_so_many_single_ones():
    answered = made(1)
    equal = Weights.equal(4, 3)
    np.testing.assert_array_equal(
        equal.refitted(answered).experts, equal.fitted(answered).fitted(answered).fitted(answered).experts
    )
    assert equal.fitted(Answered.none(4, 3)) is equal


def test_the_pool_is_a_product_of_powers():
    """By its formula, in one line, against the explicit product."""
    rng = np.random.default_rng(2)
    answered, weights = made(2, rows=20), Weights(rng.exponential(1, 4), rng.normal(size=3))
    product = np.exp(weights.classes) * (np.exp(answered.logs.astype(float)) ** weights.experts[:, None]).prod(axis=1)
    np.testing.assert_allclose(weights.pooled(answered.logs), product / product.sum(axis=1, keepdims=True), rtol=1e-5)
    expected = -np.log(weights.pooled(answered.logs)[np.arange(20), answered.y])
    np.testing.assert_allclose(weights.losses(answered), expected, rtol=1e-5)
    huge = softmax(np.array([[1e4, 0.0], [-1e4, -1e4]]))
    np.testing.assert_allclose(huge, [[1, 0], [0.5, 0.5]])


def test_trust_follows_accuracy():
    """Ten rows of which the experts answer eight, six and none: ratios of exp(60 times the difference)."""
    logs = np.log(np.full((10, 3, 2), 0.1, np.float32))
    for expert, right in enumerate((8, 6, 0)):
        logs[:right, expert, 1] = logs[right:, expert, 0] = np.log(0.9)
    answered = Answered(logs, np.ones(10, np.int64), np.ones(10, np.float32))
    expected = np.exp(ACCURACY_WEIGHT * (np.array([0.8, 0.6, 0.0]) - 0.8))
    np.testing.assert_allclose(trust(answered), expected / expected.sum(), rtol=1e-3)
    assert trust(answered).sum() == pytest.approx(1)


def test_weighed_rows_are_rows_so_many_times():
    answered = made(3, rows=80)
    count = np.random.default_rng(3).integers(0, 4, 80)
    weighed = settled(Answered(answered.logs, answered.y, count.astype(np.float32)))
    some = np.arange(80).repeat(count)
    repeated = settled(Answered(answered.logs[some], answered.y[some], np.ones(len(some), np.float32)))
    np.testing.assert_allclose(weighed.experts, repeated.experts, atol=1e-6)
    np.testing.assert_allclose(weighed.classes, repeated.classes, atol=1e-6)


def test_what_an_expert_is_worth_is_what_the_loss_would_be_without():
    """Against a fit from scratch of the others alone, and the standard error against draws of other rows."""
    answered = made(4, rows=600, noises=(1.5, 2.0, 30.0))
    weights = settled(answered)
    for expert in range(3):
        rest = [each for each in range(3) if each != expert]
        alone = Answered(np.ascontiguousarray(answered.logs[:, rest]), answered.y, answered.weight)
        rise = settled(alone).losses(alone).mean() - weights.losses(answered).mean()
        assert weights.worth(answered, slice(expert, expert + 1))[0] == pytest.approx(rise, abs=0.01)
    rises, errors = [], []
    for seed in range(60):
        again = made(100 + seed, rows=200, noises=(1.5, 2.0, 30.0))
        rise, error = weights.worth(again, slice(0, 1))
        rises.append(rise)
        errors.append(error)
    assert np.mean(errors) == pytest.approx(np.std(rises), rel=0.4)


def test_one_that_only_repeats_another_is_worth_nothing():
    answered = made(5, noises=(1.0, 1.0))
    answered.logs[:, 1] = answered.logs[:, 0]
    rise, error = settled(answered).worth(answered, slice(1, 2))
    assert abs(rise) < 0.03
    assert rise < max(0.005, 2 * error) + 0.03


def test_newer_answers_count_more_and_only_so_many_are_kept():
    answered, later = made(6, rows=2 * RECENT_ROWS), made(7, rows=50)
    both = newest(answered, later)
    assert len(both) == 2 * RECENT_ROWS
    np.testing.assert_array_equal(both.logs[-50:], later.logs)
    np.testing.assert_array_equal(both.y[:-50], answered.y[50:])
    np.testing.assert_allclose(both.weight[:-50], (1 - 1 / RECENT_ROWS) ** 50, rtol=1e-6)
    np.testing.assert_array_equal(both.weight[-50:], 1)


def test_a_class_nobody_had_thought_of_gets_what_the_least_likely_had():
    answered = made(8, rows=10)
    wider = answered.widened(5)
    assert wider.logs.shape == (10, 4, 5)
    np.testing.assert_array_equal(wider.logs[..., :3], answered.logs)
    np.testing.assert_array_equal(wider.logs[..., 3], answered.logs.min(axis=2))
    assert Answered.none(4, 3).widened(5).logs.shape == (0, 4, 5)
    assert Weights.equal(4, 3).widened(5).pooled(wider.logs).shape == (10, 5)


def test_saved_states_read_back_and_damage_is_refused():
    answered = made(9, rows=30)
    again = Answered.none(4, 3).loaded(Saved(answered.state_dict()))
    for name, values in answered.state_dict().items():
        np.testing.assert_array_equal(getattr(again, name), values)
    weights = settled(answered)
    np.testing.assert_array_equal(Weights.equal(4, 3).loaded(Saved(weights.state_dict())).experts, weights.experts)
    with pytest.raises(StateError, match="labels below 3"):
        Answered.none(4, 3).loaded(Saved({**answered.state_dict(), "y": np.full(30, 3)}))
    with pytest.raises(StateError, match="experts must not be negative"):
        Weights.equal(4, 3).loaded(Saved({**weights.state_dict(), "experts": -np.ones(4)}))
