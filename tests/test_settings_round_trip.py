"""Every setting of every method makes the round trip: command line, estimator, saved model, run key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import small_batches, small_spec
from smartcl import SmartClassifier
from smartcl.cli.usage import assignments
from smartcl.estimator.fitted import Built
from smartcl.estimator.input_checks import own_settings
from smartcl.extend import METHODS, Learner
from smartcl.learners.adaptive import usual_members
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.selection.trusted import Trusted
from smartcl.settings import SETTINGS, Flag, Real, Whole, Widths

every_method = pytest.mark.parametrize("method", METHODS)

#: For settings that are names, two there are.
NAMES = {
    "form": ("decoupled", "exact"),
    "precision": ("exact", "auto"),
    "layer": ("logits", "penultimate"),
    "consolidate": ("2 batches", "batch"),
    "init": ("xavier", "fan-in"),
    "arithmetic": ("float32", "bfloat16"),
    "members": (("ridge", "robust network"),),
}

#: As many features as rows have for which the robust network is among the usual members.
WIDE = 250

#: Where a setting that something other than the recipe goes by is found in a learner.
ARRIVED: dict[str, Callable[[Any], Any]] = {
    "whole": lambda learner: learner.memory.watch is None,
    "features": lambda learner: learner.map.width - 1,
    "members": lambda learner: chosen_members(learner),
    "patience": lambda learner: learner.memory.patience,
    "precision": lambda learner: learner.memory.precision,
    "alpha": lambda learner: getattr(learner, "alpha", None) or stepping(learner).model.regularizers[0].strength,
    "beta": lambda learner: getattr(learner, "beta", None) or stepping(learner).model.regularizers[1].strength,
    "form": lambda learner: stepping(learner).model.regularizers[0].form,
    "threshold": lambda learner: learner.model.regularizers[0].threshold,
    "strength": lambda learner: getattr(learner, "strength", None) or learner.model.regularizers[0].strength,
    "trust": lambda learner: getattr(learner, "trust", isinstance(learner.memory.selector, Trusted)),
    "margin": lambda learner: learner.margin,
    "epochs": lambda learner: learner.epochs,
    "layer": lambda learner: learner.memory.selector.layer,
    "memory_first": lambda learner: learner.memory.selector.memory_first,
}


def chosen_members(learner: Ensemble) -> tuple[str, ...]:
    """The members by name; none where they are the usual ones."""
    names = tuple(member.name for member in learner.parts)
    return () if names == usual_members(learner.spec) else names


def stepping(learner: Learner | Ensemble) -> Learner:
    """What takes steps as the settings say: of an ensemble, its robust network."""
    if isinstance(learner, Ensemble):
        return next(member.learner for member in learner.parts if member.name == "robust network")
    return learner


def other_value(name: str, default: Any) -> Any:
    """A valid value that is not the default, quick to learn with."""
    kind = SETTINGS.get(name)
    if isinstance(kind, Flag):
        return not default
    if isinstance(kind, Widths):
        return (5, 3)
    if isinstance(kind, Real):
        return next(value for value in (0.125, 0.25) if value != default)
    if isinstance(kind, Whole):
        return next(value for value in (2, 4) if value != default)
    return next(value for value in NAMES[name] if value != default)


def other_values(method: str) -> dict[str, Any]:
    return {name: other_value(name, default) for name, default in METHODS[method].parameters.items()}


def in_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def arrived(learner: Learner, name: str) -> Any:
    """What a learner has made of a setting."""
    return ARRIVED[name](learner) if name in ARRIVED else getattr(stepping(learner).recipe, name)


@cache
def usual(method: str) -> Learner:
    """A learner with every setting as it is by itself."""
    return METHODS[method].learner(small_spec(n_features=WIDE), 900)


@cache
def learned(method: str) -> SmartClassifier:
    """A model that has learned with no setting as it is by itself."""
    values, batches = other_values(method), small_batches(2)
    if METHODS[method].task_aware:
        built = Built(method, 900, values, small_spec())
        learner, names = built.learner(), [f"f{i}" for i in range(20)]
        for batch in batches:
            learner.observe(batch)
        return SmartClassifier._around(learner, np.array([0, 1]), built, names, {})
    model = SmartClassifier(900, method=method, parameters=values, random_state=0)
    for batch in batches:
        model.partial_fit(batch.x, batch.y)
    return model


@cache
def loaded(method: str, folder: Path) -> SmartClassifier:
    learned(method).save(folder / method)
    return SmartClassifier.load(folder / method)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@every_method
def test_the_command_line_says_it(method: str) -> None:
    values = other_values(method)
    taken = METHODS[method].coerce(assignments([f"{name}={in_text(value)}" for name, value in values.items()]))
    assert taken == values
    assert {name: type(value) for name, value in taken.items()} == {
        name: type(default) for name, default in METHODS[method].parameters.items()
    }


@every_method
def test_the_estimator_hands_it_on_and_a_saved_model_keeps_it(method: str, folder: Path) -> None:
    values = other_values(method)
    assert values.keys() == METHODS[method].parameters.keys()
    for model in (learned(method), loaded(method, folder)):
        assert model._fitted.built.settings.items() >= values.items()
        assert {name: arrived(model.learner_, name) for name in values} == values
    for name, default in METHODS[method].parameters.items():
        assert arrived(usual(method), name) == default != values[name]


@every_method
def test_a_run_is_another_one_with_it(method: str) -> None:
    names = {"dataset": "split-mnist", "method": method}
    plain = RunSpec.of({}, **names).key
    for name, value in other_values(method).items():
        default = METHODS[method].parameters[name]
        same, by_value, by_text = (RunSpec.of({name: given}, **names).key for given in (default, value, in_text(value)))
        assert plain == same != by_value == by_text, name


@pytest.mark.parametrize("method", [name for name in METHODS if not METHODS[name].task_aware])
def test_an_argument_of_its_own_is_the_same_as_a_parameter(method: str, folder: Path) -> None:
    own = own_settings(SmartClassifier().get_params())
    values = other_values(method)
    given = {name: value for name, value in values.items() if name in own}
    others = {name: value for name, value in values.items() if name not in own}
    model = SmartClassifier(900, method=method, **given, parameters=others, random_state=0)
    batch = small_batches(1)[0]
    assert model.partial_fit(batch.x, batch.y)._fitted.built == learned(method)._fitted.built
    assert loaded(method, folder).get_params() == learned(method).get_params()


def test_the_settings_with_an_argument_of_their_own() -> None:
    """Those that users of ``smart`` turn."""
    own = set(own_settings(SmartClassifier().get_params()))
    code = {"network", "optimizer", "augment"}
    assert own - code == set(METHODS["adaptive"].parameters) - {"form", "patience", "whole"}


@every_method
def test_what_a_method_leaves_no_choice_of_is_no_setting(method: str) -> None:
    found = METHODS[method]
    given_for_good = [part.name for part in fields(found.settings) if not part.init]
    assert not set(given_for_good) & set(found.parameters)
    for name in given_for_good:
        with pytest.raises(ValueError, match=f"unknown parameter '{name}'"):
            found.learner(small_spec(), 900, **{name: getattr(found.settings, name)})
