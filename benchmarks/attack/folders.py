"""Damage to a saved model: a folder is refused in one line, or what it holds learns on as a model should.

Bytes are changed at random in any file of the folder: whatever is part of the current state must be refused. Then
states are changed in meaning and saved again under valid checksums, as a faulty or hostile program would: these may
load, but only as a model that works. A state with a part missing may not.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.attack.models import KINDS, Kind, check_sound, difference, fingerprint
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
from smartcl.saving.persistence import load_state, save_state

Random = np.random.Generator
#: Where a state holds the arguments of the estimator, which a user may set at any time, and what it was built with.
ARGUMENTS = "/estimator/"
PARAMETERS = (ARGUMENTS, "/built/parameters/", "/built/memory")


class Place(NamedTuple):
    """An entry of a state: the dict or list it is in, its key there, and the way to it."""

    container: Any
    key: Any
    path: str

    @property
    def value(self) -> Any:
        return self.container[self.key]

    def put(self, value: Any) -> str:
        """Replace the entry; what by what."""
        before = self.value
        self.container[self.key] = value
        return f"{self.path} from {_brief(before)} to {_brief(value)}"


@dataclass(frozen=True)
class Saved:
    """A folder, the files without which it does not load, the state it holds, and a folder of another model."""

    kind: Kind
    folder: Path
    needed: frozenset[Path]
    state: dict[str, str]
    other: Path


def attack(tries: int, kinds: Sequence[Kind] = KINDS, *, seed: int = 0, until: float = NEVER) -> Findings:
    """Damage that many folders."""
    with scratch() as root:
        originals = [_saved(kind, Path(root) / str(number)) for number, kind in enumerate(kinds)]
        return run(partial(_attempt, originals), range(seed, seed + tries), until=until)


def _saved(kind: Kind, scratch: Path) -> Saved:
    """A folder that was saved more than once."""
    folder, other = scratch / "model", scratch / "other"
    model = kind.fitted()
    for seed in (3, 4):
        model.save(folder)
        model.partial_fit(*kind.rows(seed))
    model.save(folder)
    kind.fitted(random_state=5, hidden=(9,)).save(other)
    needed = frozenset(path for path in _files(folder) if not _loads_without(folder, path, scratch / "without"))
    return Saved(kind, folder, needed, fingerprint(SmartClassifier.load(folder)), other)


def _loads_without(folder: Path, path: Path, copy: Path) -> bool:
    shutil.copytree(folder, copy)
    (copy / path).unlink()
    try:
        SmartClassifier.load(copy)
    except Exception:
        return False
    finally:
        shutil.rmtree(copy)
    return True


def _attempt(originals: list[Saved], seed: int) -> str:
    rng = np.random.default_rng(seed)
    saved = originals[seed % len(originals)]
    with scratch() as root:
        if rng.random() < 0.4:
            return _change_bytes(saved, Path(root) / "model", rng)
        return _change_meaning(saved, Path(root) / "model", rng)


# --- bytes -------------------------------------------------------------------


def _change_bytes(saved: Saved, folder: Path, rng: Random) -> str:
    shutil.copytree(saved.folder, folder)
    files = _files(folder)
    path = files[rng.integers(len(files))]
    damage = DAMAGES[rng.integers(len(DAMAGES))]
    before = (folder / path).read_bytes()
    after = damage(before, rng, saved, path)
    if after == before:
        return SURVIVED
    (folder / path).unlink()
    if after is not None:
        (folder / path).write_bytes(after)
    what = f"{saved.kind}, {damage.__name__.strip('_')} in {path}"
    model = _loaded(folder, what)
    if model is None and path in saved.needed:
        return REFUSED
    if model is None:
        raise FaultError("a file that is not needed was missed", what)
    if path in saved.needed:
        raise FaultError("a damaged file was read", what)
    if difference(saved.state, fingerprint(model)):
        raise FaultError("a file that is not needed changed the state", what)
    return SURVIVED


def _truncate(data: bytes, rng: Random, *_: object) -> bytes:
    return data[: rng.integers(len(data))] if data else data


def _flip_a_bit(data: bytes, rng: Random, *_: object) -> bytes:
    changed = bytearray(data)
    if changed:
        changed[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _swap_two_bytes(data: bytes, rng: Random, *_: object) -> bytes:
    changed = bytearray(data)
    if len(set(data)) > 1:
        first = int(rng.integers(len(data)))
        second = int(rng.choice([i for i in rng.integers(len(data), size=500) if data[i] != data[first]] or [first]))
        changed[first], changed[second] = changed[second], changed[first]
    return bytes(changed)


def _zero_a_stretch(data: bytes, rng: Random, *_: object) -> bytes:
    start, length = _stretch(data, rng)
    return data[:start] + bytes(length) + data[start + length :]


def _duplicate_a_stretch(data: bytes, rng: Random, *_: object) -> bytes:
    start, length = _stretch(data, rng)
    return data[: start + length] + data[start:]


def _append(data: bytes, rng: Random, *_: object) -> bytes:
    return data + bytes(rng.choice([b" ", b"\n", b"\0", b"}", b"{}", rng.bytes(100)]))


def _delete(*_: object) -> None:
    """No bytes, no file."""


def _take_another_models(data: bytes, rng: Random, saved: Saved, path: Path) -> bytes:
    of_a_kind = [other for other in _files(saved.other) if other.suffix == path.suffix]
    return (saved.other / of_a_kind[rng.integers(len(of_a_kind))]).read_bytes() if of_a_kind else data


def _write_nonsense(data: bytes, rng: Random, *_: object) -> bytes:
    nonsense = [b"", b"null", b"[]", b"{}", b'{"format": "smartcl-model"}', b"[" * 100_000, b"9" * 10_000, b"\xff\xfe{"]
    return nonsense[rng.integers(len(nonsense))]


def _stretch(data: bytes, rng: Random) -> tuple[int, int]:
    if not data:
        return 0, 0
    start = int(rng.integers(len(data)))
    return start, int(rng.integers(1, min(200, len(data) - start) + 1))


DAMAGES: tuple[Callable[[bytes, Random, Saved, Path], bytes | None], ...] = (
    *(_truncate, _flip_a_bit, _swap_two_bytes, _zero_a_stretch, _duplicate_a_stretch),
    *(_append, _delete, _take_another_models, _write_nonsense),
)


# --- meaning -----------------------------------------------------------------


def _change_meaning(saved: Saved, folder: Path, rng: Random) -> str:
    edit = EDITS[rng.integers(len(EDITS))]
    state = load_state(saved.folder)
    change = edit(state, rng)
    what = f"{saved.kind}, {edit.__name__.strip('_')}: {change}"
    try:
        save_state(folder, state)
    except (ValueError, TypeError, RecursionError):
        return REFUSED
    model = _loaded(folder, what)
    if model is None:
        return REFUSED
    if edit in DROPS:
        raise FaultError("a state with a part missing was loaded", what)
    if len(model.classes_) == 0:
        raise FaultError("a model without classes was loaded", what)
    try:
        may_refuse = edit in EXTREMES or any(place in change for place in PARAMETERS)
        return _live_on(model, saved.kind, folder, may_refuse)
    except FaultError as fault:
        raise FaultError(f"after loading, {fault.kind}", f"{what}; {fault.detail}") from None
    except Exception as error:
        raise FaultError(f"after loading, {type(error).__name__}", f"{what}; {first_line(error)}") from None


def _live_on(model: SmartClassifier, kind: Kind, folder: Path, may_refuse: bool) -> str:
    """A loaded model learns a batch, predicts, and is the same after being saved.

    With numbers that overflow, or with parameters set to something else since learning began, it may refuse to learn
    on, as it would have before it was saved.
    """
    outcome, before = SURVIVED, fingerprint(model)
    x, y = kind.rows(7)
    try:
        model.partial_fit(x, model.classes_[y % len(model.classes_)])
    except ValueError as error:
        if not may_refuse:
            raise
        check_message(error, "learning on")
        if difference(before, fingerprint(model)):
            raise FaultError("a refused call changed the model") from None
        outcome = REFUSED
    check_sound(model)
    model.save(folder)
    place = difference(fingerprint(model), fingerprint(SmartClassifier.load(folder)))
    if place:
        raise FaultError("saving is not exact", place)
    return outcome


def _drop_a_key(state: dict[str, Any], rng: Random) -> str:
    place = _pick(state, rng, lambda place: isinstance(place.container, dict))
    del place.container[place.key]
    return place.path


def _drop_an_entry(state: dict[str, Any], rng: Random) -> str:
    place = _pick(state, rng, lambda place: isinstance(place.container, list) and not place.path.startswith(ARGUMENTS))
    del place.container[place.key]
    return place.path


def _replace_a_number(state: dict[str, Any], rng: Random) -> str:
    # A huge number of steps is legal: it would only take forever.
    place = _pick(state, rng, lambda place: isinstance(place.value, (int, float)) and place.key != "iterations")
    number = place.value
    others = (
        *(number + 1, number - 1, 2 * number, -number, -1, 0, 1, 0.5, not number),
        *(2**31, 2**63, 10**18, 10**30, 1e300, float("nan"), float("inf"), -float("inf")),
        *("text", "7", None, [], [number], {}, {"$array": "x"}),
    )
    return place.put(others[rng.integers(len(others))])


def _replace_a_text(state: dict[str, Any], rng: Random) -> str:
    place = _pick(state, rng, lambda place: isinstance(place.value, str))
    text = place.value
    others = ("", "text", f"{text}x", "float32", "uint8", "er", "smart", "<U3", "O", "\n\n", 7, None, [text], True)
    return place.put(others[rng.integers(len(others))])


def _replace_nothing(state: dict[str, Any], rng: Random) -> str:
    place = _pick(state, rng, lambda place: place.value is None and place.key != "iterations")
    others = (0, 1, -1, 0.5, 1e300, float("nan"), "text", [], {}, True)
    return place.put(others[rng.integers(len(others))])


def _replace_a_branch(state: dict[str, Any], rng: Random) -> str:
    place = _pick(state, rng, lambda place: isinstance(place.value, (dict, list)))
    others = (None, {}, [], 0, "text", [place.value], _nested(900), np.zeros(3))
    return place.put(others[rng.integers(len(others))])


def _exchange_two(state: dict[str, Any], rng: Random) -> str:
    first = _pick(state, rng, lambda place: True)
    second = _pick(
        state, rng, lambda place: not (place.path.startswith(first.path) or first.path.startswith(place.path))
    )
    value = first.value
    first.put(second.value)
    second.put(value)
    return f"{first.path} and {second.path}"


def _reshape_an_array(state: dict[str, Any], rng: Random) -> str:
    place, array = _pick_array(state, rng)
    forms: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
        *(lambda a: a.reshape(-1), lambda a: a[None], lambda a: a[..., None], lambda a: a.T),
        *(lambda a: a[:-1], lambda a: np.concatenate([a, a]), lambda a: a[:0], lambda a: a.reshape(-1)[:1].reshape(())),
        lambda a: np.concatenate([a, a[..., -1:]], axis=-1),
    )
    form = forms[rng.integers(len(forms))]
    return place.put(_like(place.value, form(array if array.size and array.ndim else np.zeros((2, 2), array.dtype))))


def _retype_an_array(state: dict[str, Any], rng: Random) -> str:
    place, array = _pick_array(state, rng)
    types = ("uint8", "int8", "int32", "int64", "float16", "float32", "float64", "bool")
    with np.errstate(all="ignore"):
        return place.put(_like(place.value, array.astype(types[rng.integers(len(types))])))


def _spoil_an_array(state: dict[str, Any], rng: Random) -> str:
    place, array = _pick_array(state, rng)
    values = (0, 1, -1, 127, 255, 2**31 - 1, -(2**31), 2**62, np.nan, np.inf, -np.inf, 3e38, 1e-40)
    value = values[rng.integers(len(values))]
    flat = array.reshape(-1)
    some = slice(None) if rng.random() < 0.3 or not array.size else rng.integers(array.size, size=3)
    with np.errstate(all="ignore"):
        flat[some] = np.asarray(value).astype(array.dtype)
    place.put(_like(place.value, flat.reshape(array.shape)))
    return f"{place.path}, {array.dtype}, with {value}"


def _name_other_classes(state: dict[str, Any], rng: Random) -> str:
    classes = list(state["classes"])
    others: tuple[Any, ...] = (
        *(classes[:-1], [*classes, 99], [*classes, classes[0]], [classes[0]] * len(classes), classes[::-1], []),
        *([str(name) for name in classes], [None] * len(classes), [[name] for name in classes], "abc", {}),
    )
    state["classes"] = others[rng.integers(len(others))]
    return str(state["classes"])


def _set_other_parameters(state: dict[str, Any], rng: Random) -> str:
    hidden: tuple[Any, ...] = ([9], [8, 8], [], [0], [-8], ["8"], [8.5], 8, "8", [10**12], [True], None, [[8]])
    other: dict[str, tuple[Any, ...]] = {
        "hidden": hidden,
        "memory": (1, 10, -5, "1kB", "2 samples", "much", None, [], 1e9),
        "method": ("er", "smart", "gdumb", "gem", "icarl", "smrt", None, 3),
        "batch_size": (0, -1, 1.5, "50", None, 10**12),
        "lr": (0, -1, float("nan"), float("inf"), 1e30, "fast"),
        "average": (0.0, 0.5, 1.0, -1, float("nan")),
        "replay": (0, 10**9, -1, 0.5),
        "n_features": (1, 5, 7, 41, 2**31),
        "n_classes": (0, 1, 2, 4, 10**6),
    }
    place = _pick(state, rng, lambda place: place.key in other)
    return place.put(other[place.key][rng.integers(len(other[place.key]))])


EDITS = (
    *(_drop_a_key, _drop_a_key, _drop_an_entry, _replace_a_number, _replace_a_number, _replace_a_text),
    *(_replace_nothing, _replace_a_branch, _exchange_two, _reshape_an_array, _retype_an_array),
    *(_spoil_an_array, _spoil_an_array, _name_other_classes, _set_other_parameters),
)
DROPS = (_drop_a_key, _drop_an_entry)
EXTREMES = (_spoil_an_array, _replace_a_number)


# --- what both need ----------------------------------------------------------


def _loaded(folder: Path, what: str) -> SmartClassifier | None:
    """The model, or None if the folder was refused as promised."""
    try:
        return SmartClassifier.load(folder)
    except (ValueError, FileNotFoundError) as error:
        check_message(error, what)
    except Exception as error:
        raise FaultError(f"load raised {type(error).__name__}", f"{what}; {first_line(error)}") from None
    return None


def _files(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def _places(tree: Any, path: str = "") -> Iterator[Place]:
    """Every entry of every dict and list below."""
    if isinstance(tree, (dict, list)):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield Place(tree, key, f"{path}/{key}")
            yield from _places(value, f"{path}/{key}")


def _pick(state: dict[str, Any], rng: Random, suits: Callable[[Place], bool]) -> Place:
    chosen = [place for place in _places(state) if suits(place)]
    return chosen[rng.integers(len(chosen))]


def _pick_array(state: dict[str, Any], rng: Random) -> tuple[Place, np.ndarray]:
    place = _pick(state, rng, lambda place: isinstance(place.value, (torch.Tensor, np.ndarray)))
    return place, np.array(place.value)


def _brief(value: Any) -> str:
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return f"{value.dtype} {tuple(value.shape)}"
    return repr(value)[:30]


def _like(value: Any, array: np.ndarray) -> Any:
    """The array in the form that the value had."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    return torch.from_numpy(array.copy()) if isinstance(value, torch.Tensor) else array


def _nested(depth: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    return nested
