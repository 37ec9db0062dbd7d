"""A selector, a penalty and a method of a user's own: everything that is promised of ours holds for them."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from contract import assert_keeps_the_contract
from helpers import assert_same_state, small_batches, small_spec
from smartcl import SmartClassifier
from smartcl.cli.app import call
from smartcl.extend import (
    METHODS,
    InputSpec,
    Learner,
    Method,
    Pool,
    Recipe,
    Regularizer,
    Selection,
    build_learner,
    register_method,
)
from smartcl.learners.methods import find_method
from smartcl.learners.registry import Registry
from smartcl.network.mlp import MLP
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.settings import Real, of_kind

RECIPE = {"hidden": (8,), "lr": 1e-2, "iterations": 3, "replay": 10}


class NewestFirst:
    scored = False

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        newest = np.arange(len(pool))[::-1]
        keep = np.sort(newest[np.cumsum(pool.sizes[newest]) <= room])
        return Selection(keep, pool.scores[keep])


class SmallHead(Regularizer):
    """It counts its steps: a state of its own, which must be undone, saved and copied with all else."""

    steps = 0

    def add_gradient(self, network: MLP) -> None:
        weight = network.head.weight
        assert weight.grad is not None
        weight.grad.add_(weight.detach(), alpha=2 * self.strength)
        self.steps += 1

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def load_state_dict(self, saved: Any, network: MLP) -> None:
        self.steps = saved.whole("steps", 0)


def newest(spec: InputSpec, memory: str | int, seed: int, *, strength: float = 0.01, **recipe: Any) -> Learner:
    """The newest samples and a small head."""
    made = Recipe(**{**RECIPE, **recipe})
    return Learner(spec, memory, made, NewestFirst(), [SmallHead(strength)], seed=seed)


def closed(spec: InputSpec, memory: str | int, seed: int, *, lr: float = 1e-2) -> Learner:
    return newest(spec, memory, seed, lr=lr)


@dataclass(frozen=True)
class NewestSettings(Recipe):
    hidden: tuple[int, ...] = (8,)
    iterations: int = 3
    pull: float = of_kind(Real(0.0, 1.0), 0.01)


def build_newest(spec: InputSpec, memory: str | int, settings: NewestSettings, seed: int) -> Learner:
    """The newest samples, and a pull on the head."""
    return Learner(spec, memory, settings, NewestFirst(), [SmallHead(settings.pull)], seed=seed)


METHOD = Method(build_newest, NewestSettings(), "nobody")
every_own = pytest.mark.parametrize("learner", [newest, METHOD], ids=["factory", "method"])


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = set(METHODS)
    yield
    for name in set(METHODS) - before:
        del METHODS[name]


def model_of(learner: Any, **more: Any) -> SmartClassifier:
    return SmartClassifier(**{"memory": 900, "learner": learner, "random_state": 0, **more})


def rows(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    batch = small_batches(1, 40, seed=seed)[0]
    return batch.x.numpy(), batch.y.numpy()


@pytest.mark.parametrize("sparse_rows", [False, True])
@every_own
def test_the_contract_holds(learner: Any, sparse_rows: bool) -> None:
    make = Method.of(learner).learner
    assert_keeps_the_contract(lambda spec, memory, seed: make(spec, memory, seed), sparse_rows)


@every_own
def test_it_learns_is_copied_and_cloned(learner: Any) -> None:
    model = model_of(learner, lr=0.02).partial_fit(*rows(1))
    assert model.learner_.recipe.lr == 0.02
    assert model.learner_.model.regularizers[0].steps > 0
    file = io.BytesIO()
    joblib.dump(copy.deepcopy(pickle.loads(pickle.dumps(model))), file)
    file.seek(0)
    copied, fresh = joblib.load(file), clone(model)
    for each in (model, copied):
        each.partial_fit(*rows(2))
    assert_same_state(copied.learner_.state_dict(), model.learner_.state_dict())
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "classes_")
    grid = GridSearchCV(fresh, {"lr": [1e-3, 1e-2], "learner": [learner, METHOD]}, cv=2, error_score="raise")
    assert grid.fit(*rows(3)).predict(rows(3)[0]).shape == (40,)


@every_own
def test_a_call_counts_wholly_or_not_at_all(learner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(learner).partial_fit(*rows(1))
    before = model.learner_.state_dict()
    X, y = rows(2)
    asked = []

    def interrupted(self: NewestFirst, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        asked.append(room)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return Selection(pool.new[:1], pool.scores[:1])

    with monkeypatch.context() as patch:
        patch.setattr(NewestFirst, "select", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.set_params(batch_size=10).partial_fit(X, y + 5)
    assert_same_state(model.learner_.state_dict(), before)
    assert model.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"lr was .* when learning began and is 0\.5 now"):
        model.set_params(lr=0.5).partial_fit(X, y)


@every_own
def test_it_is_saved_under_its_name(learner: Any, tmp_path: Path) -> None:
    model = model_of(learner, parameters={"smoothing": 0.25}).partial_fit(*rows(1))
    with pytest.raises(
        ValueError, match=r"must be registered to be saved.*smartcl\.extend\.register_method\('a-name', learner"
    ):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
    register_method("newest", learner)
    model.save(tmp_path / "model")
    loaded = SmartClassifier.load(tmp_path / "model")
    assert (loaded.method, loaded.learner) == ("newest", None)
    assert loaded.learner_.recipe == model.learner_.recipe
    for each in (model, loaded):
        each.partial_fit(*rows(2))
    assert_same_state(loaded.learner_.state_dict(), model.learner_.state_dict())
    loaded.save(tmp_path / "again")


def test_where_it_is_not_registered_loading_says_so(tmp_path: Path) -> None:
    register_method("newest", newest)
    model = SmartClassifier(900, method="newest").partial_fit(*rows(1))
    model.save(tmp_path)
    pickled = pickle.dumps(model)
    del METHODS["newest"]
    with pytest.raises(ValueError, match="'newest' is not registered here") as refused:
        SmartClassifier.load(tmp_path)
    assert str(refused.value).startswith(str(tmp_path))
    assert "\n" not in str(refused.value)
    with pytest.raises(ValueError, match="'newest' is not registered here"):
        pickle.loads(pickled)


def test_a_copy_with_a_factory_needs_no_name(tmp_path: Path) -> None:
    """The one it carries is the one it goes on with, whatever is registered meanwhile."""
    model = pickle.loads(pickle.dumps(model_of(newest).partial_fit(*rows(1))))
    assert model.learner is newest
    assert isinstance(model.partial_fit(*rows(2)).memory_.selector, NewestFirst)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"learner": 3},
            r"learner must be a factory\(spec, memory, seed, \*\*parameters\) or a smartcl.extend.Method, got 3",
        ),
        ({"learner": newest, "method": "er"}, "method must not be given beside a learner of one's own, got 'er'"),
        ({"learner": None, "method": newest}, "method must be a name, got <function"),
        (
            {"learner": lambda spec, memory, seed: "no"},
            "a method must build a smartcl.extend.Learner, this one built 'no'",
        ),
        ({"learner": closed, "parameters": {"smoothing": 0.1}}, "unknown parameter 'smoothing': .*known are lr"),
        ({"learner": METHOD, "parameters": {"pull": 2}}, r"pull must be a number in \[0, 1\], got 2"),
        ({"learner": METHOD, "parameters": {"pul": 1}}, "unknown parameter 'pul': did you mean pull"),
        ({"learner": Method(build_newest, NewestSettings(), task_aware=True)}, "must be told which task"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_no_trace(arguments: dict[str, Any], message: str) -> None:
    model = model_of(newest).partial_fit(*rows(1))
    before = model.learner_
    with pytest.raises(ValueError, match=message):
        model.set_params(**arguments).fit(*rows(1))
    assert model.learner_ is before


def test_a_factory_may_want_a_parameter(tmp_path: Path) -> None:
    def wants(spec: InputSpec, memory: str | int, seed: int, *, widths: list[int]) -> Learner:
        return newest(spec, memory, seed, hidden=tuple(widths))

    with pytest.raises(TypeError, match="widths"):
        model_of(wants).fit(*rows())
    model = model_of(wants, parameters={"widths": [4, 3]}).fit(*rows())
    register_method("wants", wants)
    model.save(tmp_path)
    assert SmartClassifier.load(tmp_path).partial_fit(*rows()).learner_.recipe.hidden == (4, 3)


def test_a_registered_method_is_one_like_ours() -> None:
    register_method("own.newest", METHOD)
    assert "own.newest" in list(METHODS)
    assert METHODS["own.newest"].summary == "The newest samples, and a pull on the head."
    learner = build_learner("own.newest", small_spec(), 900, pull="0.5")
    assert learner.model.regularizers[0].strength == 0.5
    names = {"dataset": "split-mnist", "method": "own.newest"}
    assert RunSpec.of({"pull": "0.5"}, **names).key != RunSpec.of({}, **names).key
    with pytest.raises(ValueError, match="pull must be a number in"):
        RunSpec.of({"pull": "much"}, **names)
    with pytest.raises(ValueError, match=r"did you mean own\.newest"):
        find_method("own.newst")
    register_method("own.newest", newest)
    assert METHODS["own.newest"].parameters == {"strength": 0.01}


@pytest.mark.parametrize("name", ["", "a b", "x\ny", "x" * 61, 3, None])
def test_names_are_words(name: Any) -> None:
    with pytest.raises(ValueError, match="name must be up to 60 letters"):
        register_method(name, newest)


def test_ours_stay_ours() -> None:
    with pytest.raises(ValueError, match="name must be another than 'smart'"):
        register_method("smart", newest)
    with pytest.raises(ValueError, match="learner must be a factory"):
        register_method("mine", "er")  # type: ignore[arg-type]


def test_a_setting_must_have_a_kind() -> None:
    @dataclass(frozen=True)
    class Vague(Recipe):
        warmth: float = 1.0

    with pytest.raises(TypeError, match=r"warmth is in no list: write warmth = of_kind\(kind, default\)"):
        Vague()


# --- entry points ------------------------------------------------------------

PLUGIN = """
from smartcl.extend import METHODS, Method
from smartcl.learners.method_settings import ReplaySettings
from smartcl.learners.replay import er

