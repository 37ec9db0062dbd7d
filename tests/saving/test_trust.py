"""Loading a folder imports nothing that the folder names, unless the user names it too."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from own_modules import perceptron
from smartcl import SmartClassifier, TableModel, train_stream
from smartcl.cli.app import call
from smartcl.saving.persistence import load_state, save_state
from smartcl.saving.references import UntrustedCodeError, import_reference, only_trusted

#: A module that leaves a trace when it is imported, and another when its code is called.
SOURCE = """
from os import system
import os
from pathlib import Path
import numpy as np
from torch import nn
from sklearn.tree import DecisionTreeClassifier

TRACE = Path(__file__).parent / "trace"
TRACE.write_text("imported")

def network(spec):
    TRACE.write_text("called")
    return nn.Linear(spec.n_features, spec.n_classes)

def encoder(items):
    TRACE.write_text("called")
    return np.array([[len(item), 1.0] for item in items])

def optimizer(parameters):
    import torch
    return torch.optim.SGD(parameters, lr=0.1)

def augment(rows):
    return rows

class Tree(DecisionTreeClassifier):
    def __init__(self, max_depth=2):
        super().__init__(max_depth=max_depth)

def member(spec, features):
    TRACE.write_text("called")

class Held:
    def make(self, spec):
        return network(spec)

held = Held()
"""
X, Y = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32), np.arange(60) % 2
TEXTS = ["a", "bb", "ccc"] * 20
SMALL: dict[str, Any] = {"method": "smart", "hidden": (2,), "iterations": 1, "random_state": 0}
#: What a folder may name code in: settings, and the rows they learn.
SPOTS: dict[str, tuple[dict[str, Any], Any]] = {
    "network": ({**SMALL, "hidden": None, "network": "spotted:network"}, X),
    "optimizer": ({**SMALL, "hidden": None, "network": "spotted:network", "optimizer": "spotted:optimizer"}, X),
    "augment": ({**SMALL, "hidden": None, "network": "spotted:network", "augment": "spotted:augment"}, X),
    "encoder": ({**SMALL, "encoder": "spotted:encoder"}, TEXTS),
    "parameters": ({"method": "smart", "parameters": {"network": "spotted:network"}}, X),
    "members": ({"members": "ridge, spotted:Tree"}, X),
}


@pytest.fixture
def spotted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the module lies; it is importable, and not imported yet."""
    (tmp_path / "spotted.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "spotted", raising=False)
    return tmp_path


def saved(spotted: Path, spot: str) -> Path:
    """A model whose folder names code, and no trace of that code in this process."""
    settings, rows = SPOTS[spot]
    settings = dict(settings)
    if spot == "members":
        settings["members"] = ["ridge", import_reference("spotted:Tree")()]
    SmartClassifier("10kB", **settings).partial_fit(rows, Y).save(spotted / "model")
    del sys.modules["spotted"]
    (spotted / "trace").unlink()
    return spotted / "model"


@pytest.mark.parametrize("spot", SPOTS)
def test_nothing_is_imported_unless_it_is_trusted(spot: str, spotted: Path) -> None:
    folder = saved(spotted, spot)
    for trust in ((), ["spot"], ["spotted.more"], "other", ["spotted:nothing"]):
        with pytest.raises(ValueError, match=r"would import code, .*spotted:\w+.*trust=\['spotted'\]") as caught:
            SmartClassifier.load(folder, trust=trust)
        assert "\n" not in str(caught.value)
        assert "--trust spotted" in str(caught.value)
    assert "spotted" not in sys.modules
    assert not (spotted / "trace").exists()
    loaded = SmartClassifier.load(folder, trust=["spotted"])
    assert (spotted / "trace").exists()
    rows = SPOTS[spot][1]
    assert len(loaded.partial_fit(rows, Y).predict(rows)) == 60
    assert SmartClassifier.load(folder, trust="spotted").predict_proba(rows).shape == (60, 2)


def test_one_name_may_be_trusted_alone(spotted: Path) -> None:
    folder = saved(spotted, "optimizer")
    with pytest.raises(ValueError, match="would import code, spotted:optimizer: if"):
        SmartClassifier.load(folder, trust=["spotted:network"])
    SmartClassifier.load(folder, trust=["spotted:network", "spotted:optimizer"])


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("spotted:os.system", "os"),
        ("spotted:system", "posix"),
        ("spotted:DecisionTreeClassifier", "sklearn.tree._classes"),
        ("spotted:Tree.__base__", "sklearn.tree._classes"),
        ("spotted:network.__class__", "builtins"),
        ("smartcl.saving.persistence:write_file", "smartcl.saving.persistence"),
    ],
)
def test_a_trusted_module_vouches_for_its_own_code_only(name: str, home: str, spotted: Path) -> None:
    with only_trusted(("spotted",)), pytest.raises(UntrustedCodeError, match=rf"trust=\['{home}'\]"):
        import_reference(name)
    assert import_reference(name) is not None  # what the user names is the user's


