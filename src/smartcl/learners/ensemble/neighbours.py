"""Nearest neighbours among the newest stored samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from scipy import sparse

from smartcl.data.batch import Floats
from smartcl.learners.ensemble.drift import Change
from smartcl.learners.ensemble.member import Joint, MemberTerm, Past, Recent, log_shares
from smartcl.learners.ensemble.rows import Samples, View
from smartcl.learners.ensemble.settings import NEIGHBOUR_ROWS, NEIGHBOURS
from smartcl.saving.saved import Saved


@dataclass(frozen=True)
class Neighbours:
    """Keeps nothing of its own: it reads the newest stored samples when it is asked."""

    name: str = "neighbours"

    @property
    def experts(self) -> Sequence[str]:
        return [f"{NEIGHBOURS} of {rows}" for rows in NEIGHBOUR_ROWS]

    def answers(self, rows: View, past: Past) -> Floats:
        recent, n_classes = past.recent.last(max(NEIGHBOUR_ROWS)), past.spec.n_classes
        if len(recent) < NEIGHBOURS:
            return np.full((len(rows), len(NEIGHBOUR_ROWS), n_classes), -np.log(n_classes), np.float32)
        distances = squared_distances(rows.values, recent.values, recent.squares)
        return log_shares(votes(distances, recent, n_classes, NEIGHBOUR_ROWS))

    def learn(self, new: Samples, past: Past) -> Self:
        return self

    def restarted(self, samples: Samples, past: Past) -> Self:
        return self

    def without(self, gone: Samples) -> Self:
        return self

    def after_jump(self) -> Self:
        return self

    def after_change(self, change: Change, past: Past) -> Self:
        return self

    def widened(self, n_classes: int, rng: np.random.Generator) -> Self:
        return self

    def combined(self, parts: Sequence[MemberTerm[Self]], joint: Joint) -> Self:
        return self

    @property
    def nbytes(self) -> int:
        return 0

    def state_dict(self) -> dict[str, Any]:
        return {}

    def loaded(self, saved: Saved) -> Self:
        return self


def squared_distances(rows: Any, others: Any, squares: Floats | None = None) -> torch.Tensor:
    """Of each row to each of the others, of known squared lengths; of sparse rows two minus twice the cosine.

    >>> squared_distances(np.array([[0.0, 1.0]], np.float32), np.array([[3.0, 5.0]], np.float32))
    tensor([[25.]])
    """
    if isinstance(rows, np.ndarray):
        rest = np.square(others).sum(axis=1) if squares is None else squares
        found = torch.addmm(torch.from_numpy(rest), torch.from_numpy(rows), torch.from_numpy(others).T, alpha=-2)
        return found.add_(torch.from_numpy(np.square(rows).sum(axis=1, keepdims=True))).clamp_(min=0)
    cosine = (unit_rows(rows) @ unit_rows(others).T).toarray()
    return torch.from_numpy(np.maximum(2 - 2 * cosine, 0).astype(np.float32))


def unit_rows(rows: sparse.csr_array[Any, tuple[int, int]]) -> sparse.csr_array[Any, tuple[int, int]]:
    """Sparse rows of length 1."""
    lengths = np.sqrt(np.asarray(rows.power(2).sum(axis=1)).ravel())
    scaled = rows.copy()
    scaled.data = scaled.data / np.repeat(np.maximum(lengths, 1e-12), np.diff(rows.indptr))
    return scaled


def votes(distances: torch.Tensor, recent: Recent, n_classes: int, ranges: Sequence[int]) -> Floats:
    """The share of each class among the nearest of the newest rows, ``[row, range, class]``; nearer ones count more."""
    count = min(NEIGHBOURS, len(recent))
    near = np.empty((len(distances), len(ranges), count), np.float32)
    nearest = np.empty(near.shape, np.int64)
    for place, rows in enumerate(ranges):
        first = max(0, len(recent) - rows)
        found = distances[:, first:].topk(count, dim=1, largest=False, sorted=False)
        near[:, place], nearest[:, place] = found.values.numpy(), found.indices.numpy() + first
    vote = 1 / (near + 0.1 * near.mean(axis=2, keepdims=True) + np.float32(1e-9))
    if recent.weight is not None:
        vote = vote * recent.weight[nearest].astype(np.float64)  # either may be huge
    cells = np.arange(near.shape[0] * near.shape[1])[:, None] * n_classes + recent.y[nearest].reshape(-1, count)
    shares = np.bincount(cells.ravel(), vote.ravel(), near.shape[0] * near.shape[1] * n_classes)
    shares = shares.reshape(*near.shape[:2], n_classes)
    shares_of: Floats = (shares / shares.sum(axis=2, keepdims=True)).astype(np.float32)
    return shares_of
