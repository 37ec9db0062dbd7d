"""Continual learning from a never-ending stream, in a memory of a fixed number of bytes."""

from smartcl.estimator import SmartClassifier
from smartcl.learners.learner import Learner
from smartcl.learners.methods import METHODS, build_learner
from smartcl.learners.recipe import Recipe
from smartcl.streams import Batch, InputSpec, TaskStream, disjoint_mnist, load_stream, split_mnist

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "Batch",
    "InputSpec",
    "Learner",
    "Recipe",
    "SmartClassifier",
    "TaskStream",
    "build_learner",
    "disjoint_mnist",
    "load_stream",
    "split_mnist",
]
