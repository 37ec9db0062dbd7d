"""Models that leave: a plain module and an ONNX file say what the estimator says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse

from smartcl import SmartClassifier, train_stream
from smartcl.columns.records import Records

onnxruntime = pytest.importorskip("onnxruntime")


def rows(count: int = 200, width: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(count, width)) * 10.0 ** np.arange(width)).astype(np.float32)
    return X, np.digitize(X[:, 0], [-0.5, 0.5])


def run(path: Path, X: np.ndarray) -> tuple[np.ndarray, dict[str, str]]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"rows": X.astype(np.float32)})
    return found, session.get_modelmeta().custom_metadata_map


@pytest.mark.parametrize("method", ["smart", "er"])
def test_an_estimator_leaves_as_module_and_as_onnx(method: str, tmp_path: Path) -> None:
    X, y = rows()
    model = SmartClassifier("4kB", method=method, hidden=(16, 8), iterations=3, random_state=0).partial_fit(X, y)
    wanted = model.predict_proba(X)
    plain = model.to_torch()
    assert np.abs(plain(torch.from_numpy(X)).numpy() - wanted).max() < 1e-5
    model.to_onnx(tmp_path / "model.onnx")
    found, told = run(tmp_path / "model.onnx", X)
    assert np.abs(found - wanted).max() < 1e-5
    assert json.loads(told["classes"]) == ["0", "1", "2"]
    model.partial_fit(X, y)
    assert np.abs(plain(torch.from_numpy(X)).numpy() - wanted).max() < 1e-5


def test_a_wide_sparse_one_too() -> None:
    X = sparse.random_array((60, 30_000), density=0.001, format="csr", random_state=0, dtype=np.float32)
    y = np.arange(60) % 2
    model = SmartClassifier("8kB", method="smart", hidden=(200,), iterations=2, random_state=0).partial_fit(X, y)
    assert model.learner_.model.network.table is not None
    found = model.to_torch()(torch.from_numpy(X.toarray())).numpy()
    assert np.abs(found - model.predict_proba(X)).max() < 1e-5


def test_a_table_of_numbers_leaves_with_its_encoding(tmp_path: Path) -> None:
    X, y = rows(300, width=4)
    X[:, 1:] /= 10.0 ** np.arange(1, 4)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    table = [
        {**{f"n{i}": value for i, value in enumerate(row.tolist())}, "y": int(label)}
        for row, label in zip(X, y, strict=True)
    ]
    model = train_stream(table, "y", memory="8kB", method="smart", hidden=(12,), iterations=2, random_state=0)
    rows_read = model.encoder.parse(Records.of({f"n{i}": X[:, i] for i in range(4)}))
    wanted = model.classifier.predict_proba(model.rows(rows_read, after=10_000))
    assert np.abs(model.to_torch()(torch.from_numpy(X)).numpy() - wanted).max() < 1e-5
    model.to_onnx(tmp_path / "table.onnx")
    found, told = run(tmp_path / "table.onnx", X)
    assert np.abs(found - wanted).max() < 1e-5
    assert json.loads(told["columns"]) == ["n0", "n1", "n2", "n3"]
    assert json.loads(told["classes"]) == model.classes


def test_what_cannot_leave_says_so(tmp_path: Path) -> None:
    words = [{"a": f"the quick brown {w}", "y": w} for w in ("fox", "dog")] * 30
    with pytest.raises(ValueError, match="only a table of numbers can go by itself: 'a'"):
        train_stream(words, "y", method="smart", hidden=(4,), iterations=1).to_torch()
    X, y = rows()
    for method in ("adaptive", "gdumb"):
        model = SmartClassifier("4kB", method=method, hidden=(4,), random_state=0).partial_fit(X, y)
        with pytest.raises(ValueError, match=r"does not predict by its network alone.* take method='smart'"):
            model.to_torch()
        with pytest.raises(ValueError, match="does not predict by its network alone"):
            model.to_onnx(tmp_path / "model.onnx")
