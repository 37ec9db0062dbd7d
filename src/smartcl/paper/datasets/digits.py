"""Images of the ten digits, and the small set of them that scikit-learn carries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints
from smartcl.paper.datasets.protocols import SKLEARN_DIGITS

N_DIGITS = 10
#: In scikit-learn's set every fifth image of a digit is for testing.
TEST_STRIDE = 5


@dataclass(frozen=True)
class DigitImages:
    """Flattened images in bytes up to ``peak``, which digit each shows, and where they come from.

    >>> images = load_digit_images()
    >>> images.train_x.shape, images.test_x.shape, images.train_x.dtype.name, images.peak
    ((1442, 64), (355, 64), 'uint8', 16)
    """

    train_x: NDArray[np.uint8]
    train_y: Ints
    test_x: NDArray[np.uint8]
    test_y: Ints
    name: str
    peak: int
    source: str

    def __post_init__(self) -> None:
        for part, x, y in (("train", self.train_x, self.train_y), ("test", self.test_x, self.test_y)):
            if x.ndim != 2 or y.ndim != 1 or len(x) != len(y):
                raise ValueError(f"{part}: one row and one label per image, got {x.shape} and {y.shape}")
            if len(y) and not 0 <= y.min() <= y.max() < N_DIGITS:
                raise ValueError(f"{part}: labels must be digits 0..9, got {y.min()}..{y.max()}")
        if self.train_x.shape[1] != self.test_x.shape[1]:
            raise ValueError(f"train has {self.train_x.shape[1]} pixels an image, test {self.test_x.shape[1]}")


def load_digit_images() -> DigitImages:
    """Scikit-learn's 1797 images of 8x8 pixels in 0..16, cut the same way every time."""
    # scikit-learn takes a second to import, and only this fallback needs it here
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    y = y.astype(np.int64)
    test = rank_within_label(y) % TEST_STRIDE == TEST_STRIDE - 1
    pixels = x.astype(np.uint8)
    return DigitImages(
        pixels[~test],
        y[~test],
        pixels[test],
        y[test],
        name="digits",
        peak=16,
        source=SKLEARN_DIGITS,
    )


def rank_within_label(y: Ints) -> Ints:
    """How many earlier samples carry the same label.

    >>> rank_within_label(np.array([7, 7, 3, 7]))
    array([0, 1, 0, 2])
    """
    rank = np.empty_like(y)
    for label in np.unique(y):
        members = y == label
        rank[members] = np.arange(members.sum())
    return rank
