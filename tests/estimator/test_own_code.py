"""An estimator with a network or an encoder of the user's own: images, clones, growth, saving, and what is refused."""

from __future__ import annotations

import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from torch import nn

import own_modules
from own_modules import SHAPE, adamw, convolution, image_batches, perceptron, shaken
from smartcl import SmartClassifier
from smartcl.estimator.encoding import Encoding, kind_of, made_up
from smartcl.saving.references import import_reference, reference_of

QUICK: dict[str, Any] = {"method": "smart", "iterations": 3, "replay": 20, "random_state": 0, "batch_size": 20}


def images(rows: int = 80, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    batch = image_batches(1, rows, seed, n_classes)[0]
    return batch.x.numpy().reshape(-1, *SHAPE), batch.y.numpy()


def own(**more: Any) -> SmartClassifier:
    given = {"network": convolution, "optimizer": adamw, "augment": shaken, **QUICK, **more}
    return SmartClassifier("6kB", **given)


# --- a network ---------------------------------------------------------------


def test_images_in_growth_save_resume_clone_and_pickle(tmp_path: Path) -> None:
    X, y = images(120, n_classes=3)
    few = y < 2
    model = clone(own()).partial_fit(X[few], y[few])
    assert model.network is convolution
    assert model.n_features_in_ == 40
    assert model.learner_.spec.shape == SHAPE
    model.save(tmp_path / "m")
    loaded = SmartClassifier.load(tmp_path / "m", trust=[convolution.__module__, __name__])
    assert loaded.network is convolution
    assert loaded.augment is shaken
    for each in (model, loaded):
        each.partial_fit(torch.from_numpy(X), y)
    assert model.classes_.tolist() == [0, 1, 2]
    answers = model.predict_proba(X)
    for other in (loaded, pickle.loads(pickle.dumps(model)), deepcopy(model)):
        assert np.array_equal(other.predict_proba(X.reshape(len(X), -1)), answers)
    assert np.allclose(model.to_torch()(torch.from_numpy(X)).numpy(), answers, atol=1e-5)
    with pytest.raises(ValueError, match="to_torch"):
        model.to_onnx(tmp_path / "m.onnx")


def test_a_default_method_and_a_text_for_a_network() -> None:
    X, y = images()
    model = SmartClassifier("6kB", network="own_modules:perceptron", iterations=2, random_state=0).partial_fit(X, y)
    (network,) = (model.network for model in model.learner_.models)
    assert isinstance(network.module, nn.Sequential)
    assert model.partial_fit(X, y).predict(X).shape == y.shape


def test_rows_of_another_shape_are_other_rows() -> None:
    X, y = images()
    model = own().partial_fit(X, y)
    for act in (lambda x: model.predict(x), lambda x: model.partial_fit(x, y)):
        with pytest.raises(ValueError, match=r"shape \(2, 4, 5\), as when learning began, got \(4, 5, 2\)"):
            act(X.transpose(0, 2, 3, 1))


def test_another_network_than_at_first_is_another_model() -> None:
    X, y = images()
    model = own().partial_fit(X, y)
    with pytest.raises(ValueError, match="network was"):
        model.set_params(network=perceptron).partial_fit(X, y)


def test_code_that_cannot_be_imported_is_not_saved(tmp_path: Path) -> None:
    X, y = images()
    for code in ({"network": lambda spec: convolution(spec)}, {"augment": lambda rows: rows}):
        model = own(**code).partial_fit(X, y)
        with pytest.raises(ValueError, match=f"{next(iter(code))} must be a function or class of a module"):
            model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="network must be a function or class, or where"):
        own(network=7).partial_fit(X, y)
    with pytest.raises(ValueError, match="network must be a function or class, or where"):
        own(network="no_such_module:network").partial_fit(X, y)


def test_a_network_that_has_changed_is_refused_when_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = images()
    own().partial_fit(X, y).save(tmp_path / "m")
    monkeypatch.setattr(own_modules, "convolution", perceptron)
    with pytest.raises(ValueError, match="network does not make what was saved"):
        SmartClassifier.load(tmp_path / "m", trust=[convolution.__module__, __name__])
    monkeypatch.delattr(own_modules, "convolution")
    with pytest.raises(ValueError, match="own_modules:convolution"):
        SmartClassifier.load(tmp_path / "m", trust=[convolution.__module__, __name__])


