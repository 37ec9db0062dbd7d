"""A class that is predicted wherever its probability is at least so large, whatever the others have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Threshold:
    """A class, and the probability from which on it is said; below it, the most likely of the others is.

    >>> Threshold.of("spam=0.2", ["ham", "spam"]).places(np.array([[0.7, 0.3], [0.9, 0.1]]), ["ham", "spam"]).tolist()
    [1, 0]
    """

    name: str
    probability: float

    @classmethod
    def of(cls, text: str, classes: Sequence[str]) -> Threshold:
        """From ``class=probability``, or a ``ValueError`` that says what is wrong."""
        name, equals, number = text.rpartition("=")
        try:
            probability = float(number)
        except ValueError:
            probability = -1.0
        if not equals or not 0 <= probability <= 1:
            raise ValueError(f"--threshold must be CLASS=PROBABILITY, such as {classes[-1]}=0.3, got {text!r}")
        if name not in classes:
            raise ValueError(f"--threshold names the class {name!r}, which the model does not know: it knows {classes}")
        if len(classes) < 2:
            raise ValueError(f"--threshold wants another class beside {name!r}, and the model knows no other")
        return cls(name, probability)

    def places(self, probabilities: NDArray[np.float64], classes: Sequence[str]) -> NDArray[np.int64]:
        """The place of the predicted class of each row."""
        own, others = classes.index(self.name), probabilities.copy()
        others[:, own] = -1.0
        said: NDArray[np.int64] = np.where(probabilities[:, own] >= self.probability, own, others.argmax(axis=1))
        return said
