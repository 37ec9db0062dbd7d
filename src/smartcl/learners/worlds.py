"""Whether the world has changed or a task is new, and how the world was before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from smartcl.data.batch import Bools
from smartcl.data.spec import InputSpec
from smartcl.learners.evidence import NOTHING_ASKED, Duel, Floats
from smartcl.learners.model import Model, copied_weights, fill_weights
from smartcl.learners.recipe import Recipe
from smartcl.learners.weights import Labelled, take_samples
from smartcl.network.inputs import Prepared, join_alike
from smartcl.network.network import Network
from smartcl.saved import Saved

#: The steps in which a network may be torn, the samples of each side in one of them, and the least noise there is.
TORN_STEPS, TORN_SAMPLES, LEAST_NOISE = 60, 75, 0.2
#: Who tells newest inputs from older ones, in so many steps; an input may be an older one if it is found that likely.
TELLER, TELLER_STEPS, MAY_BE_OLDER = Recipe(hidden=(64,), lr=2e-3), 50, 0.4
#: Inputs that have so much in common are the same; a new task shares less with those before it than some.
SAME_INPUTS, SOME_INPUTS = 0.7, 0.3
#: How sure it must be that an elder is outdated; and by how many standard errors a network must err more often than
#: usual, to be torn: where inputs are the same, where only some are, and where labels are distrusted: the newest wrong
#: ones have not been learned by heart yet, and that looks like another world.
OUTDATED, TORN, SURELY_TORN, TORN_DISTRUSTED = 2.0, 1.0, 4.0, 8.0
#: Older samples mislead who learns them with the newest, of which there are so many: by so much, so surely, and twice.
MISLED_OF, MISLED, SURELY_MISLED = 200, 0.11, 4.5
#: After so many rows a network is noted as it is: an elder, of which there are two.
ELDER_ROWS, ELDERS = 500, 2
#: How sure it must be that a former world answers better, and how much of a batch's answers the next one leaves.
RETURNED, BACK_MEMORY = 4.0, 0.1
#: The rows over which the oldest network is compared with that of today; how sure it must be that steps teach.
LEAD_ROWS, TEACHES = 1000, 2.5


def torn_between(
    model: Model, newest: Labelled, older: Sequence[Labelled], rng: np.random.Generator, sure: float = TORN
) -> Model | None:
    """A copy of the model between the newest samples and older ones, if it surely cannot have both.

    Whoever learns a new task can have the old ones too; where the world has changed, nobody can have both. What the
    copy gets wrong is set against what another gets wrong between two parts of the older samples.
    """
    here, there = older
    (copy, wrong), (_, usual) = between(model, newest, there, rng), between(model, here, there, rng)
    noise = max(np.hypot(wrong.std(), usual.std()), LEAST_NOISE) / np.sqrt(min(len(wrong), len(usual)))
    return copy if wrong.mean() > usual.mean() + sure * noise else None


def misled_by(model: Model, newest: Labelled, older: Sequence[Labelled], rng: np.random.Generator) -> Model | None:
    """One like the model who has learned the newest samples and the older ones, if the older ones mislead it.

    Asked twice: a world that is taken for another without being one costs all that was known of it.
    """
    seen = np.isin(newest[1].numpy(), torch.cat([y for _, y in older]).numpy())  # a new class misleads nobody
    known = take_samples(newest, torch.from_numpy(np.flatnonzero(seen)))
    if len(known[1]) < MISLED_OF:
        return None
    for _ in range(2):
        both, duel = misleading(model, known, older, rng)
        if duel.gap < MISLED or duel.sureness < SURELY_MISLED:
            return None
    return both


def misleading(
    model: Model, newest: Labelled, older: Sequence[Labelled], rng: np.random.Generator
) -> tuple[Model, Duel]:
    """One who learns half of the newest samples and the older ones, against one who learns that half alone.

    They are asked about the other half, and begin anew: a network that has been learning in the new world for a while
    has both worlds by heart, and is not torn between them.
    """
    duel = NOTHING_ASKED
    for learned, asked in by_halves(newest, rng):
        alone, both = model.copy(), model.copy()
        for each in (alone, both):
            each.begin_anew(rng)
        for step in range(TELLER_STEPS):
            rows, y = drawn(learned, TORN_SAMPLES, rng)
            alone.descend(F.cross_entropy(alone.network(rows), y))
            teach(both, (rows, y), drawn(older[step % len(older)], TORN_SAMPLES, rng))
        duel = duel.after(right(both.network, *asked), right(alone.network, *asked), 1.0)
    return both, duel


def to_be_sure(
    model: Model,
    elder: Network,
    newest: Labelled,
    older: Sequence[Labelled],
    spec: InputSpec,
    distrusted: bool,
    rng: np.random.Generator,
) -> float | None:
    """How torn a network must be for the world to be another; None if it is not.

    So it is where inputs are new, where classes are, and where an elder still knows what comes.
    """
    likely = told_apart(newest[0], [rows for rows, _ in older], spec, rng)
    common = in_common(*likely)
    if common < SOME_INPUTS:
        return None
    may_be_older = likely[0] > MAY_BE_OLDER
    if common < SAME_INPUTS:  # a new class is no other world, unless it has the inputs of all the others
        may_be_older &= np.isin(newest[1].numpy(), torch.cat([y for _, y in older]).numpy())
    known = take_samples(newest, torch.from_numpy(np.flatnonzero(may_be_older)))
    if outdated(model, elder, known, rng).sureness < OUTDATED:
        return None
    if distrusted:
        return TORN_DISTRUSTED
    return TORN if common > SAME_INPUTS else SURELY_TORN


def told_apart(
    newest: Prepared, older: Sequence[Prepared], spec: InputSpec, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """How likely each of the newest inputs, and each of the older ones, is one of the older.

    Told by a network that learns half of both; the other half is asked about, and the other way round.
    """
    rows = join_alike([newest, *older], spec.n_features)
    side = torch.tensor([0] * len(newest) + [1] * (len(rows) - len(newest)))
    halves = np.array_split(rng.permutation(len(side)), 2)
    likely = np.full(len(side), 0.5)
    for learned, asked in (halves, halves[::-1]):
        sides = [take_samples((rows, side), torch.from_numpy(learned[side[learned] == each])) for each in (0, 1)]
        if not all(len(y) for _, y in sides):
            continue
        teller = Model(replace(spec, n_classes=2), TELLER, (), rng)
        for _ in range(TELLER_STEPS):
            teach(teller, *(drawn(samples, TORN_SAMPLES, rng) for samples in sides))
        some, _ = take_samples((rows, side), torch.from_numpy(asked))
        likely[asked] = belief(teller.predictor, some, torch.ones(len(asked), dtype=torch.int64))
    return likely[: len(newest)], likely[len(newest) :]


def in_common(newest: Floats, older: Floats) -> float:
    """How much inputs ``told_apart`` have in common: 1 where nobody can tell them apart, 0 where one always can."""
    return min(1.0, float((newest > 0.5).mean() + (older <= 0.5).mean()))


def outdated(model: Model, elder: Network, newest: Labelled, rng: np.random.Generator) -> Duel:
    """An elder, who knows none of the newest samples, against one who has learned half of them, on the other half.

    Of inputs that the elder has known well, only a changed world has more to teach.
    """
    duel = NOTHING_ASKED
    if len(newest[1]) < 2:
        return duel
    for learned, asked in by_halves(newest, rng):
        younger = model.copy()
        younger.take_over(elder)
        for _ in range(TELLER_STEPS):
            rows, y = drawn(learned, TORN_SAMPLES, rng)
            younger.descend(F.cross_entropy(younger.network(rows), y))
        duel = duel.after(right(elder, *asked), right(younger.network, *asked), 1.0)
    return duel


def between(model: Model, some: Labelled, others: Labelled, rng: np.random.Generator) -> tuple[Model, Bools]:
    """A copy of the model taught some samples as much as others, and what it still gets wrong."""
    copy = model.copy()
    for _ in range(TORN_STEPS):
        teach(copy, *(drawn(samples, TORN_SAMPLES, rng) for samples in (some, others)))
    return copy, ~np.concatenate([right(copy.predictor, *some), right(copy.predictor, *others)])


def teach(model: Model, some: Labelled, others: Labelled) -> None:
    """One step by the cross-entropy, of some samples as much as of others."""
    model.descend(F.cross_entropy(model.network(some[0], others[0]), torch.cat([some[1], others[1]])))


@dataclass(frozen=True)
class Worlds:
    """A network as it was some time ago, and as it was in the world before this one.

    A former world's network is asked about every batch. Where it knows better than who answers now, its world is back.
    """

    elders: tuple[Network, ...] = ()
    former: Network | None = None
    #: Rows since the last look, and the former network against the answers given.
    rows: int = 0
    back: Duel = NOTHING_ASKED
    #: The oldest network against that of today.
    lead: Duel = NOTHING_ASKED

    def after(self, network: Network, rows: int) -> Worlds:
        """After so many rows more; the network is noted now and then."""
        if self.rows + rows < ELDER_ROWS:
            return replace(self, rows=self.rows + rows)
        return replace(self, elders=(*self.elders, network.copy())[-ELDERS:], rows=0)

    def left(self) -> Worlds:
        """The world has changed: what an elder knew is how it was, if there was time to grow old."""
        former = self.elders[0] if len(self.elders) == ELDERS else self.former
        return Worlds(former=former)

    def asked(self, rows: Prepared, y: torch.Tensor, answered: Bools, today: Network) -> Worlds:
        """With a batch counted in that others have answered."""
        asked = self
        if self.former is not None:
            asked = replace(asked, back=self.back.after(answered, right(self.former, rows, y), BACK_MEMORY))
        if self.elders:
            memory = (1 - 1 / LEAD_ROWS) ** len(y)
            lead = self.lead.after(right(self.elders[0], rows, y), right(today, rows, y), memory)
            asked = replace(asked, lead=lead)
        return asked

    @property
    def teaches(self) -> bool | None:
        """Is today's network ahead of the oldest? None: there is none to compare with."""
        return self.lead.sureness > TEACHES if self.elders else None

    @property
    def returned(self) -> bool:
        return self.back.sureness > RETURNED

    def widened(self, n_classes: int, rng: np.random.Generator) -> Worlds:
        """With room for classes that have not come yet."""
        return replace(
            self,
            elders=tuple(_widened(network, n_classes, rng) for network in self.elders),
            former=None if self.former is None else _widened(self.former, n_classes, rng),
        )

    def state_dict(self) -> dict[str, Any]:
        return {
            "elders": [{"weights": copied_weights(network)} for network in self.elders],
            "former": None if self.former is None else {"weights": copied_weights(self.former)},
            "rows": self.rows,
            "back": self.back.state_dict(),
            "lead": self.lead.state_dict(),
        }

    @classmethod
    def from_state(cls, saved: Saved, like: Network) -> Worlds:
        """What ``state_dict`` described, of networks like this one."""
        elders, former = saved.parts("elders"), saved.optional("former")
        if len(elders) > ELDERS:
            saved.refuse("elders", f"must be at most {ELDERS} networks, are {len(elders)}")
        return cls(
            tuple(_filled(like, elder) for elder in elders),
            None if former is None else _filled(like, former),
            saved.whole("rows", 0, ELDER_ROWS),
            *(Duel.from_state(saved.part(name)) for name in ("back", "lead")),
        )


