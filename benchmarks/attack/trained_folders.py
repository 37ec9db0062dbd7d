"""Damage to the folder of ``smartcl train``: refused in one line with exit code 2, or the same model as before.

Bytes are changed in any file of the folder. Or an entry of what belongs to the table (schema, encoder, progress) is
changed in meaning and saved under valid checksums, as a hostile program would: it may load, but never end in a defect.
"""

from __future__ import annotations

import io
import shutil
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack.input_files import OPTIONS, good_file, mutated
from benchmarks.attack.tries import NEVER, REFUSED, SURVIVED, FaultError, Findings, run, scratch
from smartcl.cli.app import call
from smartcl.saving.persistence import load_state, save_state

STRANGE: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**12, 2**70, 1.5, -3.4e38, "", "../../etc/passwd", "x" * 1000, [], {}, [1], {"a": 1}),
    *(np.zeros(0), np.full(3, np.nan), np.arange(5), [[1, 2, 3]], {"name": "n", "kind": "text"}),
)


def attack(tries: int, *, seed: int = 0, until: float = NEVER) -> Findings:
    """Damage that many folders: of a dense table, and of one with words."""
    with scratch() as root:
        folders = [_trained(Path(root), ending) for ending in ("csv", "libsvm")]
        return run(partial(_attempt, folders), range(seed, seed + tries), until=until)


def _trained(root: Path, ending: str) -> tuple[Path, Path, str]:
    """A folder with a state and the one before it, rows to predict, and the predictions."""
    path, folder = root / f"rows.{ending}", root / f"model-{ending}"
    path.write_bytes(good_file(ending))
    options = ("--out", str(folder), "--checkpoint-rows", "50", *OPTIONS, "--memory", "3kB")
    if called(["train", str(path), *options])[0]:
        raise RuntimeError("a good file is refused")
    return folder, path, called(["predict", str(folder), str(path), "--proba"])[1]


def _attempt(folders: list[tuple[Path, Path, str]], seed: int) -> str:
    rng = np.random.default_rng(seed)
    folder, path, good = folders[seed % len(folders)]
    with scratch() as root:
        copy = Path(root) / "model"
        shutil.copytree(folder, copy)
        needed, what = _damage_bytes(copy, rng) if rng.random() < 0.6 else _damage_meaning(copy, rng)
        code, out, err = called(["predict", str(copy), str(path), "--proba"])
        inspected = called(["inspect", str(copy), "--json"])
    for exit_code, said in ((code, err), (inspected[0], inspected[2])):
        lines = [line for line in said.splitlines() if not line.startswith("smartcl: note: ")]
        if exit_code not in (0, 2) or (exit_code == 2 and len(lines) != 1) or "a defect" in said:
            raise FaultError(f"exit code {exit_code}", f"{what}; {said[:160]}")
    if code == 0 and needed and out != good:
        raise FaultError("damage was accepted silently", what)
    return SURVIVED if code == 0 else REFUSED


def _damage_bytes(folder: Path, rng: np.random.Generator) -> tuple[bool, str]:
    """Change a file: whether the same predictions are due if it loads, and what was done."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    path = files[rng.integers(len(files))]
    kind = rng.integers(4)
    if kind == 0:
        path.unlink()
    elif kind == 1:
        path.write_bytes(files[rng.integers(len(files))].read_bytes())
    else:
        path.write_bytes(mutated(path.read_bytes(), rng))
    return True, f"bytes of {path.name}"


def _damage_meaning(folder: Path, rng: np.random.Generator) -> tuple[bool, str]:
    state = load_state(folder)
    places = list(_places(state["companions"], "companions"))
    container, key, where = places[rng.integers(len(places))]
    if rng.random() < 0.2 and isinstance(container, dict):
        del container[key]
    else:
        container[key] = STRANGE[rng.integers(len(STRANGE))]
    with suppress(ValueError, OverflowError):
        save_state(folder, state)
    return False, f"meaning of {where}"


def _places(value: Any, where: str) -> list[tuple[Any, Any, str]]:
    found = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += [(value, key, f"{where}.{key}"), *_places(item, f"{where}.{key}")]
    return found


def called(arguments: list[str]) -> tuple[int, str, str]:
    """A command in this process: its exit code, and what it said on stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = call(arguments)
    return code, out.getvalue(), err.getvalue()
