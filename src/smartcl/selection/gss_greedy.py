"""GSS-Greedy: keep samples whose gradients differ in direction from those already kept.

Aljundi, Lin, Goujaud, Bengio, "Gradient based sample selection for online continual learning", NeurIPS 2019,
Algorithm 2.
"""

from __future__ import annotations

import numpy as np
import torch

from smartcl.data.batch import Ints
from smartcl.memory.pool import Pool, Selection, SelectorScores, longest_fit
from smartcl.network.gradients import SampleGradients, cosines_to_mean
from smartcl.selection.geometry import Geometry

FIRST_SCORE = 0.1


def max_cosines(new: SampleGradients, drawn: list[SampleGradients]) -> SelectorScores:
    """``max_k cos(g_i, g_k)`` of each new sample with the mean gradients ``g_k`` of the drawn mini-batches."""
    norms = new.squared_norms()
    products = torch.split(new.gram(drawn[0].join(drawn)), [len(batch) for batch in drawn], dim=1)
    cosines = [cosines_to_mean(k, norms, batch.gram(batch)) for k, batch in zip(products, drawn, strict=True)]
    scores: SelectorScores = torch.stack(cosines).amax(dim=0).numpy()
    return scores


def max_batch_cosine(new: SampleGradients, drawn: list[SampleGradients]) -> float:
    """``max_k cos(ḡ, g_k)`` for the mean gradient ``ḡ`` of all new samples."""
    norm = new.gram(new).mean().reshape(1)
    cosines = [cosines_to_mean(new.gram(batch).mean(dim=0, keepdim=True), norm, batch.gram(batch)) for batch in drawn]
    return float(torch.stack(cosines).amax())


class GSSGreedy:
    """A sample's score is its largest cosine with drawn memory gradients when it came, and is never refreshed.

    While there is room, samples are appended. When there is none, and only if the new batch opposes all of the drawn
    memory, stored samples drawn by score are paired with new ones, and a pair is exchanged with a probability that
    grows with the victim's score.
    """

    scored = True

    def __init__(self, batch_size: int = 50, batches: int | None = None) -> None:
        self.batch_size, self.batches = batch_size, batches

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        scores = pool.scores.copy()
        if pool.n_memory == 0:
            scores[:] = FIRST_SCORE
            return self._append(pool, room, scores)
        left = room - int(pool.sizes[: pool.n_memory].sum())
        if left < 0:
            return self._shed(pool, room)
        new, *drawn = self._traces(pool, rng)
        scores[pool.n_memory :] = max_cosines(new, drawn)
        if left >= int(pool.sizes[pool.n_memory]):
            return self._append(pool, room, scores)
        if max_batch_cosine(new, drawn) >= 0:
            return Selection(pool.old, scores[pool.old])
        return self._exchange(pool, left, scores, rng)

    def _traces(self, pool: Pool, rng: np.random.Generator) -> list[SampleGradients]:
        """The new samples and the drawn mini-batches, from one pass over all of them."""
        most = pool.n_memory if self.batches is None else self.batches * self.batch_size
        drawn: Ints = rng.permutation(pool.n_memory)[:most]
        starts = range(0, len(drawn), self.batch_size)
        sizes = [len(pool.new), *(min(self.batch_size, len(drawn) - start) for start in starts)]
        geometry: Geometry = pool.geometry
        return geometry.trace(np.concatenate([pool.new, drawn])).pieces(sizes)

    def _shed(self, pool: Pool, room: int) -> Selection:
        """The memory alone no longer fits (its overhead grew): the most redundant samples leave, and none enters."""
        held = pool.scores[: pool.n_memory]
        keep = longest_fit(np.argsort(held, kind="stable"), pool.sizes, room)
        return Selection(keep, held[keep])

    def _append(self, pool: Pool, room: int, scores: SelectorScores) -> Selection:
        fits = np.cumsum(pool.sizes) <= room
        keep = np.flatnonzero(fits)
        return Selection(keep, scores[keep])

    def _exchange(self, pool: Pool, left: int, scores: SelectorScores, rng: np.random.Generator) -> Selection:
        held = scores[: pool.n_memory].astype(np.float64)
        weights = (held - held.min()) / (held.max() - held.min() + 0.01)
        count = min(len(pool) - pool.n_memory, int(np.count_nonzero(weights)))
        stays = np.ones(len(pool), dtype=bool)
        stays[pool.n_memory :] = False
        if count:
            victims = rng.choice(pool.n_memory, count, replace=False, p=weights / weights.sum())
            chances = rng.random(count)
            for victim, newcomer, chance in zip(victims, pool.new, chances, strict=False):
                theirs, ours = scores[victim] + 1, scores[newcomer] + 1
                needed = int(pool.sizes[newcomer] - pool.sizes[victim])
                if chance * (theirs + ours) < theirs and needed <= left:
                    stays[victim], stays[newcomer] = False, True
                    left -= needed
        keep = np.flatnonzero(stays)
        return Selection(keep, scores[keep])
