from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import savemat
from scipy.io.matlab import MatlabObject

from smartcl.paper.datasets.mat import cells, read_mat, texts

NUMBERS = np.arange(24.0).reshape(2, 3, 4)


def cell(*items: object) -> np.ndarray:
    array = np.empty((1, len(items)), dtype=object)
    array[0] = items
    return array


def saved(path: Path, **variables: object) -> Path:
    savemat(path, variables, do_compression=True)
    return path


def as_object(fields: np.ndarray) -> MatlabObject:
    return MatlabObject(fields, "table")


def test_numbers_texts_cells_and_sparse_matrices_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "toy.mat",
        X=NUMBERS,
        city=cell("bogot\\u00e1_bogot\\u00e1", "", "lima"),
        parts=cell(np.eye(2), sparse.csc_array(np.eye(3))),
    )
    found = read_mat(path, ["X", "city"], ["parts"])
    np.testing.assert_array_equal(found["X"], NUMBERS)
    assert texts("city", found["city"]) == ("bogotá_bogotá", "", "lima")
    one, two = cells("parts", found["parts"])
    np.testing.assert_array_equal(one, np.eye(2))
    np.testing.assert_array_equal(two.toarray(), np.eye(3))


def test_only_what_is_asked_for_is_loaded(tmp_path: Path) -> None:
    fields = np.array([(1.0,)], dtype=[("data", object)])
    path = saved(tmp_path / "toy.mat", X=NUMBERS, table=as_object(fields), Z=np.eye(2))
    assert list(read_mat(path, ["X"], ["absent"])) == ["X"]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (as_object(np.array([(1.0,)], dtype=[("data", object)])), "MatlabObject"),
        (cell(as_object(np.array([(1.0,)], dtype=[("data", object)]))), "ndarray"),
        ({"field": 1.0}, "ndarray"),
        (np.array([[1j]]), "ndarray"),
    ],
)
def test_objects_structures_and_complex_numbers_are_refused(tmp_path: Path, value: object, kind: str) -> None:
    path = saved(tmp_path / "toy.mat", X=value)
    with pytest.raises(ValueError, match=f"X must hold numbers, texts or cells of them, not {kind}"):
        read_mat(path, ["X"])


def test_missing_variables_are_named(tmp_path: Path) -> None:
    path = saved(tmp_path / "toy.mat", X=NUMBERS)
    with pytest.raises(ValueError, match=r"toy\.mat has no variable Y, Z"):
        read_mat(path, ["X", "Y", "Z"])


@pytest.mark.parametrize(
    "body",
    [
        b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM" + bytes(400),
        b"\x89HDF\r\n\x1a\n" + bytes(200),
    ],
)
def test_a_file_of_the_hdf5_kind_says_how_to_save_it_again(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "new.mat"
    path.write_bytes(body)
    with pytest.raises(ValueError, match=r"new\.mat is a MATLAB 7\.3 \(HDF5\) file; save it again .*'-v7'"):
        read_mat(path, ["X"])


@pytest.mark.parametrize("body", [b"", b"short", b"X;Y\n1;2\n" * 100, bytes(300)])
def test_what_is_no_matlab_file_is_refused(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "odd.mat"
    path.write_bytes(body)
    with pytest.raises(ValueError, match=r"odd\.mat"):
        read_mat(path, ["X"])


def test_a_matlab_4_file_is_refused(tmp_path: Path) -> None:
    savemat(tmp_path / "old.mat", {"X": np.eye(2)}, format="4")
    with pytest.raises(ValueError, match="is not a MATLAB 5 file"):
        read_mat(tmp_path / "old.mat", ["X"])


def test_an_unreadable_path_is_the_systems_own_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_mat(tmp_path / "absent.mat", ["X"])


@pytest.fixture(scope="module")
def whole() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return saved(Path(folder, "toy.mat"), X=NUMBERS, city=cell("a", "b")).read_bytes()


def outcome(path: Path) -> str:
    try:
        return type(read_mat(path, ["X"])["X"]).__name__
    except ValueError as error:
        return str(error)


@given(st.data())
def test_a_truncated_or_changed_file_is_refused_by_name_or_still_gives_arrays(
    whole: bytes, data: st.DataObject
) -> None:
    length = data.draw(st.integers(0, len(whole)), label="length")
    body = bytearray(whole[:length])
    for place in data.draw(st.lists(st.integers(128, len(whole) - 1), max_size=3), label="changed"):
        if place < length:
            body[place] ^= data.draw(st.integers(1, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hurt.mat")
        path.write_bytes(body)
        result = outcome(path)
    assert result == "ndarray" or "hurt.mat" in result