def test_references_name_what_they_find() -> None:
    assert import_reference(reference_of(own_modules.Tokens.forward)) is own_modules.Tokens.forward
    for text in ("os", "os:", "os.path join", "os:no_such", "no.such:thing"):
        with pytest.raises(ValueError, match=r"(named by|cannot be imported)"):
            import_reference(text)


# --- an encoder --------------------------------------------------------------


def letters(texts: Any) -> np.ndarray:
    """How often each letter is there."""
    return np.array([[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts], dtype=np.float64)


def letters_in_csr(texts: Any) -> Any:
    return sparse.csr_array(letters(texts))


def halves(pictures: torch.Tensor) -> torch.Tensor:
    return torch.stack([pictures[:, :, :2].mean(dim=(1, 2, 3)), pictures[:, :, 2:].mean(dim=(1, 2, 3))], dim=1)


def drawn(texts: Any) -> np.ndarray:
    return np.random.default_rng().normal(size=(len(texts), 3))


TEXTS = ["a banana", "the lorry", "banana cabana", "lorry by lorry"] * 20
LABELS = ["fruit", "road", "fruit", "road"] * 20


@pytest.mark.parametrize("encoder", [letters, letters_in_csr])
def test_texts_in_and_the_vectors_are_kept(encoder: Any, tmp_path: Path) -> None:
    model = clone(SmartClassifier("6kB", encoder=encoder, **QUICK)).fit(TEXTS, LABELS)
    assert model.n_features_in_ == 26
    assert model.predict(["bananas", "lorries"]).tolist() == ["fruit", "road"]
    model.save(tmp_path / "m")
    loaded = SmartClassifier.load(tmp_path / "m", trust=[convolution.__module__, __name__])
    for each in (model, loaded, deepcopy(model)):
        each.partial_fit(TEXTS, LABELS)
        assert np.array_equal(each.predict_proba(TEXTS), model.predict_proba(TEXTS))


def test_pictures_go_in_as_they_are() -> None:
    X, y = images(200)
    model = SmartClassifier("6kB", encoder=halves, **QUICK).partial_fit(torch.from_numpy(X), y)
    assert model.n_features_in_ == 2
    assert model.score(torch.from_numpy(X), y) > 0.8


def test_another_encoder_is_refused_also_when_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = SmartClassifier("6kB", encoder=letters, **QUICK).partial_fit(TEXTS, LABELS)
    model.save(tmp_path / "m")
    monkeypatch.setitem(globals(), "letters", lambda texts: 1.01 * letters_before(texts))
    with pytest.raises(ValueError, match="it is another"):
        SmartClassifier.load(tmp_path / "m", trust=[convolution.__module__, __name__])
    for other, message in ((halved, "it is another"), (None, "must be there from the first call on or never")):
        with pytest.raises(ValueError, match=message):
            deepcopy(model).set_params(encoder=other).predict(TEXTS)
    assert deepcopy(model).set_params(encoder=letters_before).predict(TEXTS).tolist() == LABELS


letters_before = letters


def halved(texts: Any) -> np.ndarray:
    return letters_before(texts) / 2


def test_an_encoder_that_is_not_frozen_or_gives_no_rows_is_refused() -> None:
    for encoder, message in (
        (drawn, "must answer the same items alike"),
        (lambda texts: np.zeros(3), "must give one row of numbers"),
        (lambda texts: np.zeros((len(texts) + 1, 3)), "must give one row for each of 80 items"),
    ):
        with pytest.raises(ValueError, match=message):
            SmartClassifier("6kB", encoder=encoder, **QUICK).partial_fit(TEXTS, LABELS)


def test_items_are_made_up_as_they_came() -> None:
    for items in (
        ["text"],
        np.zeros((2, 3), np.uint8),
        torch.zeros(2, 3, 4),
        [np.zeros((2, 2))],
        np.zeros((1, 2), bool),
    ):
        kind = kind_of(items)
        assert kind is not None
        assert kind_of(made_up(kind)) == kind
    assert kind_of([{"a": 1}]) is None
    odd = Encoding.of(lambda items: np.array([[item["a"]] for item in items]), [{"a": 1}])
    assert odd.answers is None