def build(spec, memory, settings, seed):
    '''Replay as another package has it.'''
    return er(spec, memory, settings, seed)

METHOD = Method(build, ReplaySettings(lr=0.125), "the neighbours")
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Where a package in a folder of its own declares its entry points."""
    (tmp_path / "neighbours.py").write_text(PLUGIN)
    about = tmp_path / "neighbours-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: neighbours\nVersion: 1.0\n")
    return about / "entry_points.txt"


def test_an_installed_package_brings_methods(
    installed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installed.write_text("[smartcl.methods]\nneighbourly = neighbours:METHOD\ner = neighbours:METHOD\n")
    monkeypatch.syspath_prepend(str(installed.parents[1]))
    monkeypatch.setattr(METHODS, "_declared", None)  # as in a process that has looked for nothing yet
    assert build_learner("neighbourly", small_spec(), 900, hidden="4").recipe.lr == 0.125
    assert METHODS["er"].citation == "Chaudhry et al. 2019"
    assert call(["methods"]) == 0
    out = capsys.readouterr().out
    assert "Replay as another package has it." in out
    assert "the neighbours" in out


def test_a_package_that_cannot_be_loaded_breaks_nothing_else(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed.write_text("[smartcl.methods]\nbroken = no_such_module:METHOD\nodd = neighbours:PLUGIN\n")
    monkeypatch.syspath_prepend(str(installed.parents[1]))
    methods = Registry({"er": lambda: METHODS["er"]}, "smartcl.methods", Method.of)
    assert list(methods) == ["er", "broken", "odd"]
    assert len(methods) == 3
    assert methods["er"] is METHODS["er"]
    with pytest.raises(
        ValueError, match=r"'broken' of smartcl\.methods cannot be loaded from no_such_module:METHOD: Mod"
    ):
        methods["broken"]
    with pytest.raises(ValueError, match=r"'odd' of smartcl\.methods cannot be loaded"):
        methods["odd"]
    with pytest.raises(KeyError):
        methods["missing"]
