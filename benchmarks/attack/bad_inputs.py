"""Bad and odd calls: each is done, or refused in one short line with everything as it was before.

Whatever is done leaves a model that is finite, within its budget and has one probability per class; and what only looks
at a model, or fails, changes nothing of it.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import sparse

from benchmarks.attack.models import KINDS, Kind, check_probabilities, check_sound, difference, fingerprint
from benchmarks.attack.tries import (
    NEVER,
    REFUSED,
    SURVIVED,
    FaultError,
    Findings,
    check_message,
    first_line,
    run,
    scratch,
)
from smartcl import SmartClassifier

Random = np.random.Generator
NAN, INF = float("nan"), float("inf")


def attack(tries: int, *, seed: int = 0, until: float = NEVER) -> Findings:
    """Make that many calls."""
    return run(_attempt, range(seed, seed + tries), until=until)


def _attempt(seed: int) -> str:
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    return ATTACKS[rng.choice(len(ATTACKS), p=SHARES)](kind, rng)


def _try(model: SmartClassifier, what: str, call: Callable[[], object], *, learns: bool, files: bool = False) -> str:
    """Make the call and hold the model to its contract. Files may also fail in their own ways."""
    before = fingerprint(model)
    refusals = (ValueError, TypeError, OSError) if files else (ValueError, TypeError)
    try:
        call()
    except refusals as error:
        check_message(error, what)
        _check_unchanged(model, before, what, "a refused call")
        return REFUSED
    except FaultError as fault:
        raise FaultError(fault.kind, f"{what}; {fault.detail}") from None
    except Exception as error:
        raise FaultError(f"raised {type(error).__name__}", f"{what}; {first_line(error)}") from None
    if not learns:
        _check_unchanged(model, before, what, "a call that only looks")
        return SURVIVED
    try:
        check_sound(model)
    except FaultError as fault:
        raise FaultError(f"after learning, {fault.kind}", f"{what}; {fault.detail}") from None
    except Exception as error:
        raise FaultError(f"after learning, {type(error).__name__}", f"{what}; {first_line(error)}") from None
    return SURVIVED


def _check_unchanged(model: SmartClassifier, before: dict[str, str], what: str, who: str) -> None:
    try:
        place = difference(before, fingerprint(model))
    except Exception as error:
        raise FaultError(f"{who} broke the model", f"{what}; {type(error).__name__}: {first_line(error)}") from None
    if place:
        raise FaultError(f"{who} changed the model", f"{what}; {place}")


def _pick(things: dict[str, Any], rng: Random) -> tuple[str, Any]:
    name = list(things)[rng.integers(len(things))]
    return name, things[name]


# --- rows and labels ---------------------------------------------------------


def _odd_rows(kind: Kind, rng: Random) -> str:
    """Rows of all sorts to every call that takes them."""
    x, y = kind.rows(int(rng.integers(1000)))
    forms = DENSE_ROWS if kind.form == "dense" or rng.random() < 0.15 else SPARSE_ROWS
    name, form = _pick(forms, rng)
    odd = form(x[:, :40].toarray() if forms is DENSE_ROWS and kind.form != "dense" else x.copy())
    return _call_with(kind, rng, odd, y[: odd.shape[0]] if name in FEWER else y, f"rows: {name}")


def _odd_labels(kind: Kind, rng: Random) -> str:
    """Labels of all sorts to every call that takes them."""
    x, y = kind.rows(int(rng.integers(1000)))
    name, form = _pick(LABELS, rng)
    return _call_with(kind, rng, x, form(y), f"labels: {name}", labels=True)


def _call_with(kind: Kind, rng: Random, x: Any, y: Any, what: str, labels: bool = False) -> str:
    earlier = ("no", "numbers", "names", "fixed")[rng.integers(4)]
    model = _model(kind, earlier)
    calls = ("partial_fit", "fit", "score") if labels else ("partial_fit", "fit", "score", "predict", "predict_proba")
    name = calls[rng.integers(len(calls))] if rng.random() < 0.5 else "partial_fit"
    call = getattr(model, name)
    learns = name in ("partial_fit", "fit")
    what = f"{kind}, {name} after {earlier} labels, {what}"
    if learns or name == "score":
        return _try(model, what, partial(call, x, y), learns=learns)
    return _try(model, what, partial(_predict, model, name, x), learns=False)


def _predict(model: SmartClassifier, name: str, x: Any) -> None:
    answer = getattr(model, name)(x)
    if name == "predict_proba":
        check_probabilities(answer, len(answer), len(model.classes_))


def _model(kind: Kind, earlier: str) -> SmartClassifier:
    """A model that has learned labels of this sort, or none."""
    if earlier == "no":
        return kind.unfitted()
    if earlier == "numbers":
        return kind.fitted()
    x, y = kind.rows(1)
    if earlier == "names":
        return kind.unfitted().partial_fit(x, np.array(["ant", "bee", "cat"])[y])
    return kind.unfitted().partial_fit(x, y, classes=[0, 1, 2])


def _with_value(value: Any, dtype: str = "float64") -> Callable[[Any], Any]:
    def put(x: Any) -> Any:
        x = x.astype(dtype)
        (x.data if sparse.issparse(x) else x.reshape(-1))[3] = value
        return x

    return put


def _all_values(value: float) -> Callable[[Any], Any]:
    def put(x: Any) -> Any:
        x = x.astype(np.float64)
        (x.data if sparse.issparse(x) else x)[:] = value
        return x

    return put


def _read_only(x: Any) -> Any:
    for array in (x.data, x.indices, x.indptr) if sparse.issparse(x) else (x,):
        array.flags.writeable = False
    return x


VALUES: dict[str, Callable[[Any], Any]] = {
    **{f"one {value}": _with_value(value) for value in (NAN, INF, -INF, 1e39, -1e39, 3e38, 1e30, 1e20, 1e-310)},
    **{f"all {value}": _all_values(value) for value in (0.0, 1e-40, 1e10, 1e20, 1e30, 3e38, -3e38)},
    "int64 beyond float32": _with_value(2**63 - 1, "int64"),
    "uint64 beyond int64": _with_value(2**64 - 1, "uint64"),
    "uint8": lambda x: abs(x).astype(np.uint8),
    "int8": lambda x: x.astype(np.int8),
    "bool": lambda x: x.astype(bool),
    "complex": lambda x: x.astype(complex),
    "longdouble": _with_value(np.longdouble("1e400"), "longdouble"),
    "too few columns": lambda x: x[:, :-1],
    "no columns": lambda x: x[:, :0],
    "no rows": lambda x: x[:0],
    "one row": lambda x: x[:1],
    "as they should be": lambda x: x,
}
DENSE_ROWS: dict[str, Callable[[Any], Any]] = {
    **VALUES,
    "float16 infinity": _with_value(INF, "float16"),
    "too many columns": lambda x: np.hstack([x, x]),
    "1-D": lambda x: x[:, 0],
    "3-D": lambda x: x[:, :, None],
    "a number": lambda x: 3.0,
    "nothing": lambda x: None,
    "a text": lambda x: "rows",
    "a dict": lambda x: {"a": x},
    "a set": lambda x: {1, 2},
    "a generator": lambda x: (row for row in x),
    "a list of lists": lambda x: x.tolist(),
    "a ragged list": lambda x: [[1.0, 2.0], *x.tolist()],
    "a list of texts": lambda x: [["a"] * x.shape[1]] * len(x),
    "numbers as text": lambda x: x.astype(str),
    "objects that are numbers": lambda x: x.astype(object),
    "objects with None": lambda x: np.where(np.eye(*x.shape, dtype=bool), None, x.astype(object)),
    "objects with a text": lambda x: np.where(np.eye(*x.shape, dtype=bool), "a\nb", x.astype(object)),
    "objects with a list": lambda x: [[[1], *row[1:]] for row in x.tolist()],
    "objects beyond float64": lambda x: np.where(np.eye(*x.shape, dtype=bool), 10**400, x.astype(object)),
    "dates": lambda x: x.astype("int64").astype("datetime64[D]"),
    "durations": lambda x: x.astype("int64").astype("timedelta64[s]"),
    "bytes": lambda x: x.astype("S8"),
    "a record array": lambda x: np.zeros(len(x), dtype=[("a", "f8"), ("b", "f8")]),
    "big-endian": lambda x: x.astype(">f8"),
    "big-endian float32": lambda x: x.astype(">f4"),
    "read-only": _read_only,
    "Fortran order": np.asfortranarray,
    "backwards": lambda x: x[::-1, ::-1],
    "every other": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "masked": lambda x: np.ma.array(x, mask=x > 1),
    "a matrix": lambda x: np.asmatrix(x),
    "a tensor": torch.from_numpy,
    "a tensor with a gradient": lambda x: torch.from_numpy(x).requires_grad_(),
    "a frame": pd.DataFrame,
    "a frame with names": lambda x: pd.DataFrame(x, columns=[f"name {i}" for i in range(x.shape[1])]),
    "a frame with a text": lambda x: pd.DataFrame(x).astype({0: str}),
    "a frame with a category": lambda x: pd.DataFrame(x).assign(c=pd.Categorical(["a"] * len(x))),
    "a frame with NA": lambda x: pd.DataFrame(x).astype("Float64").mask(x > 1),
    "sparse": sparse.csr_array,
}


def _edited(field: str, edit: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """CSR rows with one of their three arrays changed behind SciPy's back."""

    def change(x: Any) -> Any:
        changed = edit(getattr(x, field).copy(), x)
        setattr(x, field, changed)
        return x

    return change


