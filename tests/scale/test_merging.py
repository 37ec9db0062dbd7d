"""Whole models merged and taken apart again, against one model that learned all rows."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from smartcl import SmartClassifier
from smartcl.learners.ensemble import sampling
from smartcl.memory.union import sample_keys
from smartcl.scale.merging import adds_up, merge_classifiers, shard_of, subtract_classifier

#: Without a network, for these tests are of what adds up; rows of one size each, so that it shows exactly which stay.
SETTINGS = {"memory": "10kB", "members": ["ridge", "logistic", "trees"], "precision": "plain"}


def rows_of(rng, count, columns=6):
    x = rng.normal(size=(count, columns)).astype(np.float32)
    return x, np.array(["low", "mid", "high"])[(x[:, 0] + x[:, 1] > 0).astype(int) + (x[:, 2] > 1.3)]


def state_of(model):
    learner = model.learner_
    return {
        "sums": [sums.matrix() for sums in learner.parts[0].folded().sums],
        "products": learner.parts[0].folded().sums[0].products,
        "samples": np.sort(sample_keys(learner.memory.store)),
        "seen": learner.counts.seen,
    }


def assert_same(one, other, rtol=1e-6):
    one, other = state_of(one), state_of(other)
    assert (one["seen"] == other["seen"]).all()
    np.testing.assert_array_equal(one["samples"], other["samples"])
    np.testing.assert_allclose(one["products"], other["products"], rtol=rtol, atol=1e-6)
    for mine, theirs in zip(one["sums"], other["sums"], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol * np.abs(mine).max())


@pytest.fixture(scope="module")
def fleet():
    """A base of 1,000 rows, three models that went on from it, and all rows."""
    rng = np.random.default_rng(0)
    x, y = rows_of(rng, 2200)
    base = SmartClassifier(**SETTINGS, random_state=0).partial_fit(x[:1000], y[:1000]).flush()
    shards = [shard_of(base, k + 1).partial_fit(x[1000 + k :: 3], y[1000 + k :: 3]).flush() for k in range(3)]
    return base, shards, x, y


def test_sums_of_merged_models_are_those_of_one_machine(monkeypatch):
    """Where no row is held out, so that both have learned the same ones: 1e-6 relative, and ridge answers alike."""
    monkeypatch.setattr(sampling, "HELD_OUT_SHARE", 0.0)
    rng = np.random.default_rng(1)
    x, y = rows_of(rng, 2200)
    base = SmartClassifier(**SETTINGS, random_state=0).partial_fit(x[:1000], y[:1000])
    shards = [shard_of(base, k).partial_fit(x[1000 + k :: 4], y[1000 + k :: 4]) for k in range(4)]
    one, whole = deepcopy(base).partial_fit(x[1000:], y[1000:]), merge_classifiers(shards, base=base)
    mine, theirs = (model.learner_.parts[0].folded() for model in (whole, one))
    assert mine.sums[0].rows == theirs.sums[0].rows == 2200
    scale = np.abs(theirs.sums[0].second).max()
    assert np.abs(mine.sums[0].second - theirs.sums[0].second).max() < 1e-6 * scale
    test, _ = rows_of(rng, 500)
    answers = []
    for ridge, model in ((mine, whole), (theirs, one)):
        view = model.learner_.view(model.learner_.memory.store.gather(np.arange(0)).x.new_tensor(test))
        answers.append(view.features @ ridge.sums[0].weights(1.0))
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-3)


def test_a_merged_model_knows_what_all_know(fleet):
    base, shards, x, y = fleet
    before = [deepcopy(shard.learner_.state_dict()) for shard in shards]
    whole = merge_classifiers(shards, base=base)
    assert whole.learner_.counts.seen.sum() == len(y)
    assert whole.learner_.memory.nbytes <= whole.learner_.memory.budget.nbytes
    one = deepcopy(base).partial_fit(x[1000:], y[1000:])
    test, labels = rows_of(np.random.default_rng(5), 1500)
    assert whole.score(test, labels) > one.score(test, labels) - 0.03
    for shard, state in zip(shards, before, strict=True):  # they stay as they were
        assert str(shard.learner_.state_dict()["rng"]) == str(state["rng"])
        np.testing.assert_array_equal(shard.learner_.memory.store.labels, state["memory"]["store"]["labels"])
    assert whole.learner_.rng.bit_generator.state != shards[0].learner_.rng.bit_generator.state
    whole.partial_fit(test, labels)
    assert whole.score(test, labels) > 0.85


def test_any_order_and_by_and_by(fleet):
    base, shards, *_ = fleet
    whole = merge_classifiers(shards, base=base)
    assert_same(whole, merge_classifiers(shards[::-1], base=base))
    by_and_by = merge_classifiers([merge_classifiers(shards[:2], base=base), shards[2]], base=base)
    assert_same(whole, by_and_by)


def test_a_part_taken_out_was_never_in(fleet):
    base, shards, *_ = fleet
    whole, others = merge_classifiers(shards, base=base), merge_classifiers(shards[:2], base=base)
    left = subtract_classifier(whole, shards[2], base=base)
    mine, theirs = state_of(left), state_of(others)
    np.testing.assert_allclose(mine["sums"][0], theirs["sums"][0], rtol=1e-6, atol=1e-6 * mine["sums"][0].max())
    assert (mine["seen"] == theirs["seen"]).all()
    assert set(mine["samples"]) <= set(theirs["samples"])
    assert not set(mine["samples"]) & (set(sample_keys(shards[2].learner_.memory.store)) - set(theirs["samples"]))
    left.partial_fit(*rows_of(np.random.default_rng(6), 100))


def test_a_merged_model_is_saved_and_loaded(fleet, tmp_path):
    base, shards, *_ = fleet
    whole = merge_classifiers(shards, memory="5kB", base=base)
    assert whole.learner_.memory.nbytes <= 5000
    whole.save(tmp_path)
    test, _ = rows_of(np.random.default_rng(7), 50)
    again = SmartClassifier.load(tmp_path)
    np.testing.assert_array_equal(again.predict_proba(test), whole.predict_proba(test))
    more = rows_of(np.random.default_rng(8), 120)
    np.testing.assert_array_equal(
        again.partial_fit(*more).predict_proba(test), whole.partial_fit(*more).predict_proba(test)
    )


def test_models_without_a_base_are_made_anew_from_all_samples():
    """Each with its own scale: sums do not add up. Classes that only one of them had are known."""
    rng = np.random.default_rng(2)
    x, y = rows_of(rng, 1800)
    of = [np.flatnonzero(y != "high"), np.flatnonzero(y != "low")]
    apart = [
        SmartClassifier(**{**SETTINGS, "memory": "30kB"}, random_state=k).partial_fit(x[at], y[at])
        for k, at in enumerate(of)
    ]
    whole = merge_classifiers(apart)
    assert whole.classes_.tolist() == ["high", "low", "mid"]
    assert whole.learner_.counts.seen.tolist() == [
        int(sum((y[at] == name).sum() for at in of)) for name in whole.classes_
    ]
    test, labels = rows_of(rng, 1000)
    told = whole.predict(test)
    assert min((told[labels == name] == name).mean() for name in whole.classes_) > 0.6
    assert_same(whole, merge_classifiers(apart[::-1]), rtol=1e-2)


def test_a_shard_of_another_kind_of_rows_stays_in_the_scale_of_the_base(fleet):
    """A column that is constant in one shard, and far off in another: sums add up all the same."""
    base, _, x, y = fleet
    x, y = x[:700], y[:700]
    odd = [x.copy() for _ in range(2)]
    odd[0][:, 3], odd[1][:, 3] = 1.0, 50.0
    shards = [shard_of(base, k).partial_fit(rows, y) for k, rows in enumerate(odd)]
    own = [deepcopy(base).partial_fit(rows, y) for rows in odd]
    assert adds_up([base, *shards])
    assert not adds_up([base, *own])
    whole = merge_classifiers(shards, base=base)
    assert whole.learner_.counts.total == 1000 + 2 * len(y)
    assert whole.score(x, y) > 0.8


def test_ids_weights_and_members_of_ones_own(tmp_path):
    rng = np.random.default_rng(3)
    x, y = rows_of(rng, 900)
    settings = {**SETTINGS, "members": ["ridge", "trees", SGDClassifier(loss="log_loss", random_state=0)]}
    apart = [
        SmartClassifier(**settings, random_state=k).partial_fit(
            x[k::2], y[k::2], ids=np.arange(900)[k::2], sample_weight=np.full(450, 1.0 + k)
        )
        for k in range(2)
    ]
    whole = merge_classifiers(apart)
    kept = whole.learner_.memory.store.extra["id"]
    assert {0, 1} == set((kept % 2).tolist())
    assert whole.forget(kept[:5]) == 5
    assert whole.score(x, y) > 0.8


def test_newest_rows_are_those_of_the_last_model_in_turn():
    rng = np.random.default_rng(4)
    x, y = rows_of(rng, 1200)
    months = [SmartClassifier(**SETTINGS, random_state=k).partial_fit(x[k::3], y[k::3]).flush() for k in range(3)]
    last = set(sample_keys(months[2].learner_.memory.store))

    def newest(model):
        return sum(key in last for key in sample_keys(model.learner_.memory.store)[-60:].tolist())

    assert newest(merge_classifiers(months, in_turn=True)) == 60
    assert 10 < newest(merge_classifiers(months)) < 30


def test_what_cannot_be_merged_is_refused_with_the_reason(fleet):
    base, shards, x, y = fleet
    other = SmartClassifier(**SETTINGS, random_state=1).partial_fit(x[:, :5], y)
    named = SmartClassifier(memory="10kB", method="smart", random_state=1).partial_fit(x[:100], y[:100])
    numbers = SmartClassifier(**SETTINGS, random_state=1).partial_fit(x[:100], (y[:100] == "mid").astype(int))
    fixed = SmartClassifier(**SETTINGS, random_state=1).partial_fit(x[:99], np.repeat(["a", "b"], [50, 49]), ["a", "b"])
    refused = [
        ([], {}, "at least one"),
        (shards, {}, "give it as base"),
        ([shards[0], SmartClassifier()], {}, "learned nothing yet"),
        ([shards[0], other], {}, "n_features is 5"),
        ([shards[0], named], {}, "method 'adaptive', got 'smart'"),
        ([shards[0], numbers], {}, "y must hold text"),
        ([shards[0], fixed], {}, "labels outside classes"),
        ([base], {"base": shards[0]}, "more than a model"),
        ([shards[0], other], {"base": base}, "n_features"),
    ]
    for models, others, reason in refused:
        with pytest.raises(ValueError, match=reason):
            merge_classifiers(models, **others)
    with pytest.raises(ValueError, match="one base"):
        subtract_classifier(shards[0], SmartClassifier(**SETTINGS, random_state=9).partial_fit(x[:500], y[:500]))
    with pytest.raises(ValueError, match="more rows of a class"):
        subtract_classifier(base, shards[0])


def test_one_seed_is_said(fleet):
    _, _, x, y = fleet
    apart = [SmartClassifier(**SETTINGS, random_state=0).partial_fit(x[k::2], y[k::2]) for k in range(2)]
    with pytest.warns(UserWarning, match="random_state"):
        merge_classifiers(apart)
