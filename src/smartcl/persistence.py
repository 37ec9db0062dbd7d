"""Saving and loading: arrays as safetensors, the rest as JSON, never pickle.

A model is a folder: ``model.json`` and the one array file it names. The array file is written first, under a name of
its own; replacing ``model.json`` is the moment the new state counts. Whatever interrupts a save, the folder holds the
old state or the new one, whole.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as parse_arrays
from safetensors.numpy import save as format_arrays

FORMAT = "smartcl-model"
VERSION = 1
INDEX = "model.json"


def save_state(folder: str | os.PathLike[str], state: dict[str, Any]) -> None:
    """Write a tree of dicts, lists, arrays, tensors and plain values into ``folder``, atomically."""
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise ValueError(f"folder must be a directory to save a model in, but {target} is a file")
    arrays: dict[str, NDArray[Any]] = {}
    tree = _detach(state, "", arrays)
    blob = format_arrays(arrays)
    digest = hashlib.sha256(blob).hexdigest()
    blob_name = f"arrays-{digest[:16]}.safetensors"
    index = {"format": FORMAT, "version": VERSION, "arrays": blob_name, "sha256": digest, "state": tree}
    text = json.dumps(index).encode()
    target.mkdir(parents=True, exist_ok=True)
    write_file(target / blob_name, blob)
    write_file(target / INDEX, text)
    for stale in target.glob("arrays-*.safetensors"):
        if stale.name != blob_name:
            stale.unlink()


def load_state(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """What ``save_state`` wrote, or an error that says what is wrong with the folder."""
    path = Path(folder) / INDEX
    if not path.is_file():
        raise FileNotFoundError(f"no saved model in {folder}: {INDEX} is missing")
    try:
        index = json.loads(path.read_bytes())
    except ValueError:
        raise ValueError(f"{path} is damaged: not valid JSON") from None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise ValueError(f"{path} is not a saved smartcl model")
    if index.get("version") != VERSION:
        raise ValueError(f"{path} has format version {index.get('version')}; this release reads {VERSION}")
    blob_path = path.parent / Path(str(index["arrays"])).name
    if not blob_path.is_file():
        raise FileNotFoundError(f"the saved model in {folder} is incomplete: {blob_path.name} is missing")
    blob = blob_path.read_bytes()
    if hashlib.sha256(blob).hexdigest() != index["sha256"]:
        raise ValueError(f"{blob_path} is damaged: its checksum is not the one it was saved with")
    try:
        arrays = parse_arrays(blob)
    except SafetensorError as error:
        raise ValueError(f"{blob_path} is damaged: {error}") from None
    state: dict[str, Any] = _attach(index["state"], arrays)
    return state


def _detach(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """The tree with every array moved to ``arrays`` and a reference left in its place."""
    if isinstance(value, dict):
        return {key: _detach(item, f"{name}.{key}", arrays) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_detach(item, f"{name}.{i}", arrays) for i, item in enumerate(value)]
    if isinstance(value, (torch.Tensor, np.ndarray)):
        is_tensor = isinstance(value, torch.Tensor)
        arrays[name] = np.ascontiguousarray(value.detach().numpy() if isinstance(value, torch.Tensor) else value)
        return {"$tensor" if is_tensor else "$array": name, "shape": list(value.shape)}
    if isinstance(value, np.generic):
        return value.item()
    return value


def _attach(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(value, list):
        return [_attach(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "$tensor" in value:
        return torch.from_numpy(arrays[value["$tensor"]].reshape(value["shape"]).copy())
    if "$array" in value:
        return arrays[value["$array"]].reshape(value["shape"]).copy()
    return {key: _attach(item, arrays) for key, item in value.items()}


def write_file(path: Path, data: bytes) -> None:
    """All of ``data`` under this name, or nothing new under it."""
    part = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
