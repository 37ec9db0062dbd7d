"""A user's own images: a folder for each class, under ``images/train`` and ``images/test`` of the data folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints
from smartcl.errors import extra
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.downloads import FetchError, cache_folder
from smartcl.paper.datasets.image_classes import LabelledImages, class_stream
from smartcl.paper.datasets.protocols import OWN_IMAGES, TWO, ClassProtocol
from smartcl.paper.datasets.task_stream import TaskStream

FOLDER = "images"
ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
#: All images are brought to this height and width.
SIDE = 32


def class_images(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: ClassProtocol = TWO,
) -> TaskStream:
    """The classes in the order of their names, two at a time, as colour images of 32 by 32 pixels; needs Pillow."""
    return class_stream("class-images", load_image_folder(data_dir), protocol, seed, NoiseModel.parse(noise))


def load_image_folder(data_dir: Path | str | None = None) -> LabelledImages:
    """The images of all classes that ``images/train`` has a folder for; their digest is part of their source."""
    folder = cache_folder(data_dir) / FOLDER
    train, test = folder / "train", folder / "test"
    for needed in (train, test):
        if not needed.is_dir():
            raise FetchError(f"there is no folder {needed}: put a folder of images for each class there")
    classes = tuple(sorted(path.name for path in train.iterdir() if path.is_dir()))
    if len(classes) < 2:
        raise ValueError(f"{train} must have a folder for each of at least two classes, has {len(classes)}")
    stranger = next((path.name for path in sorted(test.iterdir()) if path.is_dir() and path.name not in classes), None)
    if stranger is not None:
        raise ValueError(f"{test} has a class {stranger!r} that {train} has not")
    (train_x, train_y), (test_x, test_y) = (read_classes(part, classes) for part in (train, test))
    digest = hashlib.sha256(train_x.tobytes() + train_y.tobytes() + test_x.tobytes() + test_y.tobytes()).hexdigest()
    source = f"{OWN_IMAGES}, {len(train_y):,} and {len(test_y):,}, {digest[:8]}"
    return LabelledImages(train_x, train_y, test_x, test_y, (3, SIDE, SIDE), classes, source)


def read_classes(folder: Path, classes: tuple[str, ...]) -> tuple[NDArray[np.uint8], Ints]:
    """The images of each class's folder, in the order of their names, and their classes."""
    images, labels = [], []
    for label, name in enumerate(classes):
        paths = [path for path in sorted((folder / name).glob("*")) if path.suffix.lower() in ENDINGS]
        if not paths:
            raise ValueError(f"there is no image in {folder / name}; known are {', '.join(ENDINGS)}")
        images += [read_image(path) for path in paths]
        labels += [label] * len(paths)
    return np.stack(images), np.array(labels, dtype=np.int64)


def read_image(path: Path) -> NDArray[np.uint8]:
    """An image in colour, 32 by 32, flat: red, then green, then blue."""
    pillow = extra("PIL.Image", "images")
    try:
        with pillow.open(path) as image:
            pixels = np.asarray(image.convert("RGB").resize((SIDE, SIDE)))
    except (OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"{path} is no image that can be read: {error}") from None
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)).reshape(-1)
