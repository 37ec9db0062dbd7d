from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from smartcl.paper.datasets.digits import DigitImages, load_digit_images


def test_every_bundled_image_is_in_one_part_with_its_label() -> None:
    images, (x, y) = load_digit_images(), load_digits(return_X_y=True)
    ours = np.column_stack(
        [np.concatenate([images.train_x, images.test_x]), np.concatenate([images.train_y, images.test_y])]
    )
    theirs = np.column_stack([x, y]).astype(np.int64)
    np.testing.assert_array_equal(ours[np.lexsort(ours.T)], theirs[np.lexsort(theirs.T)])
    assert images.train_x.max() == images.peak == 16


def test_a_fifth_of_every_digit_is_for_testing() -> None:
    images = load_digit_images()
    n_train, n_test = np.bincount(images.train_y), np.bincount(images.test_y)
    np.testing.assert_array_equal(n_test, (n_train + n_test) // 5)


@pytest.mark.parametrize(
    ("rows", "labels", "complaint"),
    [(3, [0, 1], "train: one row"), (2, [0, 10], "train: labels must be digits"), (2, [-1, 0], "digits 0..9")],
)
def test_images_that_do_not_fit_their_labels_are_refused(rows: int, labels: list[int], complaint: str) -> None:
    x, y = np.zeros((rows, 4), np.uint8), np.array(labels)
    with pytest.raises(ValueError, match=complaint):
        DigitImages(x, y, x[:1], np.array([0]), name="toy", peak=255, source="here")


def test_parts_of_different_width_are_refused() -> None:
    wide, narrow, y = np.zeros((1, 4), np.uint8), np.zeros((1, 3), np.uint8), np.array([0])
    with pytest.raises(ValueError, match="train has 4 pixels an image, test 3"):
        DigitImages(wide, y, narrow, y, name="toy", peak=255, source="here")
