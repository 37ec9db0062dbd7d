"""The two ends of every comparison: no memory, and all of it."""

from __future__ import annotations

from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Learner
from smartcl.learners.method_settings import FinetuneSettings, ReplaySettings
from smartcl.memory.budget import UNBOUNDED
from smartcl.selection.reservoir import Everything, Nothing


def finetune(spec: InputSpec, memory: str | int, settings: FinetuneSettings, seed: int = 0) -> Learner:
    """No memory: each batch is learned and forgotten, whatever the budget. The lower end.

    >>> import torch
    >>> from smartcl.data.batch import Batch
    >>> learner = finetune(InputSpec(n_features=2, n_classes=2), "1kB", FinetuneSettings(hidden=(8,)))
    >>> _ = learner.observe(Batch(torch.eye(2), torch.tensor([0, 1])))
    >>> len(learner.memory)
    0
    """
    return Learner(spec, memory, settings, Nothing(), whole=True, seed=seed)


def joint(spec: InputSpec, memory: str | int, settings: ReplaySettings, seed: int = 0) -> Learner:
    """Replay of every sample ever seen: ``memory`` is not obeyed, the budget is ``UNBOUNDED``. The upper end.

    >>> import torch
    >>> from smartcl.data.batch import Batch
    >>> learner = joint(InputSpec(n_features=2, n_classes=2), 1, ReplaySettings(hidden=(8,)))
    >>> _ = learner.observe(Batch(torch.eye(2), torch.tensor([0, 1])))
    >>> learner.memory
    2 samples in 18 B, no limit, 2 of 2 features kept
    """
    return Learner(spec, UNBOUNDED, settings, Everything(), whole=settings.whole, seed=seed)
