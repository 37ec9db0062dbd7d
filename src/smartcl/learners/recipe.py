"""How a batch is learned: the settings of the loop, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass

from smartcl.settings import check_settings


@dataclass(frozen=True)
class Recipe:
    """The training settings shared by all learners; the defaults are the paper's (section 5)."""

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
    #: Consolidate after every batch (boundary-free), or when the stream says that a task ends.
    consolidate: str = "batch"
    #: Where the weights start: ``xavier`` (zero biases), or ``fan-in``, PyTorch's default.
    init: str = "xavier"

    def __post_init__(self) -> None:
        check_settings(self)
        if self.consolidate not in ("batch", "task"):
            raise ValueError(f"consolidate must be 'batch' or 'task', got {self.consolidate!r}")
