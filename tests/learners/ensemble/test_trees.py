"""Trees: their text is they, missing classes, weights, when they are fitted, and how it goes without LightGBM."""

from __future__ import annotations

import builtins
import warnings
from dataclasses import replace

import numpy as np
import pytest
from made_samples import batches_of, blobs, past, samples

from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble import trees
from smartcl.learners.ensemble.drift import CHANGED, Change
from smartcl.learners.ensemble.settings import BATCH_ROWS, LEAST, LOOK_ROWS, SETTLED_ROWS
from smartcl.learners.ensemble.trees import Trees
from smartcl.learners.methods import METHODS
from smartcl.saving.saved import Saved, StateError

RNG = np.random.default_rng


def shares(member, x, known):
    """Probabilities ``[row, class]``."""
    found = np.exp(member.answers(samples(x, np.zeros(len(x))).rows, known))
    assert found.shape[1] == 1
    return found[:, 0]


def quarters(rows, seed=0, n_classes=2):
    """Labels that no plane tells: the sign of a product."""
    x = RNG(seed).uniform(-1, 1, (rows, 3)).astype(np.float32)
    return x, (x[:, 0] * x[:, 1] > 0).astype(np.int64) * (n_classes - 1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_text_reads_back_to_the_same_answers_bit_for_bit(n_classes):
    x, y = blobs(RNG(0), 400, n_classes=n_classes)
    known = past(x, y, n_classes)
    member = Trees().fitted(known.recent, known.rng)
    again = Trees().loaded(Saved(member.state_dict()))
    np.testing.assert_array_equal(shares(again, x, known), shares(member, x, known))
    assert again.nbytes == member.nbytes == len(member.text)
    twin = Trees().fitted(known.recent, RNG(0))  # the same samples and the same generator
    assert twin.text == member.text


def test_they_see_what_no_plane_tells():
    x, y = quarters(800)
    other, labels = quarters(300, seed=1)
    known = past(x, y)
    got = shares(Trees().fitted(known.recent, known.rng), other, known)
    assert (got.argmax(axis=1) == labels).mean() > 0.93
    np.testing.assert_allclose(got.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("came", [(0, 3), (1, 2, 4)])
def test_classes_that_are_not_there_are_only_rare(came):
    """Two of five classes, or three: the others keep the least share, those that came their places."""
    x, y = blobs(RNG(1), 300, n_classes=len(came))
    labels = np.array(came)[y]
    known = past(x, labels, n_classes=5)
    got = shares(Trees().fitted(known.recent, known.rng), x, known)
    missing = np.setdiff1d(np.arange(5), came)
    np.testing.assert_allclose(got[:, missing], got[:, missing].max(), rtol=0.1)
    assert got[:, missing].max() <= LEAST
    assert (got.argmax(axis=1) == labels).mean() > 0.9


def test_weights_move_the_border():
    """Labels of pure noise: a class that weighs nine times as much gets most of the answers."""
    rng = RNG(2)
    x, y = rng.normal(size=(1000, 3)).astype(np.float32), rng.integers(0, 2, 1000)
    known, upweighted = past(x, y), past(x, y, weight=np.where(y == 1, 9.0, 1.0))
    other = rng.normal(size=(500, 3)).astype(np.float32)
    even, more = (shares(Trees().fitted(each.recent, RNG(0)), other, each)[:, 1].mean() for each in (known, upweighted))
    assert even == pytest.approx(0.5, abs=0.06)
    assert more == pytest.approx(0.9, abs=0.1)


def test_refits_come_when_so_many_rows_have_come_at_first_sooner():
    x, y = blobs(RNG(3), 1500)
    member, fits = Trees(), []
    for start in range(0, 1500, 25):
        known = past(x[: start + 1], y[: start + 1])
        member = member.learn(samples(x[start : start + 25], y[start : start + 25]), known)
        fits.append(member.fitted_at)
    at = [each for each in dict.fromkeys(fits) if each]
    assert at[0] == BATCH_ROWS + 25  # what is stored before this batch is one row too few at first
    gaps = np.diff(at)
    assert (gaps[: (np.array(at) < LOOK_ROWS).sum() - 1] >= at[0]).all()
    assert (gaps[-3:] == LOOK_ROWS).all()
    assert member.rows == 1500


def test_samples_of_one_class_or_too_few_are_no_trees():
    x, y = blobs(RNG(4), 200)
    for few, labels in ((x[: BATCH_ROWS - 1], y[: BATCH_ROWS - 1]), (x, np.zeros(200))):
        known = past(few, labels)
        member = Trees().learn(samples(x, y), known)
        assert member.booster is None
        np.testing.assert_allclose(shares(member, x, known), 0.5)


def test_after_a_change_they_are_fitted_with_the_next_rows():
    x, y = blobs(RNG(5), 300)
    member = Trees().learn(samples(x, y), past(x, y))
    assert member.fitted_at == 300
    changed = member.after_change(Change(300, CHANGED, 0.3, 5.0, 1.0), past(x, y))
    assert member.learn(samples(x[:1], y[:1]), past(x, y)).fitted_at == 300
    assert changed.learn(samples(x[:1], y[:1]), past(x, 1 - y)).fitted_at == 301


def test_damaged_text_is_refused():
    x, y = blobs(RNG(6), 200)
    state = Trees().learn(samples(x, y), past(x, y)).state_dict()
    with pytest.raises(StateError, match="classes"):
        Trees().loaded(Saved({**state, "classes": [-1, 0]}))
    with pytest.raises(StateError, match="text must be text"):
        Trees().loaded(Saved({**state, "text": 3}))


@pytest.fixture
def _no_lightgbm(monkeypatch):
    """The library cannot be imported: a wheel without OpenMP, for example."""
    real = builtins.__import__

    def refuses(name, *rest, **more):
        if name.partition(".")[0] == "lightgbm":
            raise OSError("libgomp.so.1: cannot open shared object file\nand more")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuses)
    trees.lightgbm.cache_clear()
    yield
    trees.lightgbm.cache_clear()


@pytest.mark.usefixtures("_no_lightgbm")
def test_without_lightgbm_there_is_one_warning_and_the_ensemble_goes_on():
    rng = RNG(7)
    x = rng.normal(size=(300, 4)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int64)
    spec = InputSpec(n_features=4, n_classes=2, learned=True)
    learner = METHODS["adaptive"].learner(spec, "100kB", members=("ridge", "trees"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for batch in batches_of(x, y):
            learner.observe(batch)
        state = learner.state_dict()
    assert [str(each.message) for each in caught] == [
        "the ensemble learns without trees: LightGBM cannot be loaded (libgomp.so.1: cannot open shared object file)"
    ]
    batch = batches_of(x, y)[0]
    assert (learner.predict_proba(batch.x).argmax(dim=1) == batch.y).float().mean() > 0.9
    again = METHODS["adaptive"].learner(spec, "100kB", members=("ridge", "trees"))
    again.load_state_dict(state)


@pytest.mark.usefixtures("_no_lightgbm")
def test_trees_that_cannot_be_read_here_are_kept_for_where_they_can():
    x, y = blobs(RNG(8), 200)
    with pytest.warns(UserWarning, match="without trees"):
        loaded = Trees().loaded(
            Saved({"text": "tree", "classes": [0, 1], "rows": 10, "fitted_at": 5, "wait": LOOK_ROWS})
        )
    assert loaded.state_dict() == {"text": "tree", "classes": [0, 1], "rows": 10, "fitted_at": 5, "wait": LOOK_ROWS}
    np.testing.assert_allclose(shares(loaded, x, past(x, y)), 0.5)


def test_trees_that_count_for_little_are_refitted_ever_more_seldom_up_to_a_bound():
    x, y = quarters(5000)
    fits = {}
    for share in (0.0, 1.0):
        member, known, fits[share] = Trees(), past(x[:400], y[:400]), []
        for start in range(0, 5000, 50):
            before = member.fitted_at
            member = member.learn(samples(x[start : start + 50], y[start : start + 50]), replace(known, share=share))
            if member.fitted_at != before:
                fits[share].append(member.rows)
    assert set(np.diff(fits[1.0])[-10:]) == {LOOK_ROWS}
    assert np.diff(fits[0.0]).max() == SETTLED_ROWS
    assert (np.diff(np.diff(fits[0.0])) >= 0).all()
    changed = member.after_change(Change(5000, CHANGED, 0.2, 5.0, 1.0), known)
    assert changed.wait == LOOK_ROWS