def _at(position: int, value: Any) -> Callable[[Any, Any], Any]:
    def put(array: Any, _: Any) -> Any:
        array[position] = value
        return array

    return put


def _from_parts(edit: Callable[[Any, Any, Any], tuple[Any, Any, Any]]) -> Callable[[Any], Any]:
    return lambda x: sparse.csr_array(edit(x.data, x.indices, x.indptr), shape=x.shape)


SPARSE_ROWS: dict[str, Callable[[Any], Any]] = {
    **VALUES,
    "too many columns": lambda x: sparse.hstack([x, x], format="csr"),
    **{f"as {form}": (lambda x, form=form: x.asformat(form)) for form in ("csc", "coo", "lil", "dok")},
    "an old matrix": lambda x: sparse.csr_matrix(x),
    "read-only": _read_only,
    "an index beyond the width": _edited("indices", lambda a, x: _at(2, x.shape[1] + 10)(a, x)),
    "an index far beyond": _edited("indices", _at(5, 2**31 - 1)),
    "a negative index": _edited("indices", _at(2, -1)),
    "a very negative index": _edited("indices", _at(2, -(2**31))),
    "unsorted indices": _edited("indices", lambda a, x: a[::-1].copy()),
    "indices of 64 bits": _edited("indices", lambda a, x: a.astype(np.int64)),
    "indices of 16 bits": _edited("indices", lambda a, x: (a % 30000).astype(np.int16)),
    "indices that are floats": _edited("indices", lambda a, x: a.astype(np.float64)),
    "too few indices": _edited("indices", lambda a, x: a[:-3]),
    "too few values": _edited("data", lambda a, x: a[:-3]),
    "a row that ends before it begins": _edited("indptr", _at(4, 0)),
    "rows beyond the values": _edited("indptr", lambda a, x: a * 2),
    "rows far beyond the values": _edited("indptr", lambda a, x: a * 2**20),
    "rows that begin before the first": _edited("indptr", _at(0, -5)),
    "too few rows": _edited("indptr", lambda a, x: a[:-2]),
    "duplicates": _from_parts(lambda d, i, p: (np.repeat(d, 2), np.repeat(i, 2), 2 * p)),
    "duplicates that overflow": _from_parts(lambda d, i, p: (np.full(2 * len(d), 3e38), np.repeat(i, 2), 2 * p)),
    "duplicates that cancel": _from_parts(lambda d, i, p: (np.tile([1.0, -1.0], len(d)), np.repeat(i, 2), 2 * p)),
    "duplicate bytes that overflow": _from_parts(
        lambda d, i, p: (np.full(2 * len(d), 200, np.uint8), np.repeat(i, 2), 2 * p)
    ),
    "explicit zeros": _from_parts(lambda d, i, p: (np.zeros_like(d), i, p)),
    "nothing stored": lambda x: sparse.csr_array(x.shape),
    "a vector": lambda x: sparse.coo_array(np.ones(7)),
}
FEWER = ("no rows", "one row")

