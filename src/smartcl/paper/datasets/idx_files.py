"""Labelled images in four IDX files, each with its checksum, from the first of several sources that has them.

The IDX format is a magic number, the sizes, the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smartcl.paper.datasets.digits import DigitImages
from smartcl.paper.datasets.downloads import (
    DownloadProgress,
    FetchError,
    fetch,
    file_chunks,
    gunzip,
    is_intact,
    store,
    terminal_bar,
)

#: The IDX code of the only type of value there is here.
UNSIGNED_BYTE = 0x08

#: The names of the four files, training images, training labels, test images and test labels, and the MD5 of each.
Checksums: TypeAlias = Mapping[str, str]

#: Puts the named files into the folder, or raises FetchError.
ImageSource: TypeAlias = Callable[[Path, list[str], DownloadProgress], None]


def complete(
    title: str,
    folder: Path,
    files: Checksums,
    sources: Mapping[str, ImageSource],
    progress: DownloadProgress | None = None,
) -> str:
    """Have the four intact files in ``folder``; says which source completed them."""
    missing = [name for name, md5 in files.items() if not is_intact(folder / name, md5)]
    if not missing:
        return "cache"
    refusals: list[str] = []
    with terminal_bar() if progress is None else nullcontext(progress) as show:
        for source, fill in sources.items():
            try:
                fill(folder, missing, show)
            except FetchError as error:
                refusals.append(str(error))
            else:
                return source
    remedy = f"put the four files, packed or not, into {folder}"
    raise FetchError("\n  ".join([f"{title} could not be had:", *refusals, remedy]))


def from_local_copy(
    files: Checksums, places: Iterable[str | Path], folder: Path, names: list[str], progress: DownloadProgress
) -> None:
    """From files, packed or not, in one of these places; those that are no absolute paths are beside the folder."""
    for name in names:
        beside = [folder.parent / place / file for place in places for file in (name, f"{name}.gz")]
        copy = next((path for path in beside if path.is_file()), None)
        if copy is None:
            raise FetchError(f"neither {name} nor {name}.gz is in {folder.parent}")
        chunks = file_chunks(copy)
        store(gunzip(chunks, str(copy)) if copy.suffix == ".gz" else chunks, folder / name, files[name], str(copy))


def from_mirror(url: str, files: Checksums, folder: Path, names: list[str], progress: DownloadProgress) -> None:
    for name in names:
        fetch(f"{url}{name}.gz", folder / name, files[name], progress=progress)


def read_images(folder: Path, files: Checksums, name: str, source: str) -> DigitImages:
    """The images of the four files, flat."""
    train_x, train_y, test_x, test_y = (read_idx(folder / file, ndim=3 if "images" in file else 1) for file in files)
    return DigitImages(
        train_x.reshape(len(train_x), -1),
        train_y.astype(np.int64),
        test_x.reshape(len(test_x), -1),
        test_y.astype(np.int64),
        name=name,
        peak=255,
        source=source,
    )


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
