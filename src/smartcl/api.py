"""The public names, all on one page; ``smartcl`` itself hands them out."""

from smartcl.estimator import SmartClassifier
from smartcl.learners.learner import Learner
from smartcl.learners.methods import METHODS, build_learner
from smartcl.learners.recipe import Recipe
from smartcl.streams import Batch, InputSpec, TaskStream, disjoint_mnist, load_stream, split_mnist

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
