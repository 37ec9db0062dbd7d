"""The two ends of every comparison: no memory, and all of it."""

from __future__ import annotations

from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Learner
from smartcl.learners.recipe import Recipe
from smartcl.memory.budget import UNBOUNDED
from smartcl.selection.reservoir import Everything, Nothing


def finetune(
    spec: InputSpec,
    memory: str | int,
    seed: int = 0,
    *,
    hidden: tuple[int, ...] = (400, 400),
    lr: float = 1e-4,
    iterations: int = 100,
    average: float = 0.0,
    smoothing: float = 0.0,
    init: str = "xavier",
) -> Learner:
    """No memory: each batch is learned and forgotten, whatever the budget. The lower end.

    >>> import torch
    >>> from smartcl.data.batch import Batch
    >>> learner = finetune(InputSpec(n_features=2, n_classes=2), "1kB", hidden=(8,))
    >>> _ = learner.observe(Batch(torch.eye(2), torch.tensor([0, 1])))
    >>> len(learner.memory)
    0
    """
    recipe = Recipe(hidden, lr, iterations, replay=0, average=average, smoothing=smoothing, init=init)
    return Learner(spec, memory, recipe, Nothing(), whole=True, seed=seed)


def joint(
    spec: InputSpec,
    memory: str | int,
    seed: int = 0,
    *,
    hidden: tuple[int, ...] = (400, 400),
    lr: float = 1e-4,
    iterations: int = 100,
    replay: int = 50,
    joint: bool = True,
    average: float = 0.0,
    smoothing: float = 0.0,
    whole: bool = True,
) -> Learner:
    """Replay of every sample ever seen: ``memory`` is not obeyed, the budget is ``UNBOUNDED``. The upper end.

    >>> import torch
    >>> from smartcl.data.batch import Batch
    >>> learner = joint(InputSpec(n_features=2, n_classes=2), memory=1, hidden=(8,))
    >>> _ = learner.observe(Batch(torch.eye(2), torch.tensor([0, 1])))
    >>> learner.memory
    2 samples in 18 B, no limit, 2 of 2 features kept
    """
    recipe = Recipe(hidden, lr, iterations, replay, joint, average, smoothing)
    return Learner(spec, UNBOUNDED, recipe, Everything(), whole=whole, seed=seed)
