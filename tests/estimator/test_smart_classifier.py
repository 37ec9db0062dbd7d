"""SmartClassifier as a scikit-learn user meets it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers import assert_same_state, small_batches
from smartcl import SmartClassifier
from smartcl.memory.budget import format_bytes
from smartcl.saving.persistence import load_state, save_state

QUICK = {"hidden": (16,), "lr": 1e-2, "iterations": 5, "replay": 50}


def quick(**more: object) -> SmartClassifier:
    return SmartClassifier(**{"memory": "20kB", "random_state": 0, **QUICK, **more})


def expected_failures(estimator: SmartClassifier) -> dict[str, str]:
    once = "a stream is seen once: a row of weight 2 is not a row that comes twice, as the estimator's help says"
    return {
        "check_sample_weight_equivalence_on_dense_data": once,
        "check_sample_weight_equivalence_on_sparse_data": once,
    }


# the method "er" takes more than five steps a batch for the weights of classes a million times apart
@parametrize_with_checks([quick(), quick(method="er", iterations=15)], expected_failed_checks=expected_failures)
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


def test_what_is_exempted_is_in_the_help():
    assert "A row of weight 2 is not the same as a row that comes twice" in " ".join(SmartClassifier.__doc__.split())


@pytest.fixture(scope="module")
def data():
    return make_classification(300, 12, n_informative=6, n_classes=3, random_state=0)


def test_dense_sparse_and_pandas_learn_the_same(data):
    """Dropout draws for the values there are, and dense rows have more of them: without it all are the same.

    So they are where features are mostly zero: others have a centre, which sparse rows cannot have.
    """
    X, y = data
    X = X * (np.random.default_rng(0).random(X.shape) < 0.1)
    dense = quick(method="smart", dropout=0.0).fit(X, y).predict_proba(X)
    frame = quick(method="smart", dropout=0.0).fit(pd.DataFrame(X), y)
    np.testing.assert_allclose(frame.predict_proba(pd.DataFrame(X)), dense, atol=0)
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        np.testing.assert_allclose(
            quick(method="smart", dropout=0.0).fit(kind(X), y).predict_proba(X), dense, atol=1e-4
        )


def test_it_learns(data):
    X, y = data
    assert quick(iterations=30).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.55


def test_classes_may_appear_later_and_keep_their_columns(data):
    X, y = data
    names = np.array(["zebra", "ant", "mole"])[y]
    model = quick()
    model.partial_fit(X[names == "zebra"], names[names == "zebra"])
    assert model.classes_.tolist() == ["zebra"]
    model.partial_fit(X[names != "zebra"], names[names != "zebra"])
    assert model.classes_.tolist() == ["zebra", "ant", "mole"]
    assert model.predict_proba(X).shape == (300, 3)
    assert set(model.predict(X)) <= {"zebra", "ant", "mole"}


def test_declared_classes_are_all_there_will_be(data):
    X, y = data
    model = quick().partial_fit(X[:50], y[:50] % 2, classes=[0, 1])
    before = model.learner_.state_dict()
    with pytest.raises(ValueError, match=r"y contains labels outside classes: \[2\]"):
        model.partial_fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(X[:50], y[:50] % 2, classes=[0, 1, 2])
    assert_same_state(model.learner_.state_dict(), before)


def test_a_refused_first_call_leaves_no_trace(data):
    X, y = data
    model = quick()
    with pytest.raises(ValueError, match="labels outside classes"):
        model.partial_fit(X, y, classes=[0, 1])
    assert not hasattr(model, "learner_")
    model.partial_fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda X, y: (np.where(X > 2, np.inf, X), y), "Input X contains infinity"),
        (lambda X, y: (X[:, :5], y), "X has 5 features"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (np.full(X.shape, "word", dtype=object), y), "could not convert string to float"),
        (lambda X, y: (X, y + 0.5), "Unknown label type"),
        (lambda X, y: (X.astype(complex), y), "Complex data not supported"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(data, break_it, message):
    X, y = data
    model = quick().partial_fit(X, y)
    before = model.learner_.state_dict()
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*break_it(X, y))
    assert_same_state(model.learner_.state_dict(), before)
    assert model.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"memory": "-1MB"}, "memory must be"),
        ({"memory": 4}, "memory must hold at least one sample"),
        ({"method": "smrt"}, "did you mean smart"),
        ({"method": "er", "alpha": 0.1}, "unknown parameter 'alpha'"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"iterations": 0}, "iterations must be"),
    ],
)
def test_bad_parameters_are_refused_when_fitting(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        quick(**parameters).fit(*data)


def test_parameters_are_stored_verbatim():
    model = quick(memory="1 MiB", alpha=0.5)
    assert clone(model).get_params() == model.get_params()
    assert model.memory == "1 MiB"


@pytest.mark.parametrize("method", ["smart", "smart-paper", "er", "gss-greedy"])
def test_a_loaded_model_learns_on_as_if_it_had_never_stopped(tmp_path, data, method):
    X, y = data
    straight = quick(method=method).partial_fit(X[:150], y[:150])
    straight.save(tmp_path / "model")
    resumed = SmartClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(resumed.predict_proba(X), straight.predict_proba(X))
    for model in (straight, resumed):
        model.partial_fit(X[150:], y[150:])
    assert_same_state(straight.learner_.state_dict(), resumed.learner_.state_dict())
    assert resumed.get_params() == straight.get_params()


def test_names_and_string_classes_survive_saving(tmp_path, data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(12)])
    model = quick().fit(frame, np.array(["a", "bb", "ccc"])[y])
    model.save(tmp_path / "model")
    loaded = SmartClassifier.load(tmp_path / "model")
    assert loaded.predict(frame).tolist() == model.predict(frame).tolist()
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()


def test_the_memory_says_what_it_holds(data):
    model = quick(memory="2kB").fit(*data)
    held = model.memory_.store.nbytes
    assert held <= 2000
    assert (
        repr(model.memory_) == f"{len(model.memory_)} samples in {held / 1000:.3g} kB of 2 kB, 12 of 12 features kept"
    )


def test_bytes_stay_bytes():
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 255, (100, 40)) * (rng.random((100, 40)) < 0.2)).astype(np.uint8)
    model = quick(memory="50 samples").fit(X, X[:, 0] > 0)
    assert model.memory_.budget.nbytes == 50 * 40
    assert len(model.memory_) > 70, "whole, the same bytes hold fewer than 50"


def test_saving_before_fitting_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        quick().save(tmp_path)


def test_a_stream_of_sparse_batches():
    model = quick(memory="2kB")
    for batch in small_batches(sparse_rows=True):
        model.partial_fit(batch.x, batch.y.numpy())
    assert model.memory_.store.nbytes <= 2000


LABELS = {
    "numbers": np.array([3, 5, 8]),
    "text": np.array(["a", "bb", "ccc"]),
    "objects": np.array(["a", "bb", "ccc"], dtype=object),
    "truth": np.array([False, True, True]),
    "dates": np.array(["2014-03-01", "2015-01-01", "2016-07-07"], dtype="datetime64[D]"),
    "floats": np.array([0.0, 1.0, 2.0]),
}


@pytest.mark.parametrize("before", LABELS)
@pytest.mark.parametrize("after", LABELS)
def test_labels_keep_their_kind(data, before, after):
    X, y = data
    model = quick().partial_fit(X[:50], LABELS[before][y[:50]])
    state, classes = model.learner_.state_dict(), model.classes_
    same = {"numbers": "numbers", "floats": "numbers", "text": "text", "objects": "text"}
    if same.get(before, before) == same.get(after, after):
        model.partial_fit(X[50:100], LABELS[after][y[50:100]])
        assert len(model.classes_) == len(np.unique(np.concatenate([classes, LABELS[after]])))
    else:
        with pytest.raises(ValueError, match="y must hold"):
            model.partial_fit(X[50:100], LABELS[after][y[50:100]])
        assert_same_state(model.learner_.state_dict(), state)
        assert model.classes_.tolist() == classes.tolist()
    model.partial_fit(X[100:], LABELS[before][y[100:]])


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_survive_saving(tmp_path, data, kind):
    X, y = data
    model = quick().fit(X, LABELS[kind][y])
    model.save(tmp_path)
    loaded = SmartClassifier.load(tmp_path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.classes_.dtype == model.classes_.dtype


@pytest.mark.parametrize(
    "change", [{"hidden": (7,)}, {"hidden": 7}, {"method": "er"}, {"memory": "1kB"}, {"parameters": {"whole": True}}]
)
def test_what_the_learner_is_made_of_cannot_change_under_it(tmp_path, data, change):
    """It can be saved and loaded and predicts on, but it learns on only as what it is."""
    X, y = data
    model = quick(memory="5kB").fit(X, y)
    before = model.predict_proba(X)
    model.set_params(**change)
    model.save(tmp_path)
    loaded = SmartClassifier.load(tmp_path)
    for one in (model, loaded):
        np.testing.assert_array_equal(one.predict_proba(X), before)
        assert one.memory_.store.nbytes <= one.memory_.budget.nbytes == 5000
        with pytest.raises(ValueError, match=r"when learning began and is .* now"):
            one.partial_fit(X, y)
    model.fit(X, y).partial_fit(X, y)


def test_numbers_of_numpy_are_numbers(data):
    model = quick(lr=np.float64(1e-2), iterations=np.int64(3), trust=np.bool_(False), memory=np.int64(2000)).fit(*data)
    assert model.memory_.budget.nbytes == 2000


def test_a_width_may_be_a_number(tmp_path, data):
    model = quick(hidden=16).fit(*data)
    model.save(tmp_path)
    assert SmartClassifier.load(tmp_path).get_params() == model.get_params()


@pytest.mark.parametrize("method", ["l2", "ewc", "ewc-online", "si", "mas", "ncc"])
def test_penalties_take_effect_without_task_ends(data, method):
    """They consolidate on a schedule; waiting for a task's end, they would be fine-tuning to the last bit."""
    X, y = data

    def learned(**parameters) -> np.ndarray:
        model = quick(method=method, iterations=3, parameters=parameters)
        for start in range(0, len(y), 10):
            model.partial_fit(X[start : start + 10], y[start : start + 10], classes=[0, 1, 2])
        return model.predict_proba(X)

    plain = learned(strength=0.0)
    assert not np.array_equal(learned(consolidate="2 batches", strength=50.0), plain)
    assert not np.array_equal(learned(strength=50.0), plain), "by itself, every 20 batches"
    with pytest.raises(ValueError, match="consolidate must not be 'task'"):
        learned(consolidate="task")


