from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from test_image_classes import write_cifar

from smartcl.paper.datasets import encoded_rows
from smartcl.paper.datasets.cifar import CIFAR10
from smartcl.paper.datasets.encoded_rows import encoded_cifar10, encoded_items, encoded_newsgroups
from smartcl.paper.datasets.newsgroups import SKLEARN_FILES, as_tab
from smartcl.paper.datasets.protocols import ENCODED_IMAGES, ENCODED_TEXTS


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A stand-in for encoders: an image's mean colours, or a text's letters; how many items each call had."""
    made: list[int] = []

    def encoded(encoder: str, items: np.ndarray | Sequence[str]) -> np.ndarray:
        made.append(len(items))
        if encoder == ENCODED_IMAGES.encoder:
            return np.stack([image.reshape(-1, 3).mean(axis=0) for image in items]).astype(np.float16)
        return np.array([[text.count(chr(97 + n)) for n in range(5)] for text in items], dtype=np.float16)

    monkeypatch.setattr(encoded_rows, "encoded", encoded)
    return made


def test_images_are_encoded_once_piece_by_piece_in_their_colours(
    calls: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoded_rows, "PIECE_ROWS", 60)
    write_cifar(CIFAR10, tmp_path, per_file=20)
    stream = encoded_cifar10(seed=1, data_dir=tmp_path)
    assert calls == [60, 40, 20]
    assert stream.spec.dtype == "float32"
    assert stream.n_features == 3
    assert [sorted(set(task.train.y.tolist())) for task in stream.tasks] == [[n, n + 1] for n in range(0, 10, 2)]
    for task in stream.tasks:  # an image of class c is c everywhere but at one pixel: 200, 210, 220
        c = task.train.y[:, None].numpy()
        assert np.allclose(task.train.x.numpy(), (c * 1023 + np.array([200, 210, 220])) / 1024, atol=0.01)
    encoded_cifar10(seed=2, noise="foreign:0.4", data_dir=tmp_path)
    assert calls == [60, 40, 20]


def test_texts_are_those_of_the_newsgroups(calls: list[int], tmp_path: Path) -> None:
    for name, part in SKLEARN_FILES.items():
        rows = [(group, letter * (1 + (part == "test"))) for letter, group in zip("abcd", "wxyz", strict=True)] * 3
        (tmp_path / "newsgroups").mkdir(exist_ok=True)
        (tmp_path / "newsgroups" / name).write_text(as_tab(rows))
    stream = encoded_newsgroups(data_dir=tmp_path)
    assert stream.task_names == ("w, x", "y, z")
    assert all(task.train.x.argmax(axis=1).tolist() == task.train.y.tolist() for task in stream.tasks)
    assert all(set(task.test.x.max(axis=1).values.tolist()) == {2.0} for task in stream.tasks)
    assert calls == [12, 12]


def test_a_file_of_other_rows_is_refused(calls: list[int], tmp_path: Path) -> None:
    encoded_items(ENCODED_TEXTS.encoder, ["a", "b"], tmp_path)
    [path] = (tmp_path / encoded_rows.FOLDER / ENCODED_TEXTS.encoder).glob("*.npy")
    np.save(path, np.zeros((1, 5), np.float16))
    with pytest.raises(ValueError, match="must hold 2 rows, holds 1: remove it"):
        encoded_items(ENCODED_TEXTS.encoder, ["a", "b"], tmp_path)