_DAY = datetime.date(2020, 1, 1)
LABELS: dict[str, Callable[[Any], Any]] = {
    "texts": lambda y: np.array(["ant", "bee", "cat"])[y],
    "new texts": lambda y: np.array(["a name that is longer than those before", "b", "ant"])[y],
    "objects that are texts": lambda y: np.array(["ant", "bee", "dog"], dtype=object)[y],
    "texts with a line break": lambda y: np.array(["a\nb", "c\nd", "e"])[y],
    "very long texts": lambda y: np.array(["a" * 1000, "b" * 1000, "c" * 1000])[y],
    "the numbers as texts": lambda y: y.astype(str),
    "bytes": lambda y: y.astype("S1"),
    "bools": lambda y: y > 0,
    "whole floats": lambda y: y.astype(float),
    "float32": lambda y: y.astype(np.float32),
    "halves": lambda y: y + 0.5,
    "NaN": lambda y: np.where(y == 0, NAN, y),
    "all NaN": lambda y: np.full(len(y), NAN),
    "infinity": lambda y: np.where(y == 0, INF, y),
    "None": lambda y: np.where(y == 0, None, y.astype(object)),
    "nothing": lambda y: None,
    "dates": lambda y: y.astype("datetime64[D]"),
    "date objects": lambda y: [_DAY + datetime.timedelta(days=int(day)) for day in y],
    "complex": lambda y: y.astype(complex),
    "numbers and texts": lambda y: np.array([0, "a", 2.5], dtype=object)[y],
    "tuples": lambda y: [(int(label), "a") for label in y],
    "pandas": pd.Series,
    "a category": lambda y: pd.Series(y).astype("category"),
    "pandas with NA": lambda y: pd.Series(y).astype("Int64").mask(y == 0),
    "a column": lambda y: y[:, None],
    "two columns": lambda y: np.stack([y, y], axis=1),
    "one-hot": lambda y: np.eye(3)[y],
    "too many": lambda y: np.append(y, 0),
    "too few": lambda y: y[:-1],
    "none": lambda y: y[:0],
    "a number": lambda y: 1,
    "a text": lambda y: "label",
    "one class": lambda y: np.zeros_like(y),
    "a stranger": lambda y: np.where(y == 0, 9, y),
    "thirty strangers": lambda y: np.arange(len(y)) * 10 + 300,
    "negative": lambda y: -y,
    "huge": lambda y: y + (2**63 - 3),
    "beyond int64": lambda y: y.astype(np.uint64) + np.uint64(2**64 - 4),
    "beyond uint64": lambda y: [int(label) + 10**30 for label in y],
    "int8": lambda y: y.astype(np.int8),
    "a tensor": torch.from_numpy,
}