def _widened(network: Network, n_classes: int, rng: np.random.Generator) -> Network:
    twin = network.copy()
    twin.add_classes(n_classes, rng)
    return twin.requires_grad_(False)


def _filled(like: Network, saved: Saved) -> Network:
    network = like.copy()
    fill_weights(network, saved, "weights")
    return network


@torch.no_grad()
def right(network: Network, rows: Prepared, y: torch.Tensor) -> Bools:
    """Which labels a network gives itself."""
    return is_right(network(rows), y)


def is_right(answers: torch.Tensor, y: torch.Tensor) -> Bools:
    """Which labels are the likeliest by these answers."""
    result: Bools = (answers.argmax(dim=1) == y).numpy()
    return result


@torch.no_grad()
def belief(network: Network, rows: Prepared, y: torch.Tensor) -> Floats:
    """How likely a network finds each label."""
    result: Floats = network(rows).softmax(dim=1).gather(1, y[:, None])[:, 0].double().numpy()
    return result


def drawn(samples: Labelled, count: int, rng: np.random.Generator) -> Labelled:
    """So many of the samples, or all, in random order."""
    n = len(samples[1])
    return take_samples(samples, torch.from_numpy(rng.choice(n, min(count, n), replace=False)))


def by_halves(samples: Labelled, rng: np.random.Generator) -> list[tuple[Labelled, Labelled]]:
    """Half of the samples and the other half, and the other way round."""
    halves = np.array_split(rng.permutation(len(samples[1])), 2)
    some, others = (take_samples(samples, torch.from_numpy(half)) for half in halves)
    return [(some, others), (others, some)]
