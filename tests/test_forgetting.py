"""Samples that are forgotten are gone: from the memory, from its bytes, from the folder."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from smartcl import SmartClassifier, TableModel, train_stream
from smartcl.extend import METHODS
from smartcl.learners.methods import find_method
from smartcl.saving.persistence import load_state

SMALL = {"hidden": (8,), "iterations": 2, "random_state": 0}


def rows(count: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 6)).astype(np.float32)
    return X, np.where(X[:, 0] > 0, "up", "down")


def fitted(ids: list[object] | np.ndarray, kind: str = "dense") -> SmartClassifier:
    X, y = rows()
    return SmartClassifier("20kB", **SMALL).partial_fit(sparse.csr_array(X) if kind == "sparse" else X, y, ids=ids)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_forgotten_samples_are_nowhere(kind: str, tmp_path: Path) -> None:
    X, _ = rows()
    model = fitted(np.arange(120), kind)
    model.save(tmp_path)
    held, bytes_before = len(model.memory_), model.memory_.store.nbytes
    assert model.forget([3, 5, 999]) == 2
    assert len(model.memory_) == held - 2
    assert model.memory_.store.nbytes < bytes_before
    model.save(tmp_path, only=True)
    needle = X[3, :3].tobytes()
    assert not any(needle in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    loaded = SmartClassifier.load(tmp_path)
    assert not np.isin([3, 5], loaded.memory_.store.extra["id"]).any()
    loaded.partial_fit(*rows(10, seed=1), ids=np.arange(200, 210)).flush()
    assert 205 in loaded.memory_.store.extra["id"]


def test_ids_are_charged_and_texts_do() -> None:
    X, y = rows()
    without = SmartClassifier("20kB", **SMALL).partial_fit(X, y).flush().memory_
    model = fitted([f"user-{number}" for number in range(120)]).flush()
    assert model.memory_.store.nbytes == without.store.nbytes + 8 * 120
    assert model.forget(["user-7", "user-8", 7]) == 2


def test_weights_begin_anew_from_what_is_left() -> None:
    X, y = rows()
    model = fitted(np.arange(120))
    kept = model.forget(np.flatnonzero(y == "up")[:50], retrain_from_memory=True)
    assert kept == 50
    assert len(model.memory_) == 70
    fresh = SmartClassifier("20kB", **SMALL).partial_fit(X, y)
    assert not np.array_equal(model.predict_proba(X), fresh.predict_proba(X))
    assert model.classes_.tolist() == ["down", "up"]
    before = fitted(np.arange(120)).predict_proba(X)
    assert not np.allclose(model.predict_proba(X), before)


def test_ids_with_all_rows_or_none(tmp_path: Path) -> None:
    X, y = rows()
    model = fitted(np.arange(120))
    with pytest.raises(ValueError, match="ids must be given with all rows"):
        model.partial_fit(X, y)
    plain = SmartClassifier("20kB", **SMALL).partial_fit(X, y)
    with pytest.raises(ValueError, match="ids must be given from the first row on"):
        plain.partial_fit(X, y, ids=np.arange(120))
    with pytest.raises(ValueError, match="samples can be forgotten by their ids only if"):
        plain.forget([1])
    model.save(tmp_path)
    assert load_state(tmp_path)["learner"]["memory"]["store"]["extra"]["id"].dtype == np.int64


def test_what_is_remembered_can_be_exported(tmp_path: Path) -> None:
    import pandas as pd

    X, y = rows()
    model = fitted(np.arange(120))
    frame = model.memory_.export()
    assert len(frame) == len(model.memory_)
    assert np.array_equal(frame[[f"feature {n}" for n in range(6)]].to_numpy(), X[frame["id"]])
    assert frame["label"].tolist() == y[frame["id"]].tolist()
    model.memory_.export(tmp_path / "memory.parquet")
    assert pd.read_parquet(tmp_path / "memory.parquet").equals(frame)
    sparse_frame = fitted(np.arange(120), "sparse").memory_.export()
    assert sparse_frame["values"][0] == X[sparse_frame["id"][0]].tolist()


def test_a_table_is_exported_by_name_and_forgets_words(tmp_path: Path) -> None:
    words = ["common secret seven" if number == 7 else "common words only" for number in range(60)]
    rows = [{"nr": number, "text": text, "kind": "ab"[number % 2]} for number, text in enumerate(words)]
    model = train_stream(rows, "kind", id="nr", columns={"text": "text"}, width=512, hidden=(4,), iterations=1)
    assert {"id", "label", "text length", "text words: mean"} <= set(model.export().columns)
    assert model.forget(["7"]) == 1
    model.save(tmp_path / "model", only=True)
    assert not any(b"secret" in path.read_bytes() for path in (tmp_path / "model").rglob("*") if path.is_file())
    assert any(b"common" in path.read_bytes() for path in (tmp_path / "model").rglob("*") if path.is_file())
    assert len(TableModel.load(tmp_path / "model").export()) == 59


def told_weights(told: object, method: str, **more: object) -> SmartClassifier:
    """A model of noise, of which one row in ten is of class 1: how likely class 1 is goes by what it was told."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), (np.arange(300) % 10 == 0).astype(int)
    settings = {"method": method, "hidden": (4,), "random_state": 0, **more}
    return SmartClassifier("50kB", class_weight=told, **settings).partial_fit(X, y, ids=np.arange(300))


