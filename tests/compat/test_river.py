from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("river")

from river import datasets, evaluate, metrics, preprocessing
from river.naive_bayes import GaussianNB
from river.tree import HoeffdingTreeClassifier

from smartcl import train_stream
from smartcl.compat.river import FromRiver, RiverSmart, train_river


def test_our_classifier_in_a_pipeline_and_its_evaluation() -> None:
    model = preprocessing.StandardScaler() | RiverSmart("20 kB", random_state=0, iterations=3)
    found = evaluate.progressive_val_score(datasets.Phishing().take(800), model, metrics.Accuracy())
    assert found.get() > 0.75
    clone = model.clone()
    assert clone["RiverSmart"].memory == "20 kB"
    assert clone.predict_one({}) is None


def test_many_classes_and_names_for_values() -> None:
    model = RiverSmart("20 kB", batch_size=30, random_state=0, iterations=5)
    rng = np.random.default_rng(0)
    for _ in range(450):
        sky = ["clear", "grey", "black"][rng.integers(3)]
        model.learn_one({"sky": sky, "wind": float(rng.normal())}, sky[0])
    model.flush()
    assert [model.predict_one({"sky": sky, "wind": 0.0}) for sky in ("clear", "grey", "black")] == ["c", "g", "b"]
    assert sum(model.predict_proba_one({"sky": "new"}).values()) == pytest.approx(1)


def test_a_stream_of_rivers_is_one_of_ours() -> None:
    model = train_stream(datasets.Phishing().take(300), memory="20kB", random_state=0, iterations=3)
    assert model.progress.rows == 300


def test_a_model_of_rivers_with_our_calls() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 3, 300)
    X[:, 0] += 3 * y
    ours, theirs = FromRiver(GaussianNB()).partial_fit(X, y), GaussianNB()
    for row, label in zip(X, y, strict=True):
        theirs.learn_one(dict(enumerate(row.tolist())), int(label))
    assert ours.classes_.tolist() == [0, 1, 2]
    answers = [theirs.predict_proba_one(dict(enumerate(row.tolist()))) for row in X[:20]]
    expected = [[answer[label] for label in range(3)] for answer in answers]
    assert np.allclose(ours.predict_proba(X[:20]), expected)
    assert np.array_equal(ours.predict(sparse.csr_array(X)), ours.predict(X))
    assert (ours.predict(X) == y).mean() > 0.8


def test_a_model_of_rivers_learns_a_table() -> None:
    rows = [({"wind": wind, "sky": sky}, wind > 3) for wind in range(8) for sky in ("clear", "grey")]
    table = train_river(HoeffdingTreeClassifier(grace_period=20), rows * 20)
    assert table.predict([{"wind": 1, "sky": "grey"}, {"wind": 6, "sky": "clear"}]).tolist() == ["false", "true"]
    assert table.progress.rows == 320
