"""Fashion-MNIST: ten kinds of clothes in the format of MNIST, from a folder, Debian's package or a mirror."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.digit_classes import digits_for_labels
from smartcl.paper.datasets.digit_pairs import pair_stream
from smartcl.paper.datasets.digits import DigitImages
from smartcl.paper.datasets.downloads import DownloadProgress, cache_folder, gunzip, store
from smartcl.paper.datasets.idx_files import ImageSource, complete, from_local_copy, from_mirror, read_images
from smartcl.paper.datasets.packages import debian_files, tar_member
from smartcl.paper.datasets.protocols import DISJOINT, FASHION, LONG, DigitProtocol
from smartcl.paper.datasets.task_stream import TaskStream

#: The four files and the MD5 of each, unpacked.
FILES = {
    "train-images-idx3-ubyte": "f4a8712d7a061bf5bd6d2ca38dc4d50a",
    "train-labels-idx1-ubyte": "9018921c3c673c538a1fc5bad174d6f9",
    "t10k-images-idx3-ubyte": "8181f5470baa50b63fa0f6fddb340f0a",
    "t10k-labels-idx1-ubyte": "15d484375f8d13e6eb1aabb0c3f46965",
}
MIRRORS = ("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",)
DEBIAN_PACKAGE = "dataset-fashion-mnist"
#: Where Debian's package puts the files when it is installed.
INSTALLED = Path("/usr/share/datasets/fashion-mnist")
#: Where a copy may lie in the data folder already, packed or not; the second is torchvision's layout.
LOCAL_FOLDERS = ("fashion-mnist", "FashionMNIST/raw")


def load_fashion(data_dir: Path | str | None = None, *, progress: DownloadProgress | None = None) -> DigitImages:
    """Fashion-MNIST from the data folder, or brought into its sub-folder ``fashion-mnist`` first."""
    folder = cache_folder(data_dir) / "fashion-mnist"
    return read_images(folder, FILES, "fashion", complete(FASHION, folder, FILES, sources(), progress))


def sources() -> dict[str, ImageSource]:
    """The sources by name, in the order they are tried."""
    mirrors: dict[str, ImageSource] = {url: partial(from_mirror, url, FILES) for url in MIRRORS}
    local = partial(from_local_copy, FILES, (*LOCAL_FOLDERS, INSTALLED))
    return {"local copy": local, f"Debian package {DEBIAN_PACKAGE}": from_debian, **mirrors}


def from_debian(folder: Path, names: list[str], progress: DownloadProgress) -> None:
    progress(f"apt-get download {DEBIAN_PACKAGE}", 0, None)
    with TemporaryDirectory() as scratch:
        archive = debian_files(DEBIAN_PACKAGE, Path(scratch))
        for name in names:
            packed = tar_member(archive, f".{INSTALLED.as_posix()}/{name}.gz")
            store(gunzip(packed, DEBIAN_PACKAGE), folder / name, FILES[name], DEBIAN_PACKAGE)


def disjoint_fashion(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: DigitProtocol = DISJOINT,
) -> TaskStream:
    """As ``disjoint_mnist``: five tasks, each telling one kind of clothes of a pair from the other."""
    return pair_stream("disjoint-fashion", load_fashion(data_dir), protocol, seed, NoiseModel.parse(noise), FASHION)


def class_fashion(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: DigitProtocol = LONG,
) -> TaskStream:
    """As ``class_mnist``: ten classes, two at a time, every image once."""
    return digits_for_labels(disjoint_fashion(seed, noise, data_dir, protocol))
