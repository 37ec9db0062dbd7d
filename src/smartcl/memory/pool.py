"""Selection protocol: the candidates for a memory's room, and the answer of a policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints
from smartcl.memory.nonzeros import narrow
from smartcl.memory.store import SampleStore

SelectorScores = NDArray[np.float32]

#: Roles of stored samples, in the column ``role`` of a store, one byte each: to be replayed; held out of learning, to
#: be asked about; or of a concept that no longer holds, and first to leave.
REPLAYED, HELD_OUT, DORMANT = 0, 1, 2

#: The share of its room that a memory may leave empty for the sake of the order of samples.
MOST_LEFT = 1 / 8


@dataclass(frozen=True)
class Offer:
    """Circumstances of an offer: the samples of the stream that each one stands for, and the effort they are worth.

    More than one, where not all are offered; less than 1, where little has been learned since the last came.
    """

    stands_for: float = 1.0
    effort: float = 1.0
    #: The share of the room that belongs to the newest samples, for policies that know such a share.
    recent: float = 0.0


USUAL_OFFER = Offer()


@dataclass(frozen=True)
class Pool:
    """The candidates: the memory's samples, then the new ones.

    ``scores`` of new samples mean nothing yet; ``extra`` are the columns stored beside each sample, by name. What a
    policy may ask the network about them is ``geometry``; the memory itself only hands it on.
    """

    sizes: Ints
    labels: Ints
    scores: SelectorScores
    n_memory: int
    geometry: Any
    extra: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    offer: Offer = USUAL_OFFER

    @classmethod
    def of(
        cls, candidates: SampleStore, fitting: Ints, n_memory: int, geometry: Any, offer: Offer = USUAL_OFFER
    ) -> Pool:
        """Those of the candidates that fit; the first ``n_memory`` candidates are the memory."""
        extra = {name: column[fitting] for name, column in candidates.extra.items()}
        return cls(
            candidates.sizes[fitting],
            candidates.labels[fitting].astype(np.int64),
            extra.get("score", np.zeros(len(fitting), dtype=np.float32)),
            int((fitting < n_memory).sum()),
            geometry,
            extra,
            offer,
        )

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def old(self) -> Ints:
        return np.arange(self.n_memory)

    @property
    def new(self) -> Ints:
        return np.arange(self.n_memory, len(self))


@dataclass(frozen=True)
class Selection:
    """Which candidates stay (ascending positions), and their scores from now on."""

    keep: Ints
    scores: SelectorScores


class Selector(Protocol):
    """``room`` is in bytes: the kept samples' sizes must not exceed it in sum.

    ``scored`` says whether a score is kept, and charged, with each sample.
    """

    scored: bool

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        """The candidates that stay; all random draws come from ``rng``."""
        ...


def sorted_by(keys: SelectorScores, *groups: NDArray[Any]) -> Ints:
    """Positions by the last group, within it by the one before, and at last by key; equals stay in order.

    This is ``np.lexsort((keys, *groups))`` with groups that are bools or whole numbers, in passes of sixteen bits where
    they are small: those take linear time, a fifth of it for a hundred thousand samples.

    >>> sorted_by(np.array([0.3, 0.1, 0.2], dtype=np.float32), np.array([0, 1, 0]))
    array([2, 0, 1])
    """
    bits = keys.view(np.int32)
    ascending = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # as whole numbers, negative keys would sort in the wrong order
    order: Ints = np.argsort(ascending.astype(np.uint16), kind="stable")
    for numbers in ((ascending >> 16).astype(np.int16), *(narrow(group) for group in groups)):
        order = order[np.argsort(numbers[order], kind="stable")]
    return order


def longest_fit(order: Ints, sizes: Ints, room: int) -> Ints:
    """The longest run from the start of ``order`` that fits ``room``, in ascending position.

    A sample so large that the run would end with much of the room empty is passed over.

    >>> longest_fit(np.array([2, 0, 1]), sizes=np.array([5, 3, 4]), room=9)
    array([0, 2])
    >>> longest_fit(np.array([2, 0, 1]), sizes=np.array([60, 3, 4]), room=61)
    array([1, 2])
    """
    keep, left = np.zeros(len(sizes), dtype=np.bool_), room
    while len(order) and left > MOST_LEFT * room:
        fitting = int(np.searchsorted(np.cumsum(sizes[order]), left, side="right"))
        run, order = np.split(order, [fitting])
        keep[run] = True
        left -= int(sizes[run].sum())
        fits = sizes[order] <= left
        order = order[np.argmax(fits) :] if fits.any() else order[:0]
    return np.flatnonzero(keep)


def roles_in(pool: Pool) -> NDArray[np.uint8]:
    """The candidates' roles: all to be replayed, where nothing else is said."""
    return pool.extra.get("role", np.zeros(len(pool), dtype=np.uint8))
