"""The MLflow flavour against MLflow itself: saved, logged and loaded, by its ``pyfunc`` and by ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smartcl import SmartClassifier, TableModel, train_stream

mlflow = pytest.importorskip("mlflow")
pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("default")

ROWS = [({"wind": wind, "sky": sky}, "storm" if wind > 3 else "calm") for wind in range(8) for sky in ("clear", "grey")]
SETTINGS: dict[str, Any] = {"memory": "2kB", "random_state": 0, "method": "er", "hidden": (8,)}


@pytest.fixture(scope="module")
def model() -> TableModel:
    return train_stream(ROWS * 10, **SETTINGS)


def test_a_table_model_goes_there_and_back(model: TableModel, tmp_path: Path) -> None:
    import smartcl.mlflow

    frame = pandas.DataFrame([row for row, _ in ROWS])
    smartcl.mlflow.save_model(model, str(tmp_path / "saved"))
    assert not list((tmp_path / "saved").rglob("*.pkl"))
    function = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    assert function.predict(frame).tolist() == model.predict(frame).tolist()
    again = smartcl.mlflow.load_model(str(tmp_path / "saved"))
    assert isinstance(again, TableModel)
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_a_model_is_logged_to_a_run(model: TableModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import smartcl.mlflow

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run():
        logged = smartcl.mlflow.log_model(model, "storms")
    again = smartcl.mlflow.load_model(logged.model_uri)
    assert isinstance(again, TableModel)
    assert again.progress.rows == model.progress.rows


def test_a_classifier_of_features_and_probabilities(tmp_path: Path) -> None:
    import smartcl.mlflow
    from smartcl.compat.mlflow_flavour import load_python_function

    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    model = SmartClassifier(**SETTINGS).fit(X, X[:, 0] > 0)
    smartcl.mlflow.save_model(model, str(tmp_path / "saved"))
    again = smartcl.mlflow.load_model(str(tmp_path / "saved"))
    assert isinstance(again, SmartClassifier)
    function = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    assert np.array_equal(function.predict(X), model.predict(X))
    model.save(tmp_path / "folder")
    asked = load_python_function(str(tmp_path / "folder"))
    assert np.array_equal(asked.predict(X, {"probabilities": True}).to_numpy(), model.predict_proba(X))
    with pytest.raises(ValueError, match="params may have 'probabilities'"):
        asked.predict(X, {"temperature": 1})


def test_another_model_is_refused(tmp_path: Path) -> None:
    import smartcl.mlflow

    class Other(mlflow.pyfunc.PythonModel):  # type: ignore[misc]
        def predict(self, context: Any, model_input: list[str], params: Any = None) -> list[str]:
            return model_input

    mlflow.pyfunc.save_model(str(tmp_path / "other"), python_model=Other(), pip_requirements=[])
    with pytest.raises(ValueError, match="was not saved by"):
        smartcl.mlflow.load_model(str(tmp_path / "other"))
