"""Parts of the default learner that are off: only inside the context, in every module, and with fitting functions."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from smartcl import SmartClassifier
from smartcl.data.spec import InputSpec
from smartcl.learners.adaptive import MEMBERS, usual_members
from smartcl.learners.ensemble import drift, ensemble, ridge, settings, weighting
from smartcl.paper.experiments.ensemble_variants import ALL, VARIANTS, Variant, modules, numbers, owners, replaced

TABLE = InputSpec(n_features=10, n_classes=2)
IMAGES = InputSpec(n_features=784, n_classes=2)
TEXTS = InputSpec(n_features=20_000, n_classes=2, sparse=True)


def everything() -> dict[tuple[str, str], Any]:
    """All names of the ensemble's modules, and those of their classes."""
    found = {(module.__name__, name): value for module in modules() for name, value in vars(module).items()}
    classes = {value for value in found.values() if inspect.isclass(value) and value.__module__.startswith("smartcl")}
    return found | {(each.__qualname__, name): value for each in classes for name, value in vars(each).items()}


def same(before: dict[tuple[str, str], Any], after: dict[tuple[str, str], Any]) -> bool:
    return before.keys() == after.keys() and all(after[name] is value for name, value in before.items())


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
def test_names_are_replaced_inside_and_restored_after_an_exception(variant: Variant) -> None:
    before = everything()
    inside: dict[str, bool] = {}

    def interrupted() -> None:
        with replaced(variant.names):
            for name, value in variant.names.items():
                inside[name] = all(vars(owner)[name.split(".")[-1]] is value for owner in owners(name))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert inside == dict.fromkeys(variant.names, True)
    assert same(before, everything())


def test_a_name_that_several_modules_have_is_replaced_in_each() -> None:
    with replaced({"FORGETTING": (1.0, 0.9), "outdated": None}):
        assert settings.FORGETTING == ridge.FORGETTING == ensemble.FORGETTING == (1.0, 0.9)
        assert ensemble.outdated is None


def test_a_name_that_no_module_has_is_refused_and_nothing_is_replaced() -> None:
    before = everything()
    for wrong in ("NO_SUCH_NUMBER", "Calibration.no_such_method", "NoSuchClass.applied"):
        with pytest.raises(ValueError, match=f"has the name {wrong}"), replaced({"SURE": 1.0, wrong: 1}):
            pytest.fail("went on")
        assert same(before, everything())


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
def test_a_function_takes_the_arguments_of_the_one_it_replaces(variant: Variant) -> None:
    for name, value in variant.names.items():
        original = vars(owners(name)[0])[name.split(".")[-1]]
        assert callable(value) == callable(original)
        if callable(value):
            taken = inspect.signature(original).parameters
            inspect.signature(value).bind(*taken)


def test_without_a_member_the_others_are_the_usual_ones() -> None:
    for name in MEMBERS:
        variant = VARIANTS[f"member: {name}"]
        for spec in (TABLE, IMAGES, TEXTS):
            usual = usual_members(spec)
            assert variant.concerns(spec) == (name in usual)
            if name in usual:
                assert set(variant.estimator_arguments(spec)["members"]) == {*usual} - {name}


def test_a_rule_of_tables_stays_on_for_images_and_texts() -> None:
    steps = VARIANTS["axis-parallel steps"]
    assert [steps.concerns(spec) for spec in (TABLE, IMAGES, TEXTS)] == [True, False, False]
    assert all(VARIANTS[ALL].concerns(spec) for spec in (TABLE, IMAGES, TEXTS))
    assert VARIANTS[ALL].estimator_arguments(TABLE) == {}


def test_forgetting_rates_and_neighbours_are_left_out_one_by_one() -> None:
    left = [variant.names["FORGETTING"] for variant in VARIANTS.values() if "FORGETTING" in variant.names]
    assert len(left) == len(settings.FORGETTING) - 1
    assert all(rates[0] == 1.0 and len(rates) == len(settings.FORGETTING) - 1 for rates in left)
    counts = [variant.names["NEIGHBOUR_ROWS"] for variant in VARIANTS.values() if "NEIGHBOUR_ROWS" in variant.names]
    assert {frozenset({*settings.NEIGHBOUR_ROWS} - {*kept}) for kept in counts} == {
        frozenset({rows}) for rows in settings.NEIGHBOUR_ROWS
    }


def test_a_range_of_neighbours_less_is_an_answer_less() -> None:
    X, y = reversed_in_the_middle()
    for name, variant in VARIANTS.items():
        if "NEIGHBOUR_ROWS" in variant.names:
            with replaced(variant.names):
                model = SmartClassifier("100kB", random_state=0, members=("neighbours",)).partial_fit(X[:150], y[:150])
                assert len(model.learner_.experts) == len(settings.NEIGHBOUR_ROWS), name
                assert model.score(X[:150], y[:150]) > 0.9


def reversed_in_the_middle() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3)).astype(np.float32)
    y = (X[:, 0] > 0).astype(np.int64)
    y[750:] = 1 - y[750:]
    return X, y


def learned(**arguments: Any) -> SmartClassifier:
    X, y = reversed_in_the_middle()
    model = SmartClassifier("100kB", random_state=0, members=("ridge", "neighbours"), **arguments)
    for start in range(0, len(y), 50):
        model.partial_fit(X[start : start + 50], y[start : start + 50])
    return model


def test_rules_that_are_off_do_nothing() -> None:
    """A reversal is noticed and leaves a snapshot, but not without the rule; afterwards it is noticed again."""
    assert [change.kind for change in learned().learner_.changes] == [drift.CHANGED]
    with replaced(VARIANTS["reaction to changes"].names):
        assert learned().learner_.changes == ()
    with replaced(VARIANTS["snapshots"].names):
        without = learned()
    [ridge_member] = [part for part in without.learner_.parts if part.name == "ridge"]
    assert without.learner_.changes
    assert ridge_member.snapshots == ()
    with replaced(VARIANTS["weights fitted by log loss"].names):
        evidence = learned().learner_.evidence
    np.testing.assert_allclose(evidence.weights.experts, weighting.trust(evidence.known), atol=1e-4)
    assert learned().learner_.changes


def test_numbers_are_those_of_the_settings() -> None:
    assert {"SNAPSHOTS", "TREES", "LEAVES"} <= set(numbers())
    assert all(isinstance(getattr(settings, name), int | float | tuple) for name in numbers())
    assert len(set(numbers())) == len(numbers())