def test_methods_that_must_know_the_task_say_so(data):
    with pytest.raises(ValueError, match="method 'gem' must be told which task each batch is of"):
        quick(method="gem").fit(*data)


def test_a_state_that_claims_more_features_than_it_holds_is_refused_before_anything_is_made_so_wide(data, tmp_path):
    SmartClassifier(memory="20kB", method="gdumb", hidden=(1,)).fit(*data).save(tmp_path)
    state = load_state(tmp_path)
    state["built"]["spec"]["n_features"] = 2**31
    save_state(tmp_path, state)
    with pytest.raises(ValueError, match=r"memory\.store\.n_features must be 2147483648, as the learner's, is 12"):
        SmartClassifier.load(tmp_path)


def test_a_failed_fit_leaves_everything_as_it_was(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(12)])
    model = quick().fit(frame, y)
    before = model.learner_
    with pytest.raises(ValueError, match="batch_size"):
        model.set_params(batch_size=0).fit(X[:, :5], y)
    model.set_params(batch_size=50, alpha=-1.0)
    with pytest.raises(ValueError, match="alpha must be"):
        model.fit(X[:, :5], y)
    assert model.learner_ is before
    assert model.n_features_in_ == 12
    assert model.feature_names_in_.tolist() == frame.columns.tolist()


