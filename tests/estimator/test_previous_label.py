"""``previous_label``: arrays learned with the rates of the last labels as inputs."""

from __future__ import annotations

import numpy as np
import pytest

from smartcl import SmartClassifier, load


def stream(rows: int = 240):
    """Labels that stay for twenty rows, and columns that say nothing of them."""
    X = np.random.default_rng(0).normal(size=(rows, 3)).astype(np.float32)
    return X, np.arange(rows) // 20 % 2


def learned(**arguments):
    X, y = stream()
    model = SmartClassifier("20kB", members=["ridge", "logistic"], random_state=0, **arguments)
    for start in range(0, len(y), 10):
        model.partial_fit(X[start : start + 10], y[start : start + 10], classes=[0, 1])
    return model


def test_the_rate_of_the_last_labels_is_an_input_and_follows_them(tmp_path):
    model, plain = learned(previous_label=True), learned()
    assert plain.columns_ is None
    assert list(model.columns_.schema.feature_names) == ["x0", "x1", "x2", "rate of the last labels", "values missing"]
    assert model.n_features_in_ == 3
    X, _ = stream(5)

    def rate() -> float:
        return float(model._encoded_table(X[:1]).x[0, 3])

    low = rate()
    model.partial_fit(X.repeat(6, axis=0), np.full(30, 1))
    assert rate() > low + 0.1
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.previous_label
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_table_has_it_in_any_case():
    X, y = stream(60)
    rows = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    for asked in (False, True):
        model = SmartClassifier("20kB", previous_label=asked, members=["ridge"], random_state=0).partial_fit(rows, y)
        assert "rate of the last labels" in model.columns_.schema.feature_names


@pytest.mark.parametrize("asked", [1, "yes", None])
def test_it_is_true_or_false(asked):
    with pytest.raises(ValueError, match=r"previous_label must be True or False, got"):
        SmartClassifier(previous_label=asked).partial_fit(*stream(10))


def test_images_are_no_columns():
    X, y = stream(10)
    with pytest.raises(ValueError, match=r"rows of columns, got the shape \(10, 3, 1, 1\)"):
        SmartClassifier(previous_label=True).partial_fit(X.reshape(10, 3, 1, 1), y)
