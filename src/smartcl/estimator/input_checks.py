"""Checks of what is passed to an estimator: rows, arguments, weights; what is wrong becomes one line."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from smartcl.account.account import Guesses
from smartcl.data.batch import Rows, tensor_of
from smartcl.data.spec import InputSpec
from smartcl.encoders.named import is_named
from smartcl.learners.checks import TOO_LARGE, all_finite
from smartcl.learners.factory import Factory, Method
from smartcl.learners.methods import USUAL_METHOD, check_registered, find_method, registered_name
from smartcl.learners.weights import ClassWeight
from smartcl.saving.references import Code, names_in, saved_code
from smartcl.saving.saved import Saved
from smartcl.settings import SETTINGS, OwnMember, as_given, plain, setting, shown

#: Characters an error is cut to: scikit-learn shows the arrays it was given.
LONGEST_MESSAGE = 380

#: Weights beyond these, in products and sums, would leave single precision.
LEAST, MOST = 1e-6, 1e6

#: The arguments that are a user's own code.
CODE = ("network", "optimizer", "augment", "encoder")


@contextmanager
def one_line() -> Iterator[None]:
    """Inside, input that cannot be is a ``ValueError``, or a ``TypeError`` if it was one, of one line to be read."""
    try:
        yield
    except ValueError as error:
        raise ValueError(_shortened(error)) from None
    except OverflowError as error:
        raise ValueError(f"X and y must hold numbers that fit a float: {_shortened(error)}") from None
    except TypeError as error:
        short = _shortened(error)
        if short == str(error):
            raise
        raise TypeError(short) from None


def _shortened(error: Exception) -> str:
    message = " ".join(str(error).split())
    half = LONGEST_MESSAGE // 2
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:half]} ... {message[-half:]}"


def as_array(values: Any) -> Any:
    """Tensors as arrays; other values unchanged."""
    return values.detach().cpu().numpy() if isinstance(values, torch.Tensor) else values


class Said(NamedTuple):
    """What was answered to some rows before they were learned; ``guesses`` are the simplest rules' of that time.

    There are no probabilities where the model could not answer yet.
    """

    probabilities: NDArray[np.float64] | None
    guesses: Guesses | None = None


class Given(NamedTuple):
    """What a call of ``partial_fit`` is given beside the rows."""

    y: Any
    classes: Any = None
    sample_weight: Any = None
    ids: Any = None
    #: What was answered to the rows, if that was asked before: one batch of them.
    said: Said | None = None


def own_settings(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Of an estimator's arguments those that are settings of a method; all others go into ``parameters``.

    >>> own_settings({"memory": "1MB", "lr": 0.1, "hidden": None})
    {'lr': 0.1, 'hidden': None}
    """
    return {name: value for name, value in arguments.items() if name in SETTINGS}


def method_asked(arguments: Mapping[str, Any]) -> str | Method | Factory:
    """The name of the method, or the learner that was given in its place."""
    name, learner = arguments["method"], arguments["learner"]
    if learner is None:
        find_method(name)
        return str(name)
    if name != USUAL_METHOD:
        raise ValueError(f"method must not be given beside a learner of one's own, got {shown(name)}")
    own: Method | Factory = learner
    return own


