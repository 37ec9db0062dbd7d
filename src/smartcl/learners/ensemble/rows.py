"""Rows and samples as members read them: as they came, scaled, and as a network takes them; each form is made once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from smartcl.data.batch import Floats, Ints, Rows, take_rows
from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.settings import WIDE
from smartcl.network.inputs import Prepared


class View:
    """Some rows: ``x`` as they came, ``values`` scaled, ``prepared`` for a network, ``features`` of the shared map."""

    def __init__(
        self,
        x: Rows,
        prepare: Callable[[Rows], Prepared],
        scale: Callable[[Rows], Any],
        features: Callable[[Any], Floats],
    ) -> None:
        self.x = x
        self._prepare, self._scale, self._map = prepare, scale, features

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def taken(self, index: Ints) -> View:
        """Some of the rows; forms that were made are taken along."""
        part = View(take_rows(self.x, index), self._prepare, self._scale, self._map)
        for name in ("values", "features"):
            if name in vars(self):
                vars(part)[name] = vars(self)[name][index]
        return part

    @cached_property
    def values(self) -> Any:
        """Scaled rows: a dense array, or CSR."""
        return self._scale(self.x)

    @cached_property
    def features(self) -> Floats:
        """The features whose sums are kept."""
        return self._map(self.values)

    @cached_property
    def prepared(self) -> Prepared:
        """Rows as a network takes them."""
        return self._prepare(self.x)

    @property
    def raw(self) -> Any:
        """Rows as they came: a dense array, or CSR."""
        return unscaled(self.x, self.values)


def as_table(x: Rows, spec: InputSpec) -> Rows:
    """Sparse rows of few features as a dense tensor: they are a table. All others as they are."""
    return x if isinstance(x, torch.Tensor) or spec.n_features >= WIDE else torch.from_numpy(x.toarray())


def unscaled(x: Rows, values: Any) -> Any:
    """Rows as they came, dense or CSR as their scaled ``values`` are."""
    if isinstance(x, torch.Tensor):
        return x.numpy()
    return x.toarray() if isinstance(values, np.ndarray) else x


@dataclass(frozen=True)
class Samples:
    """Labelled rows, and how much each counts; None: all alike."""

    rows: View
    y: Ints
    weight: Floats | None = None

    def __len__(self) -> int:
        return len(self.y)

    def taken(self, index: Ints) -> Samples:
        """Some of the samples."""
        return Samples(self.rows.taken(index), self.y[index], None if self.weight is None else self.weight[index])
