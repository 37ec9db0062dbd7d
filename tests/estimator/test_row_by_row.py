"""Rows count when they come: what is learned does not depend on how calls cut the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_classification

from helpers import assert_same_state
from smartcl import SmartClassifier
from smartcl.learners.ensemble.ensemble import Ensemble

CLOSED_FORM = ["ridge", "logistic", "neighbours"]


def table(rows, classes=2, columns=4, seed=0):
    X, y = make_classification(
        rows,
        columns,
        n_informative=columns,
        n_redundant=0,
        n_classes=classes,
        random_state=seed,
        n_clusters_per_class=1,
    )
    return X, y


def model(memory="20kB", **arguments):
    return SmartClassifier(memory, members=[*CLOSED_FORM], random_state=0, **arguments)


def taught(X, y, cuts, told=None, **arguments):
    """A model that learned these rows in calls that end at the cuts."""
    made, start = model(**arguments), 0
    for end in [*cuts, len(y)]:
        if end > start:
            given = {} if told is None else {name: value[start:end] for name, value in told.items()}
            if not start:
                given["classes"] = np.unique(y)
            made.partial_fit(X[start:end], y[start:end], **given)
        start = max(start, end)
    return made


def state(made):
    """All that is learned; how the last call came says only which answer is asked for."""
    return {name: value for name, value in made.learner_.state_dict().items() if name != "one_by_one"}


@pytest.mark.parametrize("told", [False, True], ids=["rows", "rows with ids and weights"])
@settings(max_examples=8, deadline=None)
@given(cuts=st.lists(st.integers(1, 330), max_size=40).map(sorted))
def test_calls_cut_rows_as_they_like(told, cuts):
    X, y = table(331)
    beside = {"ids": np.arange(331), "sample_weight": np.linspace(0.5, 2, 331)} if told else None
    assert_same_state(state(taught(X, y, [], beside)), state(taught(X, y, cuts, beside)))


def test_one_by_one_as_in_fifties_and_at_once():
    X, y = table(400, classes=3)
    at_once, fifties, one_by_one = (taught(X, y, range(0, 400, step)) for step in (400, 50, 1))
    for other in (fifties, one_by_one):
        assert_same_state(state(at_once), state(other))
        assert np.array_equal(at_once.predict_proba(X), other.predict_proba(X))


def test_a_class_that_comes_while_rows_wait():
    X, y = table(330, classes=3)
    first = y[:310].copy()
    first[first == 2] = 0
    y = np.concatenate([first, np.full(20, 2)])
    names = np.array(["no", "yes", "new"])[y]
    one, other = model(), model()
    one.partial_fit(X[:300], names[:300])
    other.partial_fit(X[:300], names[:300]).partial_fit(X[300:], names[300:])
    for at in range(300, 330):
        one.partial_fit(X[[at]], names[[at]])
    assert_same_state(state(one), state(other))
    assert one.classes_.tolist() == ["no", "yes", "new"]
    assert one.predict_proba(X[-1:])[0, 2] > 0.5, "the newest twenty labels are known"


@pytest.mark.parametrize("memory", [300, "2kB", "20kB", "1MB"])
@pytest.mark.parametrize("columns", [3, 60])
def test_rows_that_wait_are_charged(memory, columns):
    X, y = table(170, columns=columns)
    made = model(memory)
    for row, label in zip(X, y, strict=True):
        made.partial_fit([row], [label])
        assert made.memory_.nbytes <= made.memory_.budget.nbytes
        assert made.learner_.waiting < made.batch_size


@pytest.mark.parametrize("kind", ["images", "texts"])
def test_wide_rows_wait_where_there_is_room(kind):
    rng = np.random.default_rng(0)
    if kind == "images":
        X = rng.integers(0, 255, size=(150, 300)).astype(np.uint8)
    else:
        X = sparse.random_array((150, 5000), density=0.01, rng=rng, format="csr")
    y = rng.integers(2, size=150)
    made = SmartClassifier("30kB", members=["ridge"], random_state=0)
    waited = 0
    for at in range(150):
        made.partial_fit(X[[at]], y[[at]])
        waited = max(waited, made.learner_.waiting)
        assert made.memory_.nbytes <= 30_000
    assert 5 <= waited < 50


def test_resume_with_rows_waiting(tmp_path):
    X, y = table(400)
    made = taught(X, y, range(400), told={"ids": np.arange(400)})
    made.partial_fit(X[:33], y[:33], ids=np.arange(400, 433))
    made.partial_fit(X[33:34], y[33:34], ids=[433])
    made.save(tmp_path / "model")
    again = SmartClassifier.load(tmp_path / "model")
    assert again.learner_.waiting == 34
    assert_same_state(made.learner_.state_dict(), again.learner_.state_dict())
    assert np.array_equal(made.predict_proba(X[:9]), again.predict_proba(X[:9]))
    for each in (made, again):
        each.partial_fit(X[40:90], y[40:90], ids=np.arange(500, 550))
    assert_same_state(made.learner_.state_dict(), again.learner_.state_dict())


def test_the_last_labels_count_at_once_where_they_come_one_by_one():
    """A label that stays for ten rows cannot be seen in the columns: only the newest labels tell it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 3)), np.repeat(rng.integers(2, size=100), 10)
    made, right = model(), 0
    for at in range(1000):
        right += at > 300 and made.predict(X[[at]])[0] == y[at]
        made.partial_fit(X[[at]], y[[at]])
    assert right / 699 > 0.85


