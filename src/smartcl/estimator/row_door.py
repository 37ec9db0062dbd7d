"""The short way into an estimator: rows in the form of those before, whose settings were checked before.

Rows that may be wrong take the long way, which says what is wrong with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from smartcl.estimator.fitted import Fitted

#: Settings of these types cannot be changed from within.
UNCHANGING = (str, int, float, tuple, type(None))


@dataclass(frozen=True)
class Door:
    """The form of rows and labels that an estimator has learned, and the settings that were checked then.

    >>> from smartcl import SmartClassifier
    >>> model = SmartClassifier(memory="1kB").partial_fit([[0.5], [1.5]], [3, 4])
    >>> door = Door.of(model.get_params(deep=False), model._fitted)
    >>> door.labels(np.array([4, 3])), door.labels([5]) is None, door.labels([True]) is None
    (tensor([1, 0]), True, True)
    >>> door.rows(np.array([[1.0]])), door.rows(np.array([[np.nan]])) is None
    (tensor([[1.]]), True)
    """

    fitted: Fitted
    settings: tuple[tuple[str, Any], ...]
    index: Mapping[Any, int]
    kinds: tuple[type, ...]
    #: Lists of names among the settings, and what they held.
    lists: tuple[tuple[list[Any], list[Any]], ...] = ()

    @classmethod
    def of(cls, settings: Mapping[str, Any], fitted: Fitted) -> Door | None:
        """The short way for dense rows of flat numbers; None where there is none."""
        spec, names = fitted.built.spec, fitted.names
        lists = [value for value in settings.values() if isinstance(value, list)]
        simple = all(isinstance(value, (*UNCHANGING, list)) for value in settings.values())
        simple = simple and all(isinstance(each, UNCHANGING) for value in lists for each in value)
        if spec.sparse or spec.shape is not None or fitted.encoding is not None or not simple:
            return None
        kinds = {"U": (str,), "i": (int,), "u": (int,), "b": (bool,)}.get(names.dtype.kind)
        if kinds is None:
            return None
        index = {name: place for place, name in enumerate(names.tolist())}
        return cls(fitted, tuple(settings.items()), index, kinds, tuple((value, value.copy()) for value in lists))

    def open_for(self, settings: Mapping[str, Any], fitted: Fitted) -> bool:
        """Whether no setting has changed since."""
        if fitted is not self.fitted or any(now != before for now, before in self.lists):
            return False
        return all(settings[name] is value for name, value in self.settings)

    def rows(self, X: Any) -> torch.Tensor | None:
        """Rows as a learner takes them."""
        spec = self.fitted.built.spec
        if type(X) is not np.ndarray or X.ndim != 2 or X.shape[1] != spec.n_features or not len(X):
            return None
        if X.dtype not in (np.float32, np.float64) or not X.dtype.isnative or spec.dtype != "float32":
            return None
        if X.dtype == np.float64:
            return torch.from_numpy(X.astype(np.float32)) if np.abs(X).max() < 1e38 else None  # None for NaN too
        # a copy: the caller may change the array while the rows wait
        return torch.from_numpy(X.copy()) if np.isfinite(X.sum()) else None

    def labels(self, y: Any) -> torch.Tensor | None:
        """Labels as numbers of classes; None if one of them is new or of another kind."""
        if type(y) is np.ndarray:
            if y.ndim != 1 or y.dtype.kind != self.fitted.names.dtype.kind:
                return None
            y = y.tolist()
        elif type(y) is not list:
            return None
        if any(type(label) not in self.kinds for label in y):
            return None
        found = [self.index.get(label, -1) for label in y]
        return None if -1 in found else torch.from_numpy(np.array(found, dtype=np.int64))