def test_a_parameter_is_given_once(data):
    with pytest.raises(ValueError, match="alpha must be given once"):
        quick(alpha=0.1, parameters={"alpha": 0.2}).fit(*data)


@pytest.mark.parametrize("method", ["adaptive", "smart", "er"])
def test_the_bytes_of_the_whole_state_are_told_by_part(method: str, tmp_path: Path) -> None:
    """They are nearly those of a saved folder, which holds the same arrays and little beside them."""
    X, y = load_iris(return_X_y=True)
    model = SmartClassifier("4kB", method=method, random_state=0).fit(X, y)
    size = model.model_
    assert size["memory"] == model.memory_.store.nbytes <= 4000
    model.save(tmp_path / "model")
    saved = sum(path.stat().st_size for path in (tmp_path / "model").rglob("*") if path.is_file())
    assert saved == pytest.approx(size.total, rel=0.1, abs=60_000)
    assert repr(size).startswith(f"{format_bytes(size.total)}: memory ")
    with pytest.raises(AttributeError, match="no model_ yet"):
        SmartClassifier().model_  # noqa: B018


@pytest.mark.parametrize("call", ["fit", "partial_fit", "predict", "score"])
def test_names_of_which_some_are_no_texts_are_refused_in_one_short_line(call: str) -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    frame = pd.DataFrame(X, columns=[0, 1, "c"])
    model = quick().fit(X, y)
    with pytest.raises(TypeError, match="Feature names are only supported if all") as caught:
        getattr(model, call)(frame, *([] if call == "predict" else [y]))
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wrong", ["complex", "numbers and texts", "too many"])
def test_labels_that_cannot_be_scored_are_refused_in_one_short_line(wrong: str) -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    labels = {
        "complex": y.astype(complex),
        "numbers and texts": np.array([0, "a"], dtype=object)[y],
        "too many": np.append(y, 0),
    }
    with pytest.raises((ValueError, TypeError)) as caught:
        quick().fit(X, y).score(X, labels[wrong])
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_a_long_label_of_another_kind_is_refused_in_one_short_line() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    model = quick().fit(X, y)
    with pytest.raises(ValueError, match="y must hold numbers, as before, got text: ") as caught:
        model.partial_fit(X, np.array(["a" * 1000, "b" * 1000])[y])
    assert len(str(caught.value)) < 400