# --- parameters, classes and files -------------------------------------------


PARAMETERS: dict[str, tuple[Any, ...]] = {
    "memory": (0, -1, "", "0 samples", "much", None, NAN, INF, 1.5, "1e9GB", [], True, b"1MB", "-1kB", 1, "1 B", 2**70),
    "method": ("smrt", None, 3, "", ["er"], "icarl", "gem", "a-gem", b"smart"),
    "hidden": ((), (0,), (-1,), "8", 8, (8.0,), [8], np.array([8]), ((8,),), (8, 0), (None,), (10**12,), (True,), NAN),
    "lr": (INF, NAN, 0, -1.0, "fast", 1e38, 1e5, True, 1j, np.float32(0.01), (), 1e-320),
    "iterations": (0, -1, 1.5, "three", NAN, True, np.int64(2), [2]),
    "replay": (-1, 1.5, "x", NAN, 10**30, 0, np.int32(3)),
    "average": (1.0, -0.1, 2.0, NAN, INF, "x", 0, 1 - 1e-17),
    "smoothing": (1.0, -0.5, 2.0, NAN, INF, "x"),
    "dropout": (1.0, -0.5, NAN, INF, "x", 1 - 1e-17, 0.999999),
    "robust": (2.0, -1, NAN, INF, "x", 1.0),
    "distill": (NAN, INF, -1, "x", 1e30, 1e38),
    "trust": ("yes", 2, NAN, 1, "True"),
    "alpha": (NAN, INF, -1, "x", 1e30, 1e38),
    "beta": (NAN, INF, -1, "x", 1e30, 1e38),
    "parameters": ({"nonsense": 1}, {"lr": 0.1}, {1: 2}, {"whole": NAN}, {"whole": True}, {}, "x", 3, ["whole"]),
    "batch_size": (0, -1, 1.5, NAN, "50", True, np.int64(7), 10**12, [50], 1),
    "random_state": ("x", -1, 1.5, 2**40, NAN, np.random.RandomState(0), np.random.default_rng(0), np.int64(3), [1]),
}


