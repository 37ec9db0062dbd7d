"""Saving and loading: arrays as safetensors, the rest as JSON, never pickle.

A model is a folder::

    model.json                           the state without its arrays, sealed; replacing it is the moment a save counts
    generations/arrays-....safetensors   the arrays of that state, and those of the one before
    generations/previous.json            the state before, sealed too
    generations/lock                     held while saving: one writer at a time
    generations/trainer                  held by a training from its beginning to its end

Whatever interrupts a save, ``model.json`` and the arrays it names are the old state or the new one, whole. Everything
in ``generations`` belongs to the model and is cleared of what no state names; nothing else in the folder is touched. A
seal is the first line of a file, with a checksum of all that follows; the state holds the checksum of its arrays.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as parse_arrays
from safetensors.numpy import save as format_arrays

from smartcl.saving.atomic import path_of as path_of
from smartcl.saving.atomic import write_file as write_file

FORMAT = "smartcl-model"
VERSION = 2
INDEX = "model.json"
GENERATIONS = "generations"
PREVIOUS = "previous.json"
LOCK = "lock"
TRAINER = "trainer"

#: How long a save waits for another one of the same folder.
PATIENCE_SECONDS = 60.0
#: Tries of a reader: a save may remove a file after the reader has read its name and before it opens it.
ATTEMPTS = 20


def save_state(folder: str | os.PathLike[str], state: dict[str, Any], only: bool = False) -> None:
    """Write a tree of dicts, lists, arrays, tensors and plain values into ``folder``, atomically.

    The state before stays beside it, unless this is to be the ``only`` one.
    """
    target = path_of(folder, "folder")
    if target.exists() and not target.is_dir():
        raise ValueError(f"folder must be a directory to save a model in, but {target} is a file")
    tree, arrays = detached(state)
    blob = format_arrays(arrays)
    digest = hashlib.sha256(blob).hexdigest()
    name = f"arrays-{digest[:32]}.safetensors"
    text = _sealed({"arrays": name, "sha256": digest, "state": tree})
    kept = target / GENERATIONS
    kept.mkdir(parents=True, exist_ok=True)
    with _only_writer(kept):
        write_file(kept / name, blob)
        if (target / INDEX).is_file() and not only:
            write_file(kept / PREVIOUS, (target / INDEX).read_bytes())
        write_file(target / INDEX, text, beside=kept)
        if only:
            (kept / PREVIOUS).unlink(missing_ok=True)
        _clear(kept, {name, *_arrays_named_in(kept / PREVIOUS)})


def state_nbytes(state: dict[str, Any]) -> int:
    """The bytes that a saved state takes: those of its arrays, and of all else as text.

    >>> state_nbytes({"rows": 12, "sums": np.zeros(100, np.float32)})
    457
    """
    tree, arrays = detached(state)
    return sum(array.nbytes for array in arrays.values()) + len(json.dumps(tree, allow_nan=False))


def load_state(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """What ``save_state`` wrote, or a ``ValueError`` or ``FileNotFoundError`` that says what is wrong there."""
    path = path_of(folder, "folder") / INDEX
    for _ in range(ATTEMPTS):
        if not path.is_file():
            raise FileNotFoundError(f"no saved model in {folder}: {INDEX} is missing")
        text = path.read_bytes()
        index = _unsealed(text, path)
        try:
            return _with_arrays(index, path)
        except FileNotFoundError:
            if path.read_bytes() == text:
                raise
    raise FileNotFoundError(f"the saved model in {folder} is replaced faster than it can be read")


def _sealed(content: dict[str, Any]) -> bytes:
    """A JSON text behind a line with its checksum."""
    try:
        body = json.dumps(content, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise ValueError(f"the state cannot be saved: {error}") from None
    return _seal(body) + body


def _seal(body: bytes) -> bytes:
    seal = {"format": FORMAT, "version": VERSION, "sha256": hashlib.sha256(body).hexdigest()}
    return json.dumps(seal).encode() + b"\n"


def _unsealed(text: bytes, path: Path) -> dict[str, Any]:
    first, _, body = text.partition(b"\n")
    if first + b"\n" != _seal(body):
        raise ValueError(_what_is_wrong(first, path))
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError(f"{path} is damaged: not valid JSON") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} is damaged: it holds no state")
    return content


def _what_is_wrong(first: bytes, path: Path) -> str:
    """Why a first line is not the seal of what follows it."""
    try:
        seal = json.loads(first)
    except (ValueError, RecursionError):
        return f"{path} is damaged, or not a saved smartcl model"
    if not isinstance(seal, dict) or seal.get("format") != FORMAT:
        return f"{path} is not a saved smartcl model"
    version = seal.get("version")
    if version != VERSION and isinstance(version, int):
        told = f"{path} has format version {version}, and this release reads {VERSION}"
        if version > VERSION:
            return f"{told}: it was saved by a later one, pip install --upgrade smartcl"
        return f"{told}: train it anew, or go on with the release that saved it"
    return f"{path} is damaged: its checksum is not the one it was saved with"


def _with_arrays(index: dict[str, Any], path: Path) -> dict[str, Any]:
    name, digest = index.get("arrays"), index.get("sha256")
    if not isinstance(name, str) or Path(name).name != name:
        raise ValueError(f"{path} is damaged: it names no file of arrays")
    blob_path = path.parent / GENERATIONS / name
    if not blob_path.is_file():
        raise FileNotFoundError(f"the saved model in {path.parent} is incomplete: {GENERATIONS}/{name} is missing")
    blob = blob_path.read_bytes()
    if hashlib.sha256(blob).hexdigest() != digest:
        raise ValueError(f"{blob_path} is damaged: its checksum is not the one it was saved with")
    try:
        state = attached(index.get("state"), parse_arrays(blob))
    except (SafetensorError, RecursionError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{blob_path} is damaged: {' '.join(str(error).split())}") from None
    if not isinstance(state, dict):
        raise ValueError(f"{path} is damaged: it holds no state")
    return state


def _arrays_named_in(path: Path) -> set[str]:
    try:
        return {str(_unsealed(path.read_bytes(), path).get("arrays"))}
    except (OSError, ValueError):
        return set()


def _clear(folder: Path, named: set[str]) -> None:
    """Remove files that no state names: older generations, and parts of saves that were killed."""
    for path in folder.iterdir():
        if path.name not in {*named, PREVIOUS, LOCK, TRAINER} and path.is_file():
            with suppress(OSError):
                path.unlink()


@contextmanager
def _only_writer(folder: Path) -> Iterator[None]:
    """Inside, no other process saves here; the lock of a process that died is free."""
    from filelock import (
        FileLock,
        Timeout,
    )  # imported late: a fifth of the estimator's import time, and only saving needs it

    try:
        with FileLock(folder / LOCK, timeout=PATIENCE_SECONDS):
            yield
    except Timeout:
        busy = f"{folder.parent} has been in the hands of another save for {PATIENCE_SECONDS:g} seconds: try again"
        raise TimeoutError(busy) from None


@contextmanager
def only_trainer(folder: Path) -> Iterator[None]:
    """Inside, no other process trains the model of this folder; the lock of a process that died is free.

    If no model is saved, a folder made for it is removed.
    """
    from filelock import FileLock, Timeout

    made = [each for each in (folder / GENERATIONS, folder) if not each.exists()]
    (folder / GENERATIONS).mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / GENERATIONS / TRAINER, timeout=0, thread_local=False):
            try:
                yield
            finally:
                if made and not (folder / INDEX).exists():
                    (folder / GENERATIONS / TRAINER).unlink(missing_ok=True)
                    with suppress(OSError):
                        for each in made:
                            each.rmdir()
    except Timeout:
        raise ValueError(f"another process is training the model in {folder}") from None


def detached(state: Any) -> tuple[Any, dict[str, NDArray[Any]]]:
    """The tree with a reference in the place of every array and tensor, and these by name.

    >>> detached({"a": [1, np.arange(2)]})
    ({'a': [1, {'$array': '.a.1', 'shape': [2]}]}, {'.a.1': array([0, 1])})
    """
    arrays: dict[str, NDArray[Any]] = {}
    return _detach(state, "", arrays), arrays


def attached(tree: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """The state that ``detached`` took apart, with arrays of its own.

    Each array is named once: what names one a thousand times would take a thousand times the memory of its file.
    """
    return _attach(tree, dict(arrays))


def _attach(tree: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """The same; arrays that were named are no longer there."""
    if isinstance(tree, list):
        return [_attach(item, arrays) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if "$tensor" in tree:
        return torch.from_numpy(_taken(arrays, tree["$tensor"]).reshape(tree["shape"]).copy())
    if "$array" in tree:
        return _taken(arrays, tree["$array"]).reshape(tree["shape"]).copy()
    return {key: _attach(item, arrays) for key, item in tree.items()}


def _taken(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in arrays:
        raise ValueError(f"the array {shortened(name)} is not there, or is named twice")
    return arrays.pop(name)


def _detach(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(value, dict):
        return {key: _detach(item, f"{name}.{key}", arrays) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_detach(item, f"{name}.{i}", arrays) for i, item in enumerate(value)]
    if isinstance(value, (torch.Tensor, np.ndarray)):
        while name in arrays:  # {"a.b": ..., "a": {"b": ...}} have one name
            name += "'"
        is_tensor = isinstance(value, torch.Tensor)
        arrays[name] = np.ascontiguousarray(value.detach().numpy() if isinstance(value, torch.Tensor) else value)
        return {"$tensor" if is_tensor else "$array": name, "shape": list(value.shape)}
    if isinstance(value, np.generic):
        return value.item()
    return value