def test_what_a_trusted_module_has_made_is_its_own(spotted: Path) -> None:
    with only_trusted(("spotted",)):
        assert import_reference("spotted:held.make").__self__ is import_reference("spotted:held")


def tampered(folder: Path, change: Any) -> None:
    """A folder whose seals fit although somebody has changed what it says."""
    state = load_state(folder)
    change(state)
    save_state(folder, state)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state["estimator"].update(network="spotted:network"),
        lambda state: state["estimator"].update(augment=" spotted:augment"),
        lambda state: state["estimator"].update(members=["spotted:member"]),
        lambda state: state["estimator"].update(members="trees , spotted:member"),
        lambda state: state["estimator"].update(members=[{"classifier": "spotted:Tree", "parameters": {}}]),
        lambda state: state["estimator"].update(parameters={"network": "spotted:network"}),
        lambda state: state["estimator"].update(encoder="spotted:encoder"),
        lambda state: state["built"]["parameters"].update(network="spotted:network"),
        lambda state: state["built"]["parameters"].update(members=["spotted:member"]),
        lambda state: state["built"].update(method="spotted:network"),
        lambda state: state["estimator"].update(method="spotted:network"),
        lambda state: state.update(encoding={"encoder": "spotted:encoder", "kind": None, "answers": None}),
    ],
)
@pytest.mark.parametrize("method", ["smart", "adaptive"])
def test_whatever_a_folder_is_made_to_say_nothing_is_imported(change: Any, method: str, spotted: Path) -> None:
    folder = spotted / "model"
    SmartClassifier("10kB", method=method, random_state=0).partial_fit(X, Y).save(folder)
    tampered(folder, change)
    with pytest.raises(ValueError, match=r"code|damaged|registered|known|must"):  # whichever part is wrong first
        SmartClassifier.load(folder)
    assert "spotted" not in sys.modules
    assert not (spotted / "trace").exists()


@pytest.mark.parametrize("bad", [5, [5], [""], {"spotted": True}, True])
def test_trust_is_a_list_of_names(bad: Any, tmp_path: Path) -> None:
    SmartClassifier("1kB", **SMALL).partial_fit(X, Y).save(tmp_path)
    with pytest.raises(ValueError, match="trust must be a list of names of modules"):
        SmartClassifier.load(tmp_path, trust=bad)


def test_a_model_without_code_of_a_users_own_needs_no_trust(tmp_path: Path) -> None:
    labels = np.where(Y > 0, "os:system", "ridge")  # a label may look like a name of code
    model = SmartClassifier("10kB", class_weight={"os:system": 2.0}, **SMALL).partial_fit(X, labels)
    model.save(tmp_path)
    assert SmartClassifier.load(tmp_path).class_weight == {"os:system": 2.0}


def test_what_is_trusted_for_one_folder_is_not_for_the_next(tmp_path: Path) -> None:
    settings = {**SMALL, "hidden": None, "network": perceptron}
    SmartClassifier("10kB", **settings).partial_fit(X, Y).save(tmp_path)
    SmartClassifier.load(tmp_path, trust=["own_modules"])
    with pytest.raises(
        ValueError, match="would import code, own_modules:perceptron"
    ):  # although the module is there already
        SmartClassifier.load(tmp_path)


def test_every_command_that_opens_a_folder_asks_for_trust(
    spotted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(spotted)
    rows = [{"nr": n, "a": n % 7, "b": n % 3, "y": "uv"[n % 2]} for n in range(80)]
    table = spotted / "t.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (spotted / "gone.txt").write_text("3\n")
    settings = {**SMALL, "hidden": None, "network": "spotted:network", "checkpoint_rows": 50}
    train_stream(str(table), "y", id="nr", out=spotted / "m", memory="10kB", **settings)
    del sys.modules["spotted"]
    (spotted / "trace").unlink()
    commands = {
        "inspect": ["m"],
        "predict": ["m", "t.jsonl"],
        "evaluate": ["m", "t.jsonl"],
        "forget": ["m", "--ids", "gone.txt"],
        "train": [str(table), "--out", "m", "--resume"],
    }
    for name, arguments in commands.items():
        assert call([name, *arguments]) == 2
        assert "would import code, spotted:network" in capsys.readouterr().err
        assert not (spotted / "trace").exists(), name
        assert call([name, *arguments, "--trust", "spotted"]) == 0, capsys.readouterr().err
        (spotted / "trace").unlink()
        del sys.modules["spotted"]
    with pytest.raises(ValueError, match="would import code, spotted:network"):
        TableModel.load(spotted / "m")
    with pytest.raises(ValueError, match="would import code, spotted:network"):
        train_stream(str(table), out=spotted / "m", resume=True)
    assert TableModel.load(spotted / "m", trust=["spotted"]).progress.rows == 80
    assert train_stream(str(table), out=spotted / "m", resume=True, trust_code=["spotted"]).progress.rows == 80