def _odd_parameters(kind: Kind, rng: Random) -> str:
    """Parameters of all sorts before a first call, before learning on, and before learning anew."""
    name, values = _pick(PARAMETERS, rng)
    value = values[rng.integers(len(values))]
    earlier = ("no", "no", "numbers")[rng.integers(3)]
    model = _model(kind, earlier).set_params(**{name: value})
    call = (model.fit, model.partial_fit)[rng.integers(2)]
    what = f"{kind}, {name}={str(value)[:20]!r}, {call.__name__} after {earlier} labels"
    return _try(model, what, partial(call, *kind.rows(8)), learns=True)


def _odd_parameters_saved(kind: Kind, rng: Random) -> str:
    """What is saved can be loaded, whatever was set meanwhile."""
    name, values = _pick(PARAMETERS, rng)
    value = values[rng.integers(len(values))]
    model = _model(kind, "numbers").set_params(**{name: value})
    with scratch() as root:
        what = f"{kind}, {name}={str(value)[:20]!r}, save and load"
        return _try(model, what, partial(_save_and_load, model, Path(root) / "model"), learns=False)


def _save_and_load(model: SmartClassifier, folder: Path) -> None:
    model.save(folder)
    try:
        loaded = SmartClassifier.load(folder)
    except Exception as error:
        raise FaultError("what was saved does not load", f"{type(error).__name__}: {first_line(error)}") from None
    before, after = (
        {path: value for path, value in fingerprint(each).items() if not path.startswith(".parameters")}
        for each in (model, loaded)
    )
    place = difference(before, after)
    if place:
        raise FaultError("what was saved loads as something else", place)


CLASSES: dict[str, Any] = {
    "fewer": [0, 1],
    "more": [0, 1, 2, 7],
    "in another order": [2, 1, 0],
    "twice": [0, 0, 1, 1, 2, 2],
    "texts": ["ant", "bee", "cat"],
    "numbers and texts": [0, "bee", 2],
    "None": [0, 1, None],
    "NaN": [0, 1, NAN],
    "none": [],
    "a number": 3,
    "a text": "ant",
    "a table": [[0, 1], [2, 3]],
    "a dict": {0: 1},
    "a set": {0, 1, 2},
    "floats": [0.0, 1.0, 2.0],
    "very many": list(range(5000)),
    "bools": [True, False],
}


def _odd_classes(kind: Kind, rng: Random) -> str:
    """``classes`` of all sorts at the first call and at a later one."""
    name, classes = _pick(CLASSES, rng)
    earlier = ("no", "no", "numbers", "names", "fixed")[rng.integers(5)]
    model = _model(kind, earlier)
    what = f"{kind}, classes {name} after {earlier} labels"
    return _try(model, what, partial(model.partial_fit, *kind.rows(8), classes=classes), learns=True)


def _odd_folders(kind: Kind, rng: Random) -> str:
    """Folders that cannot be written or hold no model."""
    model = _model(kind, ("no", "numbers")[rng.integers(2)])
    with scratch() as root:
        file = Path(root) / "file"
        file.write_text("no model")
        (Path(root) / "empty").mkdir()
        folders: dict[str, Any] = {
            **{"a file": file, "below a file": file / "model", "empty": Path(root) / "empty"},
            **{"not there": Path(root) / "a" / "b", "very long": Path(root) / ("a" * 5000)},
            **{"nothing": None, "a number": 3.5, "a null": "\0", "bytes": b"\xff\xfe", "a list": [root]},
        }
        name, folder = _pick(folders, rng)
        call = (model.save, SmartClassifier.load)[rng.integers(2)]
        return _try(model, f"{kind}, {call.__name__}: {name}", partial(call, folder), learns=False, files=True)


ATTACKS = (_odd_rows, _odd_labels, _odd_parameters, _odd_parameters_saved, _odd_classes, _odd_folders)
SHARES = (0.38, 0.22, 0.2, 0.06, 0.08, 0.06)
