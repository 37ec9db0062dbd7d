"""The public names, all on one page; ``smartcl`` itself hands them out."""

from smartcl.data import Batch, InputSpec
from smartcl.estimator import SmartClassifier
from smartcl.learners.learner import Learner
from smartcl.learners.methods import METHODS, build_learner
from smartcl.learners.recipe import Recipe

__all__ = [
    "METHODS",
    "Batch",
    "InputSpec",
    "Learner",
    "Recipe",
    "SmartClassifier",
    "build_learner",
]
