"""One model from several that learned apart, and a part taken out again."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.account.account import Account
from smartcl.columns.joined_encoders import Knowing, check_same_columns, joined_encoders
from smartcl.columns.row_encoder import RowEncoder
from smartcl.data.batch import Ints
from smartcl.estimator import SmartClassifier
from smartcl.estimator.fitted import Fitted, Labels, check_family, positions
from smartcl.estimator.input_checks import class_weight_asked
from smartcl.learners.ensemble.combining import same_basis, same_beginning, same_keys, together, without
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.memory.budget import Budget
from smartcl.scale.one_schema import under_one_schema
from smartcl.settings import shown


def merge_classifiers(
    models: Sequence[SmartClassifier],
    memory: str | int | None = None,
    base: SmartClassifier | None = None,
    in_turn: bool = False,
    steps: int | None = None,
) -> SmartClassifier:
    """One classifier that knows what all of them know; they stay as they are.

    Networks among the members learn at most ``steps`` stored samples then; by default, each once.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> base = SmartClassifier(memory="2kB", random_state=0).partial_fit(X[::3], y[::3])
    >>> one, two = (shard_of(base, k).partial_fit(X[k::3], y[k::3]) for k in (1, 2))
    >>> merged = merge_classifiers([one, two], base=base)
    >>> merged.learner_.counts.total, merged.score(X, y) > 0.9
    (150, True)
    """
    if not models:
        raise ValueError("models must be at least one model, got none")
    given = [_ready(model, f"models[{place}]") for place, model in enumerate(models)]
    if base is None:
        given = under_one_schema(given)
    for place, model in enumerate(given[1:], 1):
        _check_alike(given[0], model, f"models[{place}]")
    learners, start = [_learner(model) for model in given], None
    if base is None:
        if same_beginning(learners):
            raise ValueError(
                "the models went on from one base, whose rows would count once for each: give it as base (--base)"
            )
        if same_keys(learners):
            warnings.warn(
                "the models drew the same random numbers, as those of one random_state do: samples of the same places "
                "in their streams are kept or let go together; give each its own random_state",
                stacklevel=2,
            )
    else:
        start = _ready(base, "base")
        _check_alike(given[0], start, "base")
    names = _all_names([*([] if start is None else [start]), *given], start)
    size = max((model.memory for model in given), key=_nbytes_of(given[0])) if memory is None else memory
    fitted = given[0]._fitted
    spec = replace(fitted.built.spec, n_classes=len(names))
    built = replace(fitted.built, memory=size, spec=spec)
    learner = built.learner(_seed(learners))
    assert isinstance(learner, Ensemble)
    learner.class_weight = class_weight_asked(given[0].class_weight, names)
    whole = together(
        learners,
        [positions(names, model._fitted.names) for model in given],
        len(names),
        learner.memory.budget.nbytes,
        None if start is None else _learner(start),
        None if start is None else positions(names, start._fitted.names),
        in_turn,
        steps,
    )
    learner.become(whole)
    account = _account([(1, model) for model in given] + ([] if start is None else [(1 - len(given), start)]), names)
    shares = _shares(learners, start)
    known = [(1, share, model) for share, model in zip(shares, given, strict=True)]
    columns = _columns(known + ([] if start is None else [(1 - len(given), 0.0, start)]))
    own = replace(fitted, learner=learner, names=names, built=built, companions={}, account=account, columns=columns)
    return _around(given[0], own, size)


def subtract_classifier(
    model: SmartClassifier, part: SmartClassifier, base: SmartClassifier | None = None
) -> SmartClassifier:
    """The model without a part that was merged into it; both stay as they are."""
    whole, gone = _ready(model, "model"), _ready(part, "part")
    _check_alike(whole, gone, "part")
    start = None if base is None else _ready(base, "base")
    fitted = whole._fitted
    places: list[Ints] = []
    for each, what in ((gone, "part"), *(((start, "base"),) if start is not None else ())):
        _check_alike(whole, each, what)
        strange = np.setdiff1d(each._fitted.names, fitted.names)
        if len(strange):
            raise ValueError(f"{what} knows classes that the model does not: {shown(strange.tolist())}")
        places.append(positions(fitted.names, each._fitted.names))
    own = _learner(whole)
    made = without(own, _learner(gone), places[0], *(() if start is None else (_learner(start), places[1])))
    learner = fitted.built.learner(_seed([own, _learner(gone)]))
    assert isinstance(learner, Ensemble)
    if learner.spec.n_classes < len(fitted.names):
        learner.add_classes(len(fitted.names))
    learner.class_weight = own.class_weight
    learner.become(made)
    account = _account([(1, whole), (-1, gone), *([] if start is None else [(1, start)])], fitted.names)
    columns = _columns([(1, 1.0, whole), (-1, 0.0, gone), *([] if start is None else [(1, 0.0, start)])])
    left = replace(fitted, learner=learner, companions={}, account=account, columns=columns)
    return _around(whole, left, whole.memory)


def _shares(learners: Sequence[Ensemble], base: SmartClassifier | None) -> list[float]:
    """The share of each learner of the rows that are new."""
    before = 0 if base is None else _learner(base).counts.total
    new = [own.counts.total - before for own in learners]
    return [rows / sum(new) if sum(new) else 1 / len(new) for rows in new]


def _columns(parts: Sequence[tuple[int, float, SmartClassifier]]) -> RowEncoder | None:
    """What all know of the columns of their table; None for models of arrays."""
    known = [Knowing(times, share, columns) for times, share, model in parts if (columns := model._fitted.columns)]
    return joined_encoders(known) if known else None


def _account(parts: Sequence[tuple[int, SmartClassifier]], names: Labels) -> Account:
    """How good the answers of all were before they learned, those of a base once."""
    placed = [
        (times, model._fitted.account.placed(positions(names, model._fitted.names), len(names)))
        for times, model in parts
    ]
    return Account.combined(placed)


def shard_of(base: SmartClassifier, seed: int | Sequence[int], holds_frame: bool = True) -> SmartClassifier:
    """A copy of the base that learns a part of the stream, to be merged with others.

    Parameters
    ----------
    base
        The model to go on from. It should have seen rows of all kinds, and at least 1,000 of them.
    seed
        A number, or several, that no other shard has: each draws by its own.
    holds_frame
        Whether features stay in the base's scale, so that sums add up.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> base = SmartClassifier(memory="2kB", random_state=0).partial_fit(X[::3], y[::3])
    >>> shard_of(base, 1).partial_fit(X[1::3], y[1::3]).learner_.counts.total
    100
    """
    shard = deepcopy(_ready(base, "base"))
    learner = _learner(shard)
    learner.rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    learner.holds_frame = holds_frame
    if holds_frame:
        hold_names(shard)
    return shard


def hold_names(model: SmartClassifier) -> None:
    """Give no feature of its own to a name that comes from here on: another shard would give it to another name."""
    columns = model._fitted.columns
    for own in () if columns is None else columns.own.values():
        own.takes_names = False


def check_mergeable(model: SmartClassifier) -> None:
    """Refuse a model of which several could not be merged."""
    _ready(model, "the model")


def adds_up(models: Sequence[SmartClassifier]) -> bool:
    """Whether the sums of the models add up exactly: all of one scale and one map of features."""
    learners = [_learner(model) for model in models]
    return all(same_basis(learners[0], own) for own in learners[1:])


def _ready(model: SmartClassifier, name: str) -> SmartClassifier:
    """A fitted model of the default method, with no row waiting."""
    if not isinstance(model, SmartClassifier):
        raise ValueError(f"{name} must be a SmartClassifier, got {type(model).__name__}")
    if not model.__sklearn_is_fitted__():
        raise ValueError(f"{name} has learned nothing yet: call fit or partial_fit first")
    if not isinstance(model.learner_, Ensemble):
        raise ValueError(
            f"{name} must be of the method 'adaptive', got {shown(model.method)}: only the default can be merged, for "
            "its sums add up and its samples keep the random keys that they drew"
        )
    if model.learner_.waiting:
        model = deepcopy(model).flush()
    return model


def _learner(model: SmartClassifier) -> Ensemble:
    learner = model.learner_
    assert isinstance(learner, Ensemble)
    return learner


def _check_alike(first: SmartClassifier, other: SmartClassifier, name: str) -> None:
    """Refuse a model whose rows or settings are others, with what is other."""
    one, two = first._fitted, other._fitted
    if one.columns is not None and two.columns is not None:
        check_same_columns(one.columns.schema, two.columns.schema)
    mine, theirs = one.built.spec, two.built.spec
    kinds = [
        *((each, getattr(mine, each), getattr(theirs, each)) for each in ("n_features", "dtype", "sparse", "shape")),
        *((each, one.built.settings[each], two.built.settings.get(each)) for each in one.built.settings),
        ("method", one.built.method, two.built.method),
        ("batch_size", first.batch_size, other.batch_size),
        ("members", [m.name for m in _learner(first).parts], [m.name for m in _learner(other).parts]),
        ("sample_weight", _learner(first).weighted, _learner(other).weighted),
        ("ids", _learner(first).keeps_ids, _learner(other).keeps_ids),
        ("feature names", _feature_names(first), _feature_names(other)),
        ("kind of rows", _kind(one), _kind(two)),
    ]
    for what, here, there in kinds:
        if here != there and what == "n_features" and one.columns is None and two.columns is None:
            raise ValueError(
                f"{name} cannot be merged: its n_features is {there}, that of the first {here}, and arrays of numbers "
                "have no columns by name that could be put together, as tables of mixed columns have"
            )
        if here != there:
            raise ValueError(f"{name} cannot be merged: its {what} is {shown(there)}, that of the first {shown(here)}")
    check_family(two.names, one.names, "the classes of the first model do")


def _kind(fitted: Fitted) -> str:
    """Tables, arrays, or arrays with gaps that are filled in."""
    if fitted.columns is not None:
        return "rows of a table"
    return "arrays" if fitted.gaps is None else f"arrays with gaps, filled with {shown(fitted.gaps.state_dict())}"


def _feature_names(model: SmartClassifier) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else list(names.tolist())


def _all_names(models: Sequence[SmartClassifier], base: SmartClassifier | None) -> Labels:
    """The classes of all, those of the base first, in an order that is the same whatever that of the models is."""
    known: NDArray[Any] = np.unique(np.concatenate([model._fitted.names for model in models]))
    fixed = [model for model in models if model._fitted.fixed]
    for model in fixed:
        model._fitted.refuse_strangers(np.setdiff1d(known, model._fitted.names))
    if base is None:
        return known
    first = base._fitted.names
    return np.concatenate([first, np.setdiff1d(known, first)])


def _nbytes_of(model: SmartClassifier) -> Any:
    """From a memory as a user says it to its bytes."""
    return lambda memory: Budget.parse(memory, model._fitted.built.spec.sample_nbytes).nbytes


def _seed(learners: Sequence[Ensemble]) -> int:
    """A seed from the states of all generators, in whatever order they come."""
    states = sorted(json.dumps(own.rng.bit_generator.state, sort_keys=True) for own in learners)
    digest = hashlib.blake2b("\n".join(states).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % (2**31 - 1)


def _around(like: SmartClassifier, fitted: Fitted, memory: str | int) -> SmartClassifier:
    """An estimator of the same settings with another learner."""
    made = SmartClassifier(**{**like.get_params(deep=False), "memory": memory})
    made._fitted = fitted
    made.n_features_in_ = like.n_features_in_
    if hasattr(like, "feature_names_in_"):
        made.feature_names_in_ = like.feature_names_in_
    return made
