"""MLflow's models: a model's folder as it is, loaded by name and never unpickled."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import smartcl
from smartcl.errors import extra
from smartcl.estimator import SmartClassifier
from smartcl.files.table_model import TableModel, load

#: What loads a model that was saved here: MLflow calls its ``_load_pyfunc`` with the folder.
LOADER = "smartcl.mlflow"
#: The parameter of ``predict`` that asks for probabilities in the place of labels.
PROBABILITIES = "probabilities"


class PythonFunction:
    """A model as MLflow's ``pyfunc`` asks it: labels or, with ``params={"probabilities": True}``, a frame of them."""

    def __init__(self, model: TableModel | SmartClassifier) -> None:
        self.model = model

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> Any:
        asked = dict(params or {})
        wants = bool(asked.pop(PROBABILITIES, False))
        if asked:
            raise ValueError(f"params may have {PROBABILITIES!r}, has {', '.join(map(repr, asked))}")
        if not wants:
            return self.model.predict(model_input)
        import pandas

        names = self.model.classes if isinstance(self.model, TableModel) else self.model.classes_.tolist()
        return pandas.DataFrame(np.asarray(self.model.predict_proba(model_input)), columns=names)


def save_model(model: TableModel | SmartClassifier, path: str, **settings: Any) -> None:
    """Save a model as MLflow saves one; ``settings`` are those of ``mlflow.pyfunc.save_model``."""
    with _folder_of(model) as folder:
        _pyfunc().save_model(path, **_given(folder, settings))


def log_model(model: TableModel | SmartClassifier, name: str = "model", **settings: Any) -> Any:
    """Log a model to the run at hand; ``settings`` are those of ``mlflow.pyfunc.log_model``."""
    with _folder_of(model) as folder:
        return _pyfunc().log_model(name=name, **_given(folder, settings))


def load_model(uri: str) -> TableModel | SmartClassifier:
    """The model itself, to predict and to go on learning."""
    artifacts, models = extra("mlflow.artifacts", "mlflow"), extra("mlflow.models", "mlflow")
    path = Path(artifacts.download_artifacts(uri))
    found = models.Model.load(str(path)).flavors.get("python_function", {})
    if found.get("loader_module") != LOADER:
        raise ValueError(f"the model at {uri} was not saved by {LOADER}")
    return load(path / found["data"])


def load_python_function(path: str) -> PythonFunction:
    """What ``mlflow.pyfunc.load_model`` calls."""
    return PythonFunction(load(Path(path)))


@contextmanager
def _folder_of(model: TableModel | SmartClassifier) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "smartcl"
        model.save(folder)
        yield str(folder)


def _given(folder: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    own = {"loader_module": LOADER, "data_path": folder, "pip_requirements": [f"smartcl=={smartcl.__version__}"]}
    return {**own, **settings}


def _pyfunc() -> Any:
    return extra("mlflow.pyfunc", "mlflow")
