"""The settings that all learners share, each with its reason."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from smartcl.settings import Settings

if TYPE_CHECKING:
    from smartcl.network.torch_optim import MakeOptimizer
    from smartcl.network.wrapped import Augment, ModuleSource


@dataclass(frozen=True)
class Recipe(Settings):
    """The training settings shared by all learners; the defaults are the paper's (section 5).

    A method's own settings are a recipe too: with other defaults, further fields, and fixed values where it leaves no
    choice (``init=False``).
    """

    hidden: tuple[int, ...] = (400, 400)
    lr: float = 1e-4
    #: Steps per arriving batch: the stream is seen once, so each batch is worked through.
    iterations: int = 100
    #: Stored samples replayed in each step.
    replay: int = 50
    #: One step on new and replayed samples together; else one on each in turn, as the paper's public code.
    joint: bool = True
    #: Decay of the moving average of the weights used for prediction; 0: predict with the weights themselves.
    average: float = 0.0
    #: Label smoothing of the cross-entropy.
    smoothing: float = 0.0
    #: Consolidate after every ``batch`` (boundary-free), when the stream says that a ``task`` ends, or on a schedule
    #: of its own where it never does: after a number of batches, such as ``20 batches``.
    consolidate: str = "batch"
    #: Where the weights start: ``xavier`` (zero biases), or ``fan-in``, PyTorch's default.
    init: str = "xavier"
    #: A module of the user's own in the place of the layers ``hidden``, or what makes one: ``network(spec)``.
    network: ModuleSource | None = None
    #: What makes an optimizer of torch: ``optimizer(parameters)``; None: our Adam with the rate ``lr``.
    optimizer: MakeOptimizer | None = None
    #: What is done to the rows of every step as that module takes them: ``augment(rows)``.
    augment: Augment | None = None
    #: In which numbers weights are kept between batches: ``float32`` with the optimizer's moments, or ``float16``
    #: without them, in a quarter of the bytes. None: ``float32``.
    kept_weights: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.augment is not None and self.network is None:
            raise ValueError("augment must come with a network: rows are images for a network of one's own alone")
        if self.consolidate not in ("batch", "task") and not re.fullmatch(r"[1-9]\d{0,8} batches", self.consolidate):
            raise ValueError(f"consolidate must be 'batch', 'task' or such as '20 batches', got {self.consolidate!r}")

    def consolidates_after(self, batches: int) -> bool:
        """Whether it is time to consolidate after this number of batches.

        >>> [Recipe(consolidate="2 batches").consolidates_after(n) for n in (1, 2, 3, 4)]
        [False, True, False, True]
        """
        if self.consolidate == "task":
            return False
        return self.consolidate == "batch" or batches % int(self.consolidate.split()[0]) == 0


@dataclass(frozen=True)
class MethodTraining(Recipe):
    """What most methods let be set of a recipe: they have nothing to consolidate, and start from Xavier's weights."""

    consolidate: str = field(default="batch", init=False)
    init: str = field(default="xavier", init=False)
