"""Protocol of a member of the ensemble: it learns samples, answers rows, and says what it keeps.

Members are values: ``learn`` gives the member that has learned and leaves the old one as it was. None reads another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Floats, Ints
from smartcl.data.spec import InputSpec
from smartcl.learners.class_counts import ClassCounts
from smartcl.learners.ensemble.drift import Change
from smartcl.learners.ensemble.rows import Samples, View
from smartcl.learners.ensemble.settings import LEAST
from smartcl.learners.weights import ClassWeight
from smartcl.memory.schematic_memory import SchematicMemory
from smartcl.network.scaling import InputScale
from smartcl.saving.saved import Saved

#: Scores in single or in double precision.
Scores = TypeVar("Scores", Floats, NDArray[np.float64])


@dataclass(frozen=True)
class Recent:
    """The newest stored samples that may be learned, oldest first: as they came, and scaled."""

    x: Any
    values: Any
    y: Ints
    weight: Floats | None = None
    #: The squared length of each scaled row, if rows are dense.
    squares: Floats | None = None

    def __len__(self) -> int:
        return len(self.y)

    def last(self, count: int) -> Recent:
        """The newest of them."""
        if len(self) <= count:
            return self
        newest = slice(len(self) - count, None)
        weight, squares = (None if each is None else each[newest] for each in (self.weight, self.squares))
        return Recent(self.x[newest], self.values[newest], self.y[newest], weight, squares)

    def some(self, count: int, rng: np.random.Generator) -> Recent:
        """At most ``count`` of them, drawn at random."""
        if len(self) <= count:
            return self
        at = np.sort(rng.choice(len(self), count, replace=False))
        return Recent(self.x[at], self.values[at], self.y[at], None if self.weight is None else self.weight[at])


@dataclass(frozen=True)
class Past:
    """All that members may read beside the samples that come: the memory, the counts and the generator."""

    spec: InputSpec
    memory: SchematicMemory
    recent: Recent
    counts: ClassCounts
    scale: InputScale | None
    #: From scaled rows to the features whose sums are kept.
    features: Callable[[Any], Floats]
    rng: np.random.Generator
    #: Stored samples by their positions.
    read: Callable[[Ints], Samples]
    #: How much the member that is asked counts: the sum of its weights over that of all.
    share: float = 1.0
    #: Whether the pool's answers are better for having its answers.
    adds: bool = True
    class_weight: ClassWeight = None
    #: By what the weights stored beside samples are divided.
    weight_unit: float = 1.0


MemberT = TypeVar("MemberT", bound="Member")


@dataclass(frozen=True)
class MemberTerm(Generic[MemberT]):
    """A member that learned apart from others, as it counts when they become one.

    ``count`` is how often its rows count: once, or less than nothing for what the others have in common. ``share`` is
    its part of the rows that are new. ``at`` are the places of its classes among all.
    """

    member: MemberT
    count: float
    share: float
    at: Ints


@dataclass(frozen=True)
class Joint:
    """What is there when members become one: the memory of all, and the stored samples that may be learned."""

    samples: Samples
    past: Past
    #: Whether all learned in one scale and by one map of features, so that their sums add up.
    adds_up: bool
    #: Whether all went on from one beginning.
    one_base: bool
    #: Stored samples that are learned by steps at most, each once; None: all.
    steps: int | None = None

    @property
    def for_all_rows(self) -> Samples:
        """The samples, each weighing as much as its class has rows for each one that is stored; 1 in the mean."""
        stored = np.bincount(self.samples.y, minlength=self.past.spec.n_classes)
        weight = (self.past.counts.seen / np.maximum(1, stored))[self.samples.y]
        evened: Floats = (weight / max(float(weight.mean()) if len(weight) else 1.0, 1e-12)).astype(np.float32)
        own = self.samples.weight
        return replace(self.samples, weight=evened if own is None else evened * own)


class Member(Protocol):
    """A classifier among others. ``experts`` names its answers: one member may give several."""

    @property
    def name(self) -> str: ...

    @property
    def experts(self) -> Sequence[str]: ...

    def answers(self, rows: View, past: Past) -> Floats:
        """Log-probabilities, where the member has any: ``[row, expert, class]``."""
        ...

    def learn(self, new: Samples, past: Past) -> Self:
        """The member that has learned these samples."""
        ...

    def restarted(self, samples: Samples, past: Past) -> Self:
        """The member that knows these samples, oldest first, and no others: inputs have another scale now."""
        ...

    def without(self, gone: Samples) -> Self:
        """The member without samples that it has learned, as far as it can forget."""
        ...

    def after_jump(self) -> Self:
        """The member after errors have jumped: the next rows may be of another concept."""
        ...

    def after_change(self, change: Change, past: Past) -> Self:
        """The member after a change of the stream."""
        ...

    def widened(self, n_classes: int, rng: np.random.Generator) -> Self:
        """With room for classes first seen now."""
        ...

    @property
    def nbytes(self) -> int:
        """What it keeps, in bytes."""
        ...

    def state_dict(self) -> dict[str, Any]: ...

    def loaded(self, saved: Saved) -> Self:
        """What ``state_dict`` described; damage is refused."""
        ...


@runtime_checkable
class Combinable(Protocol):
    """A member that several of its kind can become. One that is not is ``restarted`` with the stored samples."""

    def combined(self, parts: Sequence[MemberTerm[Any]], joint: Joint) -> Member:
        """One member of several that learned apart; this one has learned nothing."""
        ...


def log_shares(shares: Floats) -> Floats:
    """Logarithms of shares of classes, none of them below ``LEAST`` before they add up to one again.

    >>> log_shares(np.array([[1.0, 0.0]], dtype=np.float32)).round(2)
    array([[-0.01, -4.62]], dtype=float32)
    """
    clipped = np.maximum(shares, np.float32(LEAST))
    logs: Floats = np.log(clipped / clipped.sum(axis=-1, keepdims=True))
    return logs


def log_softmax(scores: Scores) -> Scores:
    """Over the last axis."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    logs: Scores = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return logs