def test_answers_to_batches_do_not_go_by_the_last_label():
    """The same labels in fifties, of which 17 wait: the last label says nothing of the next fifty."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1050, 3)), np.repeat(rng.integers(2, size=105), 10)
    made = taught(X[:17], y[:17], [])
    for at in range(17, 1000, 50):
        made.partial_fit(X[at : at + 50], y[at : at + 50])
    assert made.learner_.waiting == 17
    answers = made.predict_proba(rng.normal(size=(500, 3)))
    assert np.abs(answers - 0.5).mean() < 0.2


def test_forgetting_rows_that_wait():
    X, y = table(230)
    made = taught(X, y, [], told={"ids": np.arange(230)})
    without = taught(X[:229], y[:229], [], told={"ids": np.arange(229)})
    assert made.forget([229]) == 1
    assert_same_state(made.learner_.memory.state_dict(), without.learner_.memory.state_dict())
    assert made.forget(np.arange(200, 229)) == 29
    assert made.learner_.memory.waiting is None
    assert made.forget([210]) == 0


def test_retraining_learns_rows_that_wait():
    X, y = table(230)
    made = taught(X, y, [], told={"ids": np.arange(230)})
    made.forget([3, 215], retrain_from_memory=True)
    assert made.learner_.waiting == 0
    assert {*range(200, 230)} - {215} <= {*made.memory_.store.extra["id"]}
    assert not {3, 215} & {*made.memory_.store.extra["id"]}


def test_flush_learns_what_waits():
    X, y = table(230)
    made = taught(X, y, [])
    assert made.learner_.waiting == 30
    assert made.flush().learner_.waiting == 0
    assert made.learner_.counts.total == 230
    assert model().fit(X, y).learner_.waiting == 0


def test_an_interrupt_in_a_call_loses_no_row_that_waits(monkeypatch):
    X, y = table(430)
    made = taught(X[:230], y[:230], [])
    before = made.learner_.state_dict()

    def stopped(self, came):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ensemble, "look_back", stopped)
    with pytest.raises(KeyboardInterrupt):
        made.partial_fit(X[230:], y[230:])
    assert_same_state(before, made.learner_.state_dict())


def test_the_short_way_gives_what_the_long_way_gives():
    X, y = table(130)
    names = np.array(["no", "yes"])[y]
    short, long = model(), model()
    for at in range(130):
        short.partial_fit(X[at : at + 1], names[at : at + 1])
        long.partial_fit(X[at : at + 1].tolist(), names[at : at + 1].tolist(), sample_weight=None, classes=None)
        long._door = None
    assert_same_state(short.learner_.state_dict(), long.learner_.state_dict())


@pytest.mark.parametrize("bad", [np.inf, 1e39])
def test_the_short_way_refuses_what_the_long_way_refuses(bad):
    X, y = table(60)
    made = taught(X, y, range(60))
    row = X[:1].copy()
    row[0, 0] = bad
    for call in (lambda: made.partial_fit(row, y[:1]), lambda: made.predict_proba(row)):
        with pytest.raises(ValueError, match=r"NaN|infinity|single precision"):
            call()


def test_settings_changed_in_between_are_checked():
    X, y = table(60)
    made = taught(X, y, range(60))
    made.set_params(memory="30kB")
    with pytest.raises(ValueError, match="memory was"):
        made.partial_fit(X[:1], y[:1])
    made.memory = "20kB"
    made.partial_fit(X[:1], y[:1])
    made.members.append("trees")
    with pytest.raises(ValueError, match="members was"):
        made.partial_fit(X[:1], y[:1])
    made.members.pop()
    made.batch_size = 0
    with pytest.raises(ValueError, match="batch_size"):
        made.partial_fit(X[:1], y[:1])


def test_a_row_changed_by_its_owner_is_learned_as_it_came():
    X, y = table(60)
    made, row = taught(X[:50], y[:50], []), np.zeros((1, 4), np.float32)
    for at in range(50, 55):
        row[:] = X[at]
        made.partial_fit(row, y[at : at + 1])
    assert np.allclose(made.memory_.waiting.x.numpy(), X[50:55].astype(np.float32))
