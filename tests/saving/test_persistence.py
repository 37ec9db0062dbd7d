"""Saving: exact, atomic, and clear about what is damaged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from smartcl.saving import persistence
from smartcl.saving.persistence import load_state, save_state

values = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
arrays = st.sampled_from(["uint8", "uint16", "uint32", "int64", "float16", "float32", "bool"]).flatmap(
    lambda dtype: st.integers(0, 5).map(lambda n: np.arange(n).astype(dtype))
)
trees = st.recursive(
    values | arrays,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc.", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def same(a, b) -> bool:
    if isinstance(a, (np.ndarray, torch.Tensor)):
        return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return a == b


@given(tree=st.dictionaries(st.text("xyz", min_size=1, max_size=3), trees, max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_tree_comes_back_as_it_was(tmp_path_factory, tree):
    folder = tmp_path_factory.mktemp("model")
    save_state(folder, tree)
    assert same(tree, load_state(folder))


def test_tensors_of_any_shape_come_back(tmp_path):
    state = {"scalar": torch.tensor(3.0), "matrix": torch.randn(2, 3), "none": torch.zeros(0, 4)}
    save_state(tmp_path / "m", state)
    assert same(state, load_state(tmp_path / "m"))


def test_saving_again_replaces_and_leaves_no_litter(tmp_path):
    save_state(tmp_path / "m", {"a": np.arange(3)})
    save_state(tmp_path / "m", {"a": np.arange(4)})
    assert same({"a": np.arange(4)}, load_state(tmp_path / "m"))
    save_state(tmp_path / "m", {"a": np.arange(5)})
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == ["generations", "model.json"]
    names = sorted(path.name.split("-")[0] for path in (tmp_path / "m" / "generations").iterdir())
    assert names == ["arrays", "arrays", "lock", "previous.json"], "the last two states, and no more"


@pytest.mark.parametrize("fail_at", ["arrays", "model.json"])
def test_a_full_disk_keeps_the_old_state(tmp_path, monkeypatch, fail_at):
    save_state(tmp_path / "m", {"a": np.arange(3)})

    def no_space(path: Path, target: Path) -> Path:
        if fail_at in str(target):
            raise OSError(28, "No space left on device")
        return original(path, target)

    original = Path.replace
    monkeypatch.setattr(Path, "replace", no_space)
    with pytest.raises(OSError, match="No space left"):
        save_state(tmp_path / "m", {"a": np.arange(9)})
    monkeypatch.undo()
    assert same({"a": np.arange(3)}, load_state(tmp_path / "m"))
    assert not list((tmp_path / "m").rglob(".*"))


def damage_nothing(folder: Path) -> None:
    (folder / persistence.INDEX).unlink()


def damage_json(folder: Path) -> None:
    (folder / persistence.INDEX).write_text("{")


def damage_format(folder: Path) -> None:
    (folder / persistence.INDEX).write_text('{"format": "else"}')


def damage_version(folder: Path) -> None:
    text = (folder / persistence.INDEX).read_text()
    (folder / persistence.INDEX).write_text(text.replace('"version": 2', '"version": 99'))


def damage_state(folder: Path) -> None:
    text = (folder / persistence.INDEX).read_text()
    (folder / persistence.INDEX).write_text(text.replace('"b": 1', '"b": 2'))


def damage_arrays(folder: Path) -> None:
    path = next(folder.rglob("arrays-*"))
    path.write_bytes(path.read_bytes()[:-1])


def lose_arrays(folder: Path) -> None:
    next(folder.rglob("arrays-*")).unlink()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_nothing, "no saved model"),
        (damage_json, "damaged, or not a saved"),
        (damage_format, "not a saved smartcl model"),
        (damage_version, "format version 99"),
        (damage_state, "checksum"),
        (damage_arrays, "checksum"),
        (lose_arrays, "incomplete"),
    ],
)
def test_damage_is_named(tmp_path, damage, message):
    save_state(tmp_path, {"a": np.arange(3), "b": 1})
    damage(tmp_path)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        load_state(tmp_path)


def test_a_file_is_not_a_folder(tmp_path):
    (tmp_path / "f").write_text("x")
    with pytest.raises(ValueError, match="folder must be a directory"):
        save_state(tmp_path / "f", {})


def test_a_users_own_files_stay(tmp_path):
    own = [tmp_path / "arrays-mine.safetensors", tmp_path / "arrays-0123456789abcdef.safetensors"]
    for path in own:
        path.write_text("mine")
    for size in range(4):
        save_state(tmp_path, {"a": np.arange(size)})
    assert all(path.read_text() == "mine" for path in own)


def test_what_killed_saves_left_behind_is_cleared(tmp_path):
    save_state(tmp_path, {"a": np.arange(3)})
    left = [tmp_path / "generations" / name for name in (".model.json.1.ff.tmp", "arrays-dead.safetensors")]
    for path in left:
        path.write_bytes(b"x" * 100)
    save_state(tmp_path, {"a": np.arange(4)})
    assert not any(path.exists() for path in left)


def test_two_savers_and_a_reader(tmp_path):
    """Whoever saves last wins; whoever reads finds a whole state, one of those that were saved."""
    save_state(tmp_path, {"a": np.zeros(1000)})
    faults: list[BaseException] = []

    def again(what: Callable[[], object]) -> None:
        try:
            for _ in range(25):
                what()
        except BaseException as error:
            faults.append(error)

    def read() -> None:
        values = load_state(tmp_path)["a"]
        assert (values == values[0]).all()

    jobs = [read, read, *(partial(save_state, tmp_path, {"a": np.full(1000, i)}) for i in range(2))]
    threads = [Thread(target=again, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_a_state_that_is_not_finite_is_refused(tmp_path):
    save_state(tmp_path, {"a": 1.0})
    with pytest.raises(ValueError, match="cannot be saved"):
        save_state(tmp_path, {"a": float("nan")})
    assert load_state(tmp_path) == {"a": 1.0}


@pytest.mark.parametrize(("version", "advice"), [(1, "train it anew"), (99, "pip install --upgrade smartcl")])
def test_another_format_version_says_what_to_do(version: int, advice: str, tmp_path: Path) -> None:
    save_state(tmp_path, {"a": 1})
    text = (tmp_path / "model.json").read_bytes()
    (tmp_path / "model.json").write_bytes(text.replace(b'"version": 2', b'"version": %d' % version, 1))
    with pytest.raises(ValueError, match=f"has format version {version}, .*: .*{advice}"):
        load_state(tmp_path)