@pytest.mark.parametrize("method", ["smart", "adaptive", "er"])
@pytest.mark.parametrize("told", [{1: 12.0}, "balanced"])
def test_what_classes_count_survives_a_new_beginning(method: str, told: object, tmp_path: Path) -> None:
    X = np.random.default_rng(1).normal(size=(500, 3))
    model, untold = told_weights(told, method), told_weights(None, method)
    model.save(tmp_path)
    untold.forget([0, 1], retrain_from_memory=True)
    for same in (pickle.loads(pickle.dumps(model)), SmartClassifier.load(tmp_path), model):
        assert same.forget([0, 1], retrain_from_memory=True) == 2
        # with weights that are lost on the way the two are the same to the last bit
        assert same.predict_proba(X)[:, 1].mean() > untold.predict_proba(X)[:, 1].mean() + 0.02


@pytest.mark.parametrize("method", ["adaptive", "gdumb"])
def test_a_loaded_model_forgets_and_answers_by_the_weights_it_was_told(method: str, tmp_path: Path) -> None:
    model = told_weights({1: 12.0}, method)
    model.save(tmp_path)
    loaded = SmartClassifier.load(tmp_path)
    X = np.random.default_rng(1).normal(size=(500, 3))
    for each in (model, loaded):
        each.forget(np.arange(100))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


#: These keep no samples, so that none can be forgotten.
NO_MEMORY = ("l2", "ewc", "ewc-online", "si", "mas", "ncc", "finetune", "randumb")
#: These keep one sample of a cluster although there is room for more: which one, all rows have decided.
CLUSTERING = ("gss-clust", "fss-clust")
EVERY = [name for name in METHODS if not find_method(name).task_aware and name not in NO_MEMORY]


@pytest.mark.parametrize(
    ("method", "ids"), [*((method, "numbers") for method in EVERY), ("adaptive", "texts"), ("er", "large")]
)
def test_after_retraining_a_folder_is_that_of_a_model_that_never_saw_the_rows(
    method: str, ids: str, tmp_path: Path
) -> None:
    """The rows to forget stand anywhere, are far from all others, and one of them is alone in its class."""
    rng = np.random.default_rng(sum(map(ord, method + ids)))
    X, y = rng.normal(size=(130, 5)).astype(np.float32), rng.choice(["a", "b", "c"], 130).astype("U6")
    gone = rng.permutation(130)[:7]
    X[gone] += 1000
    y[gone[0]] = "secret"
    names = {
        "numbers": np.arange(130),
        "texts": np.array([f"u{n}" for n in range(130)]),
        "large": 10**18 * 5 + np.arange(130),
    }
    memory = 10**7 if method.startswith("joint") else "100kB"
    settings = {"method": method, "hidden": (4,), "random_state": 3, "batch_size": 20}
    models = []
    for rows in (np.arange(130), np.setdiff1d(np.arange(130), gone)):
        model = SmartClassifier(memory, **settings)
        for part in np.array_split(rows, 3):
            model.partial_fit(X[part], y[part], ids=names[ids][part])
        count = model.forget(names[ids][gone], retrain_from_memory=True)
        assert count == len(rows) - 123 or method in CLUSTERING
        assert model.forget(names[ids][gone]) == 0
        model.save(tmp_path / str(len(rows)), only=True)
        models.append(model)
    saw, never = models
    assert sorted(saw.classes_) == ["a", "b", "c"]
    if method in CLUSTERING:
        assert float(saw.memory_.export()[[f"feature {n}" for n in range(5)]].abs().to_numpy().max()) < 100
        return
    assert len(saw.memory_) == 123
    texts = [(tmp_path / name / "model.json").read_bytes() for name in ("130", "123")]
    assert texts[0] == texts[1]  # which holds the checksum of all arrays
    for model in models:
        model.partial_fit(X[:30], np.full(30, "b"), ids=np.arange(1000, 1030))
    np.testing.assert_array_equal(saw.predict_proba(X), never.predict_proba(X))


def test_classes_that_were_given_stay_and_a_class_with_samples_too() -> None:
    X, y = rows()
    model = SmartClassifier("20kB", **SMALL).partial_fit(X, y, classes=["down", "never", "up"], ids=np.arange(120))
    model.forget(np.flatnonzero(y == "up"), retrain_from_memory=True)
    assert model.classes_.tolist() == ["down", "never", "up"]
    model = fitted(np.arange(120))
    model.forget(np.flatnonzero(y == "up"))
    assert model.classes_.tolist() == ["down", "up"]  # the weights still know it
    model.forget([], retrain_from_memory=True)
    assert model.classes_.tolist() == ["down"]
    model.partial_fit(X, y, ids=np.arange(120))
    assert model.classes_.tolist() == ["down", "up"]


def test_weights_of_classes_follow_those_that_are_left() -> None:
    X, y = rows()
    y = np.where(np.arange(120) == 5, "alone", y)
    told = {"alone": 7.0, "up": 9.0}
    models = [SmartClassifier("20kB", class_weight=told, **SMALL) for _ in range(2)]
    saw, never = (
        model.partial_fit(X[keep], y[keep], ids=np.flatnonzero(keep))
        for model, keep in zip(models, (np.arange(120) >= 0, np.arange(120) != 5), strict=True)
    )
    for model in (saw, never):
        model.forget([5], retrain_from_memory=True)
    np.testing.assert_array_equal(saw.predict_proba(X), never.predict_proba(X))


def test_the_length_of_a_class_that_is_gone_is_not_kept() -> None:
    X, y = rows()
    y = np.where(np.arange(120) == 5, "a very long name of a class", y)
    model = SmartClassifier("20kB", **SMALL).partial_fit(X, y, ids=np.arange(120))
    model.forget([5], retrain_from_memory=True)
    assert model.classes_.dtype == "<U4"
