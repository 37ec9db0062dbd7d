"""Named variables out of a MATLAB file: numbers, texts and cells of them, and nothing else.

A file may hold more than is asked for, even objects of MATLAB's own classes (tables, strings, functions): those
are never loaded, and refused when they carry a name that is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat
from scipy.io.matlab import matfile_version

MATLAB_5, MATLAB_7_3 = 1, 2
HDF5_MAGIC = b"\x89HDF"


def read_mat(path: Path, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Any]:
    """The required variables of a MATLAB 5 file, and the optional ones that are there.

    >>> import tempfile
    >>> from scipy.io import savemat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "toy.mat")
    ...     savemat(path, {"X": np.eye(2), "note": "not asked for"})
    ...     read_mat(path, ["X"], ["Z"])
    {'X': array([[1., 0.], [0., 1.]])}
    """
    required = tuple(required)
    asked = (*required, *optional)
    check_version(path)
    try:
        loaded = loadmat(path, appendmat=False, variable_names=list(asked))
    except Exception as error:  # a damaged file makes SciPy's reader fail in a dozen ways of its own
        raise ValueError(f"{path} is damaged: {error or type(error).__name__}") from error
    if missing := [name for name in required if name not in loaded]:
        raise ValueError(f"{path} has no variable {', '.join(missing)}")
    found = {name: loaded[name] for name in asked if name in loaded}
    for name, value in found.items():
        if not is_plain(value):
            raise ValueError(f"{path}: {name} must hold numbers, texts or cells of them, not {type(value).__name__}")
    return found


def check_version(path: Path) -> None:
    """Refuse what is not a MATLAB 5 to 7.2 file."""
    with path.open("rb") as handle:
        is_hdf5 = handle.read(len(HDF5_MAGIC)) == HDF5_MAGIC
    try:
        version = MATLAB_7_3 if is_hdf5 else matfile_version(path, appendmat=False)[0]
    except Exception as error:
        raise ValueError(f"{path} is not a MATLAB file: {error}") from error
    if version == MATLAB_7_3:
        raise ValueError(f"{path} is a MATLAB 7.3 (HDF5) file; save it again in MATLAB with save(..., '-v7')")
    if version != MATLAB_5:
        raise ValueError(f"{path} is not a MATLAB 5 file; save it again in MATLAB with save(..., '-v7')")


def is_plain(value: object) -> bool:
    """Whether a loaded value is an array of numbers or text, a sparse matrix, or a cell of such values.

    >>> is_plain(np.eye(2)), is_plain(np.zeros(1, dtype=[("field", float)]))
    (True, False)
    """
    if sparse.issparse(value):
        return True
    # the exact type: SciPy hands over objects, functions and opaque values as subclasses of ndarray
    if type(value) is not np.ndarray:
        return False
    return value.dtype.kind in "biufU" or (value.dtype.kind == "O" and all(is_plain(item) for item in value.flat))


def numeric(name: str, value: Any, ndim: int) -> Any:
    """The value if it is an array of numbers, dense or sparse, with that many dimensions.

    >>> numeric("X", np.array(["a"]), 1)
    Traceback (most recent call last):
    ValueError: X must hold numbers in 1 dimensions, got <U1 with the shape (1,)
    """
    if value.dtype.kind not in "biuf" or value.ndim != ndim:
        raise ValueError(
            f"{name} must hold numbers in {ndim} dimensions, got {value.dtype} with the shape {value.shape}"
        )
    return value


def cells(name: str, value: Any) -> list[Any]:
    """The contents of a cell array, in order.

    >>> cells("X", np.array([[np.eye(1), None]], dtype=object))
    [array([[1.]]), None]
    """
    if value.dtype.kind != "O":
        raise ValueError(f"{name} must be a cell array, got {value.dtype} with the shape {value.shape}")
    return list(value.flat)


def texts(name: str, value: Any) -> tuple[str, ...]:
    r"""The texts in a cell array, with escapes such as ``\u00e3`` resolved.

    >>> texts("city", np.array([np.array(["S\\u00e3o Paulo"]), np.array([], dtype=str)], dtype=object))
    ('São Paulo', '')
    """
    return tuple(unescape("".join(map(str, np.ravel(item)))) for item in cells(name, value))


def unescape(text: str) -> str:
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
