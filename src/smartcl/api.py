"""The public names, all on one page; ``smartcl`` itself hands them out."""

from smartcl.data import Batch, InputSpec
from smartcl.estimator import SmartClassifier
from smartcl.learners.factory import Method
from smartcl.learners.learner import Learner
from smartcl.learners.methods import METHODS, build_learner, register_method
from smartcl.learners.recipe import Recipe
from smartcl.memory.pool import Pool, Selection, Selector
from smartcl.regularizers.regularizer import Regularizer

__all__ = [
    "METHODS",
    "Batch",
    "InputSpec",
    "Learner",
    "Method",
    "Pool",
    "Recipe",
    "Regularizer",
    "Selection",
    "Selector",
    "SmartClassifier",
    "build_learner",
    "register_method",
]
