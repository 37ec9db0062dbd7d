"""Several ensembles that learned apart, put together: sums and counts added, samples in one store.

What adds up is added, each once: what learners have in common from a base they went on from is taken out as often as
it would be there too often. What does not add up is made anew from the samples of all. ``Ensemble.become`` goes on
from it, and asks held-out samples how much each member counts now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints
from smartcl.learners.class_counts import ClassCounts
from smartcl.learners.ensemble.drift import CHANGED, RECURRED, DriftWatch
from smartcl.learners.ensemble.evidence import Evidence
from smartcl.learners.ensemble.feature_maps import HashedColumns, RandomFeatures
from smartcl.learners.ensemble.frame import Frame
from smartcl.learners.ensemble.member import Combinable, Joint, Member, MemberTerm
from smartcl.learners.ensemble.next_row import NextRow
from smartcl.memory import SampleStore
from smartcl.memory.union import drawn_alike, each_once, sample_keys, united
from smartcl.network.scaling import InputScale

if TYPE_CHECKING:
    from smartcl.learners.ensemble.ensemble import Ensemble


@dataclass(frozen=True)
class Term:
    """A learner, how often its rows count, its share of the new rows, and the places of its classes among all."""

    learner: Ensemble
    count: float
    share: float
    at: Ints


@dataclass(frozen=True)
class CombinedEnsemble:
    """What several learners know together."""

    terms: tuple[Term, ...]
    store: SampleStore
    offered: int
    counts: ClassCounts
    scale: InputScale | None
    #: The scale and the map that all have in common; None where each has its own.
    frame: Frame | None
    map: RandomFeatures | HashedColumns
    evidence: Evidence
    next_row: NextRow | None
    batches: int
    weighted: bool
    weight_unit: float
    keeps_ids: bool
    one_base: bool
    #: Stored samples that are learned by steps at most; None: all.
    steps: int | None
    #: Whether it is not known of each stored sample that the sums hold it.
    unsure: bool

    def member(self, blank: Member, joint: Joint) -> Member:
        """One member of those of its name in all learners."""
        if not isinstance(blank, Combinable):
            return blank.restarted(joint.for_all_rows, joint.past)
        place = [part.name for part in self.terms[0].learner.parts].index(blank.name)
        return blank.combined([MemberTerm(t.learner.parts[place], t.count, t.share, t.at) for t in self.terms], joint)


def together(
    learners: Sequence[Ensemble],
    places: Sequence[Ints],
    n_classes: int,
    room: int,
    base: Ensemble | None = None,
    base_at: Ints | None = None,
    in_turn: bool = False,
    steps: int | None = None,
) -> CombinedEnsemble:
    """Learners that learned apart, each from ``base`` if there is one; their classes are at these places among all.

    The newest samples are those of all learners, as if their rows had come in turns; or with ``in_turn``, those of the
    last, as if one had learned after the other. Networks learn at most ``steps`` stored samples.
    """
    counts = [each.counts.widened(each.spec.n_classes) for each in learners]
    counted = [own.placed(at, n_classes) for own, at in zip(counts, places, strict=True)]
    start = ClassCounts.none(n_classes)
    if base is not None and base_at is not None:
        start = base.counts.widened(base.spec.n_classes).placed(base_at, n_classes)
    all_counts, new = ClassCounts.together(counted, start), [own.total - start.total for own in counted]
    shares = [rows / sum(new) if sum(new) else 1 / len(new) for rows in new]
    terms = [Term(own, 1.0, share, at) for own, share, at in zip(learners, shares, places, strict=True)]
    begun_anew = [_begun_anew(own, base) for own in learners]
    if base is not None and base_at is not None:
        terms.append(Term(base, -max(0.0, begun_anew.count(False) - 1.0), 0.0, base_at))
    first = learners[0]
    same = all(same_basis(first, own) for own in learners)
    return CombinedEnsemble(
        terms=tuple(terms),
        store=_store(learners, places, new, room, base, base_at, in_turn),
        offered=all_counts.total,
        counts=all_counts,
        scale=_scale(learners, new),
        frame=first.frame if same else None,
        map=first.map,
        evidence=_evidence(learners, places, shares, n_classes, base, start.total),
        next_row=_next_row(learners, places, shares, n_classes),
        batches=max(own.batches for own in learners),
        weighted=first.weighted,
        weight_unit=first.weight_unit,
        keeps_ids=first.keeps_ids,
        one_base=base is not None,
        steps=steps,
        unsure=not same or any(own.summed.first or own.summed.mixed for own in learners) or any(begun_anew),
    )


def without(
    whole: Ensemble, gone: Ensemble, gone_at: Ints, base: Ensemble | None = None, base_at: Ints | None = None
) -> CombinedEnsemble:
    """A learner without a part of which it was made, which went on from ``base`` if there is one.

    Sums of the whole past, counts and samples are those of the other parts. Sums that forget keep what they hold until
    it fades, and weights that were taught by steps what they were taught.
    """
    if not same_basis(whole, gone):
        raise ValueError("a part can be taken out only if its sums add up with the model's: both must be of one base")
    n_classes = whole.spec.n_classes
    mine, theirs = whole.counts.widened(n_classes), gone.counts.widened(gone.spec.n_classes).placed(gone_at, n_classes)
    keys = sample_keys(whole.memory.store)
    out = np.isin(keys, sample_keys(gone.memory.store.relabelled(gone_at)))
    terms = [Term(whole, 1.0, 1.0, np.arange(n_classes)), Term(gone, -1.0, 0.0, gone_at)]
    if base is not None and base_at is not None:
        terms.append(Term(base, 1.0, 0.0, base_at))
        theirs = theirs.without(base.counts.widened(base.spec.n_classes).placed(base_at, n_classes))
        out &= ~np.isin(keys, sample_keys(base.memory.store.relabelled(base_at)))
    counts = mine.without(theirs)
    return CombinedEnsemble(
        terms=tuple(terms),
        store=whole.memory.store.take(~out),
        offered=counts.total,
        counts=counts,
        scale=whole.scale,
        frame=whole.frame,
        map=whole.map,
        evidence=whole.evidence,
        next_row=whole.next_row,
        batches=whole.batches,
        weighted=whole.weighted,
        weight_unit=whole.weight_unit,
        keeps_ids=whole.keeps_ids,
        one_base=True,
        steps=0,
        unsure=bool(whole.summed.first or whole.summed.mixed),
    )


def same_basis(one: Ensemble, other: Ensemble) -> bool:
    """Whether features of two learners are the same numbers: of one scale, by one map, in one unit of weight."""
    frames = all(np.array_equal(vars(one.frame)[name], vars(other.frame)[name]) for name in ("centre", "width"))
    mine, theirs = one.map.state_dict(), other.map.state_dict()
    maps = all(np.array_equal(mine[name], theirs[name]) for name in mine)
    return bool(frames and maps and one.weight_unit == other.weight_unit)


def same_beginning(learners: Sequence[Ensemble]) -> bool:
    """Whether learners surely went on from one: scales and thresholds found on rows are the same, or samples are."""
    first = learners[0]
    of_rows = bool(len(first.frame.centre)) and first.frame.rows > 0
    return len(learners) > 1 and of_rows and any(same_basis(first, own) for own in learners[1:])


def same_keys(learners: Sequence[Ensemble]) -> bool:
    """Whether samples drew the same keys: the learners had one seed."""
    return drawn_alike([own.memory.store for own in learners])


def _begun_anew(own: Ensemble, base: Ensemble | None) -> bool:
    """Whether the sums of the whole past have let go of what was before a change since the base."""
    known = () if base is None else base.changes
    return any(change.kind in (CHANGED, RECURRED) for change in own.changes if change not in known)


def _store(
    learners: Sequence[Ensemble],
    places: Sequence[Ints],
    new: Sequence[int],
    room: int,
    base: Ensemble | None,
    base_at: Ints | None,
    in_turn: bool,
) -> SampleStore:
    stores = [own.memory.store.relabelled(at) for own, at in zip(learners, places, strict=True)]
    ages: list[NDArray[np.float64]] = []
    for place, (store, rows) in enumerate(zip(stores, new, strict=True)):
        age = np.arange(len(store), 0, -1) / max(1, rows)
        ages.append(age + sum(len(later) for later in stores[place + 1 :]) if in_turn else age)
    whole = united(stores, ages, room)
    if base is None or base_at is None:
        return whole
    return whole.take(each_once(sample_keys(whole), sample_keys(base.memory.store.relabelled(base_at))))


def _scale(learners: Sequence[Ensemble], new: Sequence[int]) -> InputScale | None:
    weights = new if sum(new) else [1] * len(new)
    known = [(float(weight), own.scale) for weight, own in zip(weights, learners, strict=True) if own.scale is not None]
    return InputScale.together(known) if known else None


def _evidence(
    learners: Sequence[Ensemble],
    places: Sequence[Ints],
    shares: Sequence[float],
    n_classes: int,
    base: Ensemble | None,
    since: int,
) -> Evidence:
    parts = [(s, own.evidence.placed(at, n_classes)) for s, own, at in zip(shares, learners, places, strict=True)]
    before = DriftWatch() if base is None else base.evidence.drift
    return Evidence.together(parts, DriftWatch.together([(share, each.drift) for share, each in parts], before, since))


def _next_row(
    learners: Sequence[Ensemble], places: Sequence[Ints], shares: Sequence[float], n_classes: int
) -> NextRow | None:
    known = [
        (share, own.next_row.placed(at, n_classes))
        for share, own, at in zip(shares, learners, places, strict=True)
        if own.next_row is not None
    ]
    return NextRow.together(known) if known else None
