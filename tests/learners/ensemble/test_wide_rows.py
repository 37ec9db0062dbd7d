"""Dense rows of many columns, such as embeddings: any width is learned, and what is kept has a bound."""

from __future__ import annotations

import numpy as np
import pytest

from smartcl import SmartClassifier


@pytest.mark.parametrize("columns", [500, 1280, 8000, 20_000])
def test_dense_rows_of_any_width_are_learned(columns, tmp_path):
    """Every column says a little, beside noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    x = (rng.normal(size=(400, columns)) + 0.3 * (2 * y[:, None] - 1)).astype(np.float32)
    model = SmartClassifier("1MB", members=["ridge", "neighbours"], random_state=0)
    for start in range(0, 300, 50):
        model.partial_fit(x[start : start + 50], y[start : start + 50])
    assert model.score(x[300:], y[300:]) > 0.9
    assert model.model_.total < 50e6
    model.save(tmp_path / "model")
    again = SmartClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(x[300:]), model.predict_proba(x[300:]))
