"""Images and texts as rows of an encoder, classes in turn; rows are encoded once and kept in the data folder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from smartcl.encoders.efficientnet_lite import ImageEncoder
from smartcl.encoders.named import named_encoder
from smartcl.paper.datasets.cifar import CIFAR10, load_cifar
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.downloads import cache_folder, md5_of, store
from smartcl.paper.datasets.image_classes import LabelledImages, class_stream
from smartcl.paper.datasets.newsgroups import FOLDER as NEWSGROUPS_FOLDER
from smartcl.paper.datasets.newsgroups import PACKAGE_FILES, obtain, read_tab
from smartcl.paper.datasets.protocols import (
    ENCODED_IMAGES,
    ENCODED_TEXTS,
    PACKAGE,
    SKLEARN_COPY,
    EncodedProtocol,
)
from smartcl.paper.datasets.task_stream import TaskStream

FOLDER = "encoded"
#: Items encoded between two files: what an interrupt may cost.
PIECE_ROWS = 5000
#: Images that go through a network together: less than half of the time of one by one.
IMAGES_AT_A_TIME = 16


def encoded_cifar10(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: EncodedProtocol = ENCODED_IMAGES,
) -> TaskStream:
    """CIFAR-10 as rows of an encoder of images."""
    images = load_cifar(CIFAR10, data_dir)
    parts = [x.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1) for x in (images.train_x, images.test_x)]
    train, test = (encoded_items(protocol.encoder, part, data_dir) for part in parts)
    rows = replace(images, train_x=train, test_x=test, shape=None)
    return class_stream("encoded-cifar10", rows, protocol, seed, NoiseModel.parse(noise))


def encoded_newsgroups(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: EncodedProtocol = ENCODED_TEXTS,
) -> TaskStream:
    """20 Newsgroups as rows of an encoder of texts; groups in the order of their names."""
    files = obtain(cache_folder(data_dir) / NEWSGROUPS_FOLDER)
    (train_groups, train), (test_groups, test) = map(read_tab, files)
    names, train_y = np.unique(train_groups, return_inverse=True)
    rows = LabelledImages(
        encoded_items(protocol.encoder, train, data_dir),
        train_y.astype(np.int64),
        encoded_items(protocol.encoder, test, data_dir),
        np.searchsorted(names, test_groups).astype(np.int64),
        None,
        tuple(names.tolist()),
        PACKAGE if files[0].name in PACKAGE_FILES else SKLEARN_COPY,
    )
    return class_stream("encoded-newsgroups", rows, protocol, seed, NoiseModel.parse(noise))


def encoded_items(
    encoder: str, items: NDArray[Any] | Sequence[str], data_dir: Path | str | None = None
) -> NDArray[np.float32]:
    """The rows of these items, from the data folder where they were encoded before; kept in half precision."""
    made = []
    for start in range(0, len(items), PIECE_ROWS):
        piece = items[start : start + PIECE_ROWS]
        content = piece.tobytes() if isinstance(piece, np.ndarray) else "\0".join(piece).encode()
        digest = hashlib.sha256(content).hexdigest()[:16]
        path = cache_folder(data_dir) / FOLDER / encoder.replace("/", "-") / f"{digest}.npy"
        if not path.is_file():
            write_rows(path, encoded(encoder, piece))
        made.append(np.load(path, allow_pickle=False).astype(np.float32))
        if made[-1].shape[0] != len(piece):
            raise ValueError(f"{path} must hold {len(piece)} rows, holds {made[-1].shape[0]}: remove it")
    return np.concatenate(made)


def encoded(encoder: str, items: Any) -> NDArray[np.float16]:
    """The rows of some items, encoded now."""
    encode = named_encoder(encoder).encode
    if isinstance(encode, ImageEncoder):
        encode = replace(encode, at_a_time=IMAGES_AT_A_TIME)
    return cast("NDArray[np.float16]", encode(items).astype(np.float16))


def write_rows(path: Path, rows: NDArray[np.float16]) -> None:
    """Keep the rows whole, or not at all."""
    data = BytesIO()
    np.save(data, rows)
    store([data.getvalue()], path, md5_of(data.getvalue()), "the encoder")