def parameters_asked(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What is set of the method, each thing in one place."""
    given = {name: value for name, value in own_settings(arguments).items() if value is not None}
    others = {} if arguments["parameters"] is None else dict(arguments["parameters"])
    twice = next((name for name in others if name in given), None)
    if twice is not None:
        raise ValueError(f"{twice} must be given once, as an argument or in parameters, got both")
    return {**given, **others}


def check_batch_size(size: Any) -> int:
    """The number of rows of a batch, if it is one."""
    rows = plain(size)
    if type(rows) is not int or rows < 1:
        raise ValueError(f"batch_size must be a whole number >= 1, got {shown(size)}")
    return rows


def check_previous_label(asked: Any) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(plain(asked), bool):
        raise ValueError(f"previous_label must be True or False, got {shown(asked)}")


def check_verbose(verbose: Any) -> None:
    """Refuse a ``verbose`` that is no level of messages: 0 is none."""
    level = plain(verbose)
    if not isinstance(level, int) or level < 0:
        raise ValueError(f"verbose must be a whole number >= 0, got {shown(verbose)}")


def class_weight_asked(asked: Any, names: NDArray[Any]) -> ClassWeight:
    """``class_weight`` as a learner takes it: one weight per class, those that a dict does not name at 1.

    >>> class_weight_asked({"spam": 5}, np.array(["ham", "spam"]))
    (1.0, 5.0)
    """
    if asked is None or (isinstance(asked, str) and asked == "balanced"):
        return None if asked is None else "balanced"
    if not isinstance(asked, Mapping):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict from labels to weights, got {shown(asked)}")
    weights = np.ones(len(names))
    for label, given in asked.items():
        weight = plain(given)
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not LEAST <= weight <= MOST:
            raise ValueError(f"class_weight must be from {LEAST:g} to {MOST:g}, got {shown(given)} for {shown(label)}")
        weights[names == label] = weight
    return tuple(weights.tolist())


def sample_weight_asked(asked: Any, n_rows: int) -> NDArray[np.float32] | None:
    """``sample_weight`` as one number per row, or a ``ValueError``; a row of weight 0 is as good as not there."""
    if asked is None:
        return None
    weight = np.asarray(as_array(asked))
    if weight.shape != (n_rows,) or weight.dtype.kind not in "biuf":
        raise ValueError(f"sample_weight must be one number per row: {n_rows} rows, got {weight.dtype} {weight.shape}")
    if not ((weight == 0) | ((weight >= LEAST) & (weight <= MOST))).all():
        raise ValueError(f"sample_weight must be 0 or from {LEAST:g} to {MOST:g}, got {shown(weight.tolist())}")
    if not weight.any():
        raise ValueError("sample_weight must be above 0 for at least one row: all are zero")
    return weight.astype(np.float32)


def saved_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """An estimator's arguments, checked, as they are saved: a learner of one's own by its registered name."""
    saved = {name: plain(value) for name, value in arguments.items() if name != "learner"}
    saved |= {name: saved_code(name, saved[name]) for name in CODE}
    if saved["members"] is not None:
        saved["members"] = saved_code("members", setting("members", saved["members"]))
    if isinstance(saved["parameters"], Mapping):
        saved["parameters"] = {name: saved_code(name, value) for name, value in saved["parameters"].items()}
    saved["class_weight"] = _saved_class_weight(arguments["class_weight"])
    saved["method"] = registered_name(method_asked(arguments))
    if not isinstance(saved["random_state"], int):
        saved["random_state"] = None
    check_arguments(saved)
    return saved


def loaded_arguments(saved: Saved, names: Collection[str]) -> dict[str, Any]:
    """What ``saved_arguments`` gave, for an estimator whose arguments have these names."""
    given = {name: as_given(value) for name, value in saved.entries("estimator").items()}
    given["class_weight"] = _loaded_class_weight(saved.part("estimator"))
    if set(given) != set(names) - {"learner"}:
        saved.refuse("estimator", "must hold the arguments of an estimator, each once")
    check_registered(saved.part("estimator").text("method"))
    check_arguments(given)
    members = None if given["members"] is None else members_given(given["members"])
    code = {name: given[name] if is_named(given[name]) else Code()(given[name]) for name in CODE}
    return given | code | {"members": members}


def named_code(saved: Saved) -> list[str]:
    """The names of all code that a saved estimator would import, now or when it goes on to learn."""
    arguments = saved.entries("estimator")
    own = [arguments.get(name) for name in (*CODE, "members", "parameters")]
    encoder = saved.part("encoding").value("encoder") if saved.has("encoding") else None
    return names_in([*own, saved.part("built").value("parameters"), encoder])


def members_given(members: Any) -> list[Any]:
    """Members as a user gives them: names, classifiers, functions.

    >>> members_given("ridge, trees")
    ['ridge', 'trees']
    """
    return [each.made if isinstance(each, OwnMember) else each for each in setting("members", members)]


def _saved_class_weight(asked: Any) -> Any:
    """A dict as a list of pairs: its labels need not be text."""
    if not isinstance(asked, Mapping):
        return plain(asked)
    class_weight_asked(asked, np.array([]))
    pairs = [[plain(label), float(weight)] for label, weight in asked.items()]
    for label, _ in pairs:
        if not isinstance(label, str | int | float):
            raise ValueError(f"class_weight must have text or numbers for labels to be saved, got {shown(label)}")
    return pairs


def _loaded_class_weight(saved: Saved) -> Any:
    found = saved.one_of("class_weight", type(None), str, list)
    if isinstance(found, list):
        pairs = [pair for pair in found if isinstance(pair, list) and len(pair) == 2]
        if len(pairs) < len(found) or not all(isinstance(label, str | int | float) for label, _ in pairs):
            saved.refuse("class_weight", "must be pairs of a label and its weight")
        found = dict(pairs)
    class_weight_asked(found, np.array([]))
    return found


def check_arguments(given: Mapping[str, Any]) -> None:
    """Arguments that can be saved and found again."""
    find_method(given["method"])
    for name, value in own_settings(given).items():
        if value is not None:
            setting(name, value)
    if type(given["memory"]) not in (str, int):
        raise ValueError(f"memory must be a text or a number of bytes, got {shown(given['memory'])}")
    if not isinstance(given["parameters"], Mapping | None):
        raise ValueError(f"parameters must be a dict or None, got {shown(given['parameters'])}")
    check_batch_size(given["batch_size"])
    check_previous_label(given["previous_label"])
    check_verbose(given["verbose"])
    if given["random_state"] is not None and type(given["random_state"]) is not int:
        raise ValueError(f"random_state must be a whole number or None, got {shown(given['random_state'])}")


def rows_of(X: Any) -> Rows:
    """Validated input as rows: bytes stay bytes, all other numbers become float32."""
    wanted = np.uint8 if X.dtype == np.uint8 else np.float32
    rows: Rows
    with np.errstate(over="ignore"):
        if isinstance(X, (sparse.csr_array, sparse.csr_matrix)):
            X.check_format(full_check=True)
            rows = sparse.csr_array(X).astype(wanted, copy=False)
            finite = bool(np.isfinite(rows.data).all())
        else:
            rows = tensor_of(np.ascontiguousarray(X, dtype=wanted))
            finite = all_finite(rows)
    if not finite:
        raise ValueError(TOO_LARGE)
    return rows


def spec_of(rows: Rows, n_classes: int, shape: tuple[int, ...] | None = None) -> InputSpec:
    """Of a stream that begins with these rows."""
    dtype = "uint8" if rows.dtype in (torch.uint8, np.uint8) else "float32"
    is_sparse = not isinstance(rows, torch.Tensor)
    return InputSpec(int(rows.shape[1]), n_classes, dtype, is_sparse, learned=True, shape=shape)


def flat_rows(X: Any) -> tuple[Any, tuple[int, ...] | None]:
    """Images, or whatever has more than one dimension a row, as flat rows, and the shape that they had.

    >>> rows, shape = flat_rows(torch.zeros(5, 1, 2, 2))
    >>> rows.shape, shape
    ((5, 4), (1, 2, 2))
    """
    values = as_array(X)
    if isinstance(values, np.ndarray) and values.ndim > 2 and values.size:
        return values.reshape(len(values), -1), values.shape[1:]
    return values, None


def check_shape(shape: tuple[int, ...] | None, spec: InputSpec) -> None:
    """Rows of another shape than those that were learned are other rows; flat ones are taken as these."""
    if shape is not None and shape != spec.row_shape:
        raise ValueError(f"X must have rows of the shape {spec.row_shape}, as when learning began, got {shape}")
