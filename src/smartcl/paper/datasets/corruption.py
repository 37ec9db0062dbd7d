"""Wrong labels, made on purpose: four models of how a training label goes wrong.

``foreign``
    acts on the labels of all classes before tasks are cut: with probability ratio an example gets the label
    of a uniformly random other class, and so ends up in whatever task that class belongs to.
``foreign-skewed``
    the same as the paper's public code draws it: with probability ratio the label is drawn again from all classes but
    the last, the own one among them. Of ten classes a ratio of 0.3 changes 27% of the labels, and no label to 9.
``uniform``
    acts within a task: with probability ratio the label is drawn again from the task's labels.
``flip``
    acts within a task: with probability ratio the label becomes a uniformly random other one of the task's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from smartcl.data.batch import Ints


#: Those that act on all classes, before tasks are cut.
MISPLACING = ("foreign", "foreign-skewed")
KINDS = (*MISPLACING, "uniform", "flip")


@dataclass(frozen=True)
class NoiseModel:
    """Which labels go wrong and how often.

    >>> NoiseModel.parse("flip:0.3")
    NoiseModel(kind='flip', ratio=0.3)
    >>> str(NoiseModel.parse("flip:0.30")), str(NoiseModel.parse(None))
    ('flip:0.3', 'none')
    """

    kind: str = "none"
    ratio: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in ("none", *KINDS):
            raise ValueError(f"noise must be one of {ALLOWED}, got the kind {self.kind!r}")
        if not 0 <= self.ratio <= 1:
            raise ValueError(f"the ratio of {self.kind} noise must be in 0..1, got {self.ratio}")
        if self.kind == "none" and self.ratio:
            raise ValueError(f"noise 'none' takes no ratio, got {self.ratio}")

    @classmethod
    def parse(cls, text: NoiseModel | str | None) -> NoiseModel:
        """From ``"foreign:0.3"`` and the like; None means none, a model is returned as it is."""
        if isinstance(text, NoiseModel):
            return text
        if text is None or text == "none":
            return cls()
        try:
            kind, _, ratio = text.partition(":")
            return cls(kind, float(ratio))
        except (AttributeError, ValueError):
            raise ValueError(f"noise must be one of {ALLOWED}, got {text!r}") from None

    @property
    def misplaces(self) -> bool:
        """Whether it acts on all classes, before tasks are cut."""
        return self.kind in MISPLACING

    def __str__(self) -> str:
        """The one text of this model: ``parse`` makes it again, to the last digit of the ratio."""
        if self.kind == "none":
            return self.kind
        short = f"{self.ratio:g}"
        return f"{self.kind}:{short if float(short) == self.ratio else self.ratio}"


ALLOWED = ", ".join([*(f"'{kind}:RATIO'" for kind in KINDS), "'none'"]) + " with RATIO in 0..1"


def corrupt(y: Ints, n_labels: int, noise: NoiseModel, rng: np.random.Generator) -> Ints:
    """The labels of one task, ``0..n_labels-1``, after ``uniform`` or ``flip`` noise.

    >>> corrupt(np.array([0, 1, 1]), 2, NoiseModel("flip", 1.0), np.random.default_rng(0))
    array([1, 0, 0])
    """
    if noise.misplaces:
        raise ValueError(
            f"noise {str(noise)!r} exchanges examples between tasks, which this data set does not allow: "
            "its tasks share their labels. Use 'uniform:RATIO' or 'flip:RATIO'"
        )
    if noise.kind == "uniform":
        return redraw_label(y, n_labels, noise.ratio, rng)
    return other_label(y, n_labels, noise.ratio, rng) if noise.kind == "flip" else y


def misplace(labels: Ints, n_labels: int, noise: NoiseModel, rng: np.random.Generator) -> Ints:
    """The labels of all classes, before tasks are cut, after ``foreign`` noise of either kind; other noise comes later.

    >>> np.unique(misplace(np.full(99, 2), 3, NoiseModel("foreign-skewed", 1.0), np.random.default_rng(0)))
    array([0, 1])
    """
    if noise.kind == "foreign-skewed":
        return redraw_label(labels, n_labels - 1, noise.ratio, rng)
    return other_label(labels, n_labels, noise.ratio, rng) if noise.kind == "foreign" else labels


def other_label(y: Ints, n_labels: int, ratio: float, rng: np.random.Generator) -> Ints:
    """With probability ``ratio`` a uniformly random other label.

    Both draws cover all samples whatever the ratio: with one seed, a larger ratio corrupts the same samples
    in the same way, and more.

    >>> other_label(np.array([0, 1, 2]), 3, 0.0, np.random.default_rng(0))
    array([0, 1, 2])
    """
    hit = rng.random(len(y)) < ratio
    shift = rng.integers(1, n_labels, size=len(y))
    return np.where(hit, (y + shift) % n_labels, y)


def redraw_label(y: Ints, n_labels: int, ratio: float, rng: np.random.Generator) -> Ints:
    """With probability ``ratio`` a uniformly random label, which may be the same one; coupled in the ratio too.

    >>> redraw_label(np.array([0, 1, 2]), 1, 1.0, np.random.default_rng(0))
    array([0, 0, 0])
    """
    hit = rng.random(len(y)) < ratio
    fresh = rng.integers(0, n_labels, size=len(y))
    return np.where(hit, fresh, y)
