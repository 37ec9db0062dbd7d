"""Ridge regression on the features of a map, in closed form: one sum for each forgetting rate, and its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from smartcl.data.batch import Floats, Ints
from smartcl.data.spec import InputSpec
from smartcl.learners.class_places import placed
from smartcl.learners.ensemble.drift import CHANGED, NEW_TASK, RECURRED, Change
from smartcl.learners.ensemble.feature_maps import FeatureMap
from smartcl.learners.ensemble.member import Joint, MemberTerm, Past, log_softmax
from smartcl.learners.ensemble.rows import Samples, View
from smartcl.learners.ensemble.settings import (
    BATCH_ROWS,
    FORGETTING,
    LOOK_ROWS,
    MANY_FEATURES,
    PENALTIES,
    RECENT_ROWS,
    SETTLED_ROWS,
    SHARPNESS,
    SMALL_SHARE,
    SNAPSHOTS,
    WIDE,
)
from smartcl.learners.ensemble.sums import PACKED_FROM, Moments, Sums, leave_one_out
from smartcl.saving.saved import Saved


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Weights of the time before a change, with their sums where those are small, and how often they are right now."""

    weights: Floats
    sums: Sums | None
    right: float = 0.0
    asked: float = 0.0

    def after(self, features: Floats, y: Any) -> Snapshot:
        """With the answers to these rows counted in."""
        right = float((self.scores(features).argmax(axis=1) == y).sum())
        left = (1 - 1 / RECENT_ROWS) ** len(y)
        return replace(self, right=left * self.right + right, asked=left * self.asked + len(y))

    def scores(self, features: Floats) -> Floats:
        found: Floats = features[:, : len(self.weights)] @ self.weights
        return found

    @property
    def accuracy(self) -> float:
        return self.right / max(1.0, self.asked)

    def widened(self, n_classes: int) -> Snapshot:
        more = n_classes - self.weights.shape[1]
        sums = None if self.sums is None else self.sums.widened(n_classes)
        return replace(self, weights=np.pad(self.weights, ((0, 0), (0, more))), sums=sums)

    def placed(self, at: Ints, n_classes: int) -> Snapshot:
        """With its classes at these places among ``n_classes``."""
        sums = None if self.sums is None else self.sums.placed(at, n_classes)
        return replace(self, weights=placed(self.weights, at, n_classes), sums=sums)

    def state_dict(self) -> dict[str, Any]:
        sums = None if self.sums is None else self.sums.state_dict()
        return {"weights": self.weights, "sums": sums, "right": self.right, "asked": self.asked}

    @classmethod
    def from_state(cls, saved: Saved, like: Sums) -> Snapshot:
        """What ``state_dict`` described, of sums such as these."""
        sums = like.loaded(saved.part("sums")) if saved.has("sums") else None
        weights = np.array(saved.array("weights", like.products.shape, "float32"))
        return cls(weights, sums, saved.number("right", 0.0), saved.number("asked", 0.0))


class Expert(NamedTuple):
    """One answer: the sums it goes by, and how many of their first features."""

    sums: int
    width: int


