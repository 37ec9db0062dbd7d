from __future__ import annotations

import gzip
import hashlib
import struct
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loopback import Site

from smartcl.paper.datasets import fashion
from smartcl.paper.datasets.downloads import FetchError
from smartcl.paper.datasets.fashion import class_fashion, disjoint_fashion, load_fashion
from smartcl.paper.datasets.protocols import DISJOINT


def idx(values: np.ndarray) -> bytes:
    return struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape) + values.astype(np.uint8).tobytes()


TRAIN_Y, TEST_Y = np.arange(60) % 10, np.arange(20) % 10
BODIES = {
    "train-images-idx3-ubyte": idx(np.repeat(TRAIN_Y + 1, 16).reshape(60, 4, 4)),
    "train-labels-idx1-ubyte": idx(TRAIN_Y),
    "t10k-images-idx3-ubyte": idx(np.repeat(TEST_Y + 1, 16).reshape(20, 4, 4)),
    "t10k-labels-idx1-ubyte": idx(TEST_Y),
}
PROTOCOL = replace(DISJOINT, samples_per_task=10, batch_size=5)


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Small files under known names, and no source but those that a test makes."""
    monkeypatch.setattr(fashion, "FILES", {name: hashlib.md5(body).hexdigest() for name, body in BODIES.items()})
    monkeypatch.setattr(fashion, "MIRRORS", ())
    monkeypatch.setattr(fashion, "INSTALLED", tmp_path / "installed")
    monkeypatch.setenv("SMARTCL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def write(folder: Path, packed: bool) -> None:
    folder.mkdir(parents=True)
    for name, body in BODIES.items():
        (folder / f"{name}{'.gz' * packed}").write_bytes(gzip.compress(body) if packed else body)


@pytest.mark.parametrize("place", ["data/fashion-mnist", "data/FashionMNIST/raw", "installed"])
@pytest.mark.parametrize("packed", [True, False])
def test_a_folder_of_idx_files_serves(place: str, packed: bool, tmp_path: Path) -> None:
    write(tmp_path / place, packed)
    images = load_fashion()
    assert images.train_x.shape == (60, 16)
    assert (images.train_x[:, 0] == images.train_y + 1).all()
    assert images.name == "fashion"


def test_clothes_come_two_at_a_time(tmp_path: Path) -> None:
    write(tmp_path / "data" / "fashion-mnist", packed=False)
    pairs, classes = disjoint_fashion(protocol=PROTOCOL), class_fashion(protocol=PROTOCOL)
    assert (pairs.name, pairs.n_classes, pairs.source) == ("disjoint-fashion", 2, "Fashion-MNIST")
    assert (classes.name, classes.n_classes) == ("class-fashion", 10)
    for number, task in enumerate(classes.tasks):
        assert set(task.train.y.tolist()) == {2 * number, 2 * number + 1}
        assert (task.train.x[:, 0] == task.train.y + 1).all()


def test_debians_package_is_downloaded_and_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = tmp_path / "package"
    write(Path(f"{made}{tmp_path}/installed"), packed=True)
    monkeypatch.setattr(fashion, "debian_files", lambda package, folder: archived(made, folder))
    assert len(load_fashion().train_y) == 60


def archived(made: Path, folder: Path) -> Path:
    """What dpkg-deb gives of a package: a tar archive whose names begin with a dot."""
    with tarfile.open(folder / "files.tar", "w") as tar:
        tar.add(made, ".")
    return folder / "files.tar"


def test_without_any_source_every_refusal_is_listed(
    monkeypatch: pytest.MonkeyPatch, site: Site, tmp_path: Path
) -> None:
    monkeypatch.setattr(fashion, "MIRRORS", (site.url,))
    with pytest.raises(FetchError) as refusal:
        load_fashion()
    for part in ("Fashion-MNIST could not be had", "neither train-images", "no apt-get on the PATH", site.url):
        assert part in str(refusal.value)


def test_a_damaged_copy_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "data" / "FashionMNIST" / "raw", packed=False)
    (tmp_path / "data" / "FashionMNIST" / "raw" / "t10k-labels-idx1-ubyte").write_bytes(b"short")
    with pytest.raises(FetchError, match=r"t10k-labels-idx1-ubyte from .* is corrupt or truncated"):
        load_fashion()


def test_what_apt_get_says_is_passed_on(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for tool, says in (("apt-get", "E: Unable to locate package"), ("dpkg-deb", "")):
        (tmp_path / "bin" / tool).write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 100\n")
        (tmp_path / "bin" / tool).chmod(0o755)
    with pytest.raises(FetchError, match="apt-get download dataset-fashion-mnist: E: Unable to locate package"):
        load_fashion()
