"""The public names, all on one page; ``smartcl`` itself hands them out."""

from importlib import import_module
from typing import TYPE_CHECKING

from smartcl.data import Batch, InputSpec
from smartcl.estimator import SmartClassifier
from smartcl.learners.factory import Method
from smartcl.learners.learner import Learner
from smartcl.learners.methods import METHODS, build_learner, register_method
from smartcl.learners.recipe import Recipe
from smartcl.memory.pool import Pool, Selection, Selector
from smartcl.own_loop import ReplayMemory
from smartcl.regularizers.regularizer import Regularizer

if TYPE_CHECKING:
    from smartcl.files.table_model import TableModel
    from smartcl.files.training import train_stream

#: Of the user's tools: who only wants an estimator does not load them.
_TOOLS = {"TableModel": "smartcl.files.table_model", "train_stream": "smartcl.files.training"}

__all__ = [
    "METHODS",
    "Batch",
    "InputSpec",
    "Learner",
    "Method",
    "Pool",
    "Recipe",
    "Regularizer",
    "ReplayMemory",
    "Selection",
    "Selector",
    "SmartClassifier",
    "TableModel",
    "build_learner",
    "register_method",
    "train_stream",
]


def __getattr__(name: str) -> object:
    if name not in _TOOLS:
        raise AttributeError(f"module 'smartcl.api' has no attribute {name!r}")
    return getattr(import_module(_TOOLS[name]), name)