@dataclass(frozen=True, eq=False)
class Ridge:
    """Sums with several forgetting rates; each is solved for its first features (the values) and for all."""

    sums: tuple[Sums, ...]
    linear: int
    weights: tuple[Floats, ...]
    penalties: tuple[float, ...]
    #: Rows learned, and of them those when each of the sums was last solved, and when penalties were last chosen.
    rows: int = 0
    solved_at: tuple[int, ...] = (0,) * len(FORGETTING)
    chosen_at: int = 0
    #: Features, labels and weights of rows that wait to be added to packed sums.
    waiting: tuple[tuple[Floats, Any, Floats | None], ...] = ()
    #: What was known before the newest changes, the newest first.
    snapshots: tuple[Snapshot, ...] = ()
    name: str = "ridge"

    @classmethod
    def of(cls, spec: InputSpec, features: FeatureMap) -> Self:
        """One that has learned nothing. On narrow rows the values alone are for logistic regression."""
        linear = features.linear if spec.n_features >= WIDE else 1
        return cls.fresh(features.width, linear, spec.n_classes)

    @classmethod
    def fresh(cls, width: int, linear: int, n_classes: int) -> Self:
        """For features of which the first ``linear`` are a constant and the values."""
        narrow = width if width < PACKED_FROM else max(linear, MANY_FEATURES)
        widths = [width if rate == 1 else narrow for rate in FORGETTING]
        sums = tuple(Sums.empty(size, n_classes, rate) for size, rate in zip(widths, FORGETTING, strict=True))
        made = cls(sums, linear, (), ())
        weights = tuple(np.zeros((expert.width, n_classes), np.float32) for expert in made._experts)
        return replace(made, weights=weights, penalties=tuple(1.0 for _ in made._widths))

    @property
    def _experts(self) -> list[Expert]:
        return [
            Expert(place, width)
            for place, sums in enumerate(self.sums)
            for width in dict.fromkeys((self.linear, sums.width))
            if width > 1
        ]

    @property
    def _widths(self) -> list[int]:
        """The different numbers of features that are solved for."""
        return sorted({expert.width for expert in self._experts})

    @property
    def experts(self) -> Sequence[str]:
        named = [
            f"{FORGETTING[expert.sums]:g}, {'linear' if expert.width == self.linear else 'features'}"
            for expert in self._experts
        ]
        return [*named, "snapshot"]

    @property
    def snapshot(self) -> Snapshot | None:
        """Of what was known before, what is right most often now."""
        return max(self.snapshots, key=lambda each: each.accuracy, default=None)

    def answers(self, rows: View, past: Past) -> Floats:
        features = rows.features
        scores = [features[:, : len(weights)] @ weights for weights in self.weights]
        snapshot = self.snapshot
        scores.append(np.zeros_like(scores[0]) if snapshot is None else snapshot.scores(features))
        return log_softmax(np.float32(SHARPNESS) * np.stack(scores, axis=1))

    def learn(self, new: Samples, past: Past) -> Self:
        taught = replace(self, snapshots=tuple(each.after(new.rows.features, new.y) for each in self.snapshots))
        taught = taught._with(new).with_penalties(past)
        unseen = bool((past.counts.seen[np.unique(new.y)] <= len(new)).any())
        if unseen or taught.chosen_at != self.chosen_at:
            return taught.solved()
        due = [place for place in range(len(taught.sums)) if taught._due(place)]
        return taught.solved(due) if due else taught

    def _due(self, place: int) -> bool:
        """Whether one of the sums is to be solved again: a tenth of what it remembers is new, or many rows are.

        Not before adding the new rows took about as long as a solution takes; but while the stream is young, at once.
        """
        at, patience = self.solved_at[place], max(BATCH_ROWS, self.sums[0].width // 6)
        young = min(patience, at) if at < 2 * patience else patience
        return self.rows - at >= max(young, min(SMALL_SHARE * self.sums[place].rows, SETTLED_ROWS))

    def _with(self, new: Samples) -> Self:
        return self._with_features(new.rows.features, new.y, new.weight)

    def _with_features(self, features: Floats, y: Any, weight: Floats | None) -> Self:
        """With the rows added, or waiting to be."""
        first, *others = self.sums
        batches, waiting = len(y) / BATCH_ROWS, (*self.waiting, (features, y, weight))
        moments = Moments.of(features[:, : others[0].width], y, first.products.shape[1], weight)
        if first.width == others[0].width:
            first, waiting = first.plus(moments, batches), ()
        elif sum(len(part[1]) for part in waiting) >= LOOK_ROWS:
            first, waiting = _folded(first, waiting), ()
        added = (sums.plus(moments, batches) for sums in others)
        return replace(self, sums=(first, *added), waiting=waiting, rows=self.rows + len(y))

    def without(self, gone: Samples) -> Self:
        """These rows, held by the sums of the whole past, taken out of them again.

        Sums that forget by age keep them until then. Snapshots go: they may have been taught by forgotten rows, which
        their weights do not show.
        """
        whole = replace(self.folded(), snapshots=())
        if not len(gone):
            return whole
        weight = np.ones(len(gone), np.float32) if gone.weight is None else gone.weight
        first = whole.sums[0].with_rows(gone.rows.features, gone.y, -weight)
        return replace(whole, sums=(first, *whole.sums[1:])).solved()

    def solved(self, some: Sequence[int] | None = None) -> Self:
        """With weights for the sums as they are; of some of them, where only those are asked for."""
        which = range(len(self.sums)) if some is None else some
        whole = self.folded() if 0 in which else self
        penalty, weights = dict(zip(self._widths, self.penalties, strict=True)), []
        units = {place: whole.sums[place].mean_square for place in which}
        for each, known in zip(self._experts, self.weights, strict=True):
            if each.sums not in which:
                weights.append(known)
                continue
            held = penalty[each.width] * units[each.sums]
            weights.append(whole.sums[each.sums].weights(held, each.width))
        solved_at = tuple(self.rows if place in which else at for place, at in enumerate(self.solved_at))
        return replace(whole, weights=tuple(weights), solved_at=solved_at)

    @property
    def whole_past(self) -> tuple[Sums, float]:
        """The sums of all rows, and what is added to their diagonal."""
        sums = _folded(self.sums[0], self.waiting)
        return sums, dict(zip(self._widths, self.penalties, strict=True))[sums.width] * sums.mean_square

    def restarted(self, samples: Samples, past: Past) -> Self:
        fresh = self.fresh(samples.rows.features.shape[1], self.linear, self.sums[0].products.shape[1])
        fresh = replace(fresh, penalties=self.penalties, chosen_at=self.chosen_at)
        features = samples.rows.features
        for start in range(0, len(samples), BATCH_ROWS):
            stop = start + BATCH_ROWS
            weight = None if samples.weight is None else samples.weight[start:stop]
            fresh = fresh._with_features(features[start:stop], samples.y[start:stop], weight)
        return replace(fresh, rows=self.rows).solved()

    def after_jump(self) -> Self:
        """The short memories begin anew: what the next rows say is not mixed with what was."""
        n_classes = self.sums[0].products.shape[1]
        fresh = (Sums.empty(sums.width, n_classes, sums.forgetting) for sums in self.sums[1:])
        return replace(self, sums=(self.sums[0], *fresh))

    def after_change(self, change: Change, past: Past) -> Self:
        """After a change the past is what has come since, or the snapshot that fits; a new task changes nothing."""
        if change.kind == NEW_TASK:
            return self
        whole = self.folded()
        first, place = whole.sums[0], [expert.width for expert in self._experts].index(self.sums[0].width)
        small = first.second.ndim == 2
        before, fits = Snapshot(self.weights[place], first if small else None), self.snapshot
        others = [each for each in self.snapshots if change.kind != RECURRED or each is not fits]
        if change.kind == RECURRED and fits is not None and fits.sums is not None:
            first = fits.sums
        elif change.kind == CHANGED:
            first = Sums.empty(first.width, first.products.shape[1], 1.0)
            newest = past.recent.last(change.rows_after)
            if len(newest):
                first = first.with_rows(past.features(newest.values), newest.y, newest.weight)
        snapshots = (before, *others)[:SNAPSHOTS]
        return replace(whole, sums=(first, *whole.sums[1:]), snapshots=snapshots).solved()

    def combined(self, parts: Sequence[MemberTerm[Self]], joint: Joint) -> Self:
        """Sums of the whole past add up, exactly; of those that forget, the mean is what one stream leaves."""
        rows, n_classes = joint.past.counts.total, joint.past.spec.n_classes
        if not joint.adds_up:
            begun = self.restarted(joint.for_all_rows, joint.past)
            return replace(begun, rows=rows).with_penalties(joint.past).solved()
        folded = [(part, part.member.folded().sums) for part in parts]
        sums = []
        for place, own in enumerate(self.sums):
            factors = [part.count if own.forgetting == 1 else part.share for part in parts]
            pairs = zip(factors, folded, strict=True)
            sums.append(Sums.combined([(f, held[place].placed(part.at, n_classes)) for f, (part, held) in pairs if f]))
        largest = max(parts, key=lambda part: (part.share, part.member.rows))
        snapshots = tuple(each.placed(largest.at, n_classes) for each in largest.member.snapshots)
        made = replace(self, sums=tuple(sums), rows=rows, penalties=largest.member.penalties, snapshots=snapshots)
        return made.with_penalties(joint.past).solved()

    def folded(self) -> Self:
        """With the rows that wait added to the sums."""
        return replace(self, sums=(_folded(self.sums[0], self.waiting), *self.sums[1:]), waiting=())

    def with_penalties(self, past: Past) -> Self:
        """Choose penalties by leave-one-out on stored rows, whenever twice as many rows have come.

        Of those that are as good as the best, within half a standard error, the largest.
        """
        if self.rows < 2 * self.chosen_at or len(past.recent) < 2 * BATCH_ROWS or len(np.unique(past.recent.y)) < 2:
            return self
        recent = past.recent.some(SETTLED_ROWS, past.rng)
        features, unit = past.features(recent.values), self.sums[0].mean_square
        n_classes = self.sums[0].products.shape[1]
        chosen = []
        for width in self._widths:
            shares = leave_one_out(features[:, :width], recent.y, n_classes, unit * np.array(PENALTIES))
            near = shares.max() - np.sqrt(shares.max() * (1 - shares.max()) / len(recent)) / 2
            chosen.append(PENALTIES[int(np.flatnonzero(shares >= near)[-1])])
        return replace(self, penalties=tuple(chosen), chosen_at=self.rows)

    def widened(self, n_classes: int, rng: np.random.Generator) -> Self:
        more = n_classes - self.sums[0].products.shape[1]
        weights = tuple(np.pad(each, ((0, 0), (0, more))) for each in self.weights)
        return replace(
            self,
            sums=tuple(sums.widened(n_classes) for sums in self.sums),
            weights=weights,
            snapshots=tuple(each.widened(n_classes) for each in self.snapshots),
        )

    @property
    def nbytes(self) -> int:
        weights = [*self.weights, *(each.weights for each in self.snapshots)]
        sums = [*self.sums, *(each.sums for each in self.snapshots if each.sums is not None)]
        waiting = sum(features.nbytes for features, _, _ in self.waiting)
        return waiting + sum(each.nbytes for each in weights) + sum(each.nbytes for each in sums)

    def state_dict(self) -> dict[str, Any]:
        counts = {"rows": self.rows, "solved_at": list(self.solved_at), "chosen_at": self.chosen_at}
        return {
            **counts,
            "penalties": list(self.penalties),
            "sums": [sums.state_dict() for sums in self.sums],
            "weights": [{"values": each} for each in self.weights],
            "snapshots": [each.state_dict() for each in self.snapshots],
            "waiting": [{"features": f, "y": y, "weight": w} for f, y, w in self.waiting],
        }

    def loaded(self, saved: Saved) -> Self:
        states, weights, width = saved.parts("sums"), saved.parts("weights"), self.sums[0].width
        penalties = saved.items("penalties")
        if len(states) != len(self.sums) or len(weights) != len(self.weights):
            saved.refuse("sums", f"must be {len(self.sums)}, with {len(self.weights)} weights")
        if len(penalties) != len(self.penalties) or not set(penalties) <= {1.0, *PENALTIES}:
            saved.refuse("penalties", f"must be {len(self.penalties)} of {PENALTIES}")
        solved_at = saved.counts("solved_at", len(self.sums), len(self.sums))
        n_classes, waiting = self.sums[0].products.shape[1], []
        for part in saved.parts("waiting"):
            features = np.array(part.array("features", (None, width), "float32"))
            y = np.array(part.array("y", (len(features),), "int64"))
            if len(y) and not 0 <= y.min() <= y.max() < n_classes:
                part.refuse("y", f"must be labels below {n_classes}")
            weight = np.array(part.array("weight", y.shape, "float32")) if part.has("weight") else None
            waiting.append((features, y, weight))
        return replace(
            self,
            sums=tuple(sums.loaded(state) for sums, state in zip(self.sums, states, strict=True)),
            weights=tuple(
                np.array(part.array("values", mine.shape, "float32"))
                for mine, part in zip(self.weights, weights, strict=True)
            ),
            penalties=tuple(float(each) for each in penalties),
            rows=saved.whole("rows", 0),
            solved_at=solved_at,
            chosen_at=saved.whole("chosen_at", 0),
            waiting=tuple(waiting),
            snapshots=tuple(Snapshot.from_state(part, self.sums[0]) for part in saved.parts("snapshots")),
        )


def _folded(sums: Sums, waiting: Sequence[tuple[Floats, Any, Floats | None]]) -> Sums:
    """The sums of the whole past with the waiting rows added."""
    if not waiting:
        return sums
    features, y = np.concatenate([part[0] for part in waiting]), np.concatenate([part[1] for part in waiting])
    weights = [np.ones(len(part[1]), np.float32) if part[2] is None else part[2] for part in waiting]
    weighted = any(part[2] is not None for part in waiting)
    batches = len(y) / BATCH_ROWS
    return sums.with_rows(features, y, np.concatenate(weights) if weighted else None, batches)
