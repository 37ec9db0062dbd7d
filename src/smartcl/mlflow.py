"""Models for MLflow: ``smartcl.mlflow.save_model``, ``log_model`` and ``load_model``; needs the extra ``[mlflow]``."""

from smartcl.compat.mlflow_flavour import load_model, log_model, save_model
from smartcl.compat.mlflow_flavour import load_python_function as _load_pyfunc

__all__ = ["_load_pyfunc", "load_model", "log_model", "save_model"]
