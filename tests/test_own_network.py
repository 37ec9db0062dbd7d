"""Every method on networks of the user's own: the same promises as on ours, or one line that says why not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from helpers import assert_same_state, small_spec
from own_modules import SHAPE, Tokens, adamw, convolution, flipped, image_batches, image_spec, perceptron, sgd, shaken
from smartcl.learners.learner import Learner
from smartcl.learners.methods import METHODS, build_learner
from smartcl.learners.recipe import Recipe
from smartcl.network.wrapped import WrappedNetwork
from smartcl.selection.reservoir import Reservoir

QUICK = {"lr": 1e-2, "iterations": 2, "epochs": 2, "replay": 10, "average": 0.9}
#: Methods whose penalty reads a chain of layers.
CHAINED = ("ncc", "smart-paper")
#: Methods that have no network at all.
NETLESS = ("randumb",)


def quick(method: str, seed: int = 0, **more: object) -> Learner:
    known = METHODS[method].parameters
    settings = {name: value for name, value in QUICK.items() if name in known}
    if not known.get("replay", 1):
        del settings["replay"]
    return build_learner(method, image_spec(), 2500, seed, **settings, **more)


@pytest.mark.parametrize("method", [name for name in METHODS if name not in (*CHAINED, *NETLESS)])
def test_a_method_learns_resumes_and_undoes_on_a_convolution(method: str) -> None:
    own = {"network": convolution, "augment": shaken}
    straight, batches = quick(method, **own), image_batches()
    for batch in batches[:3]:
        straight.observe(batch)
    straight.end_task(batches[2])
    before = straight.state_dict()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(straight.memory.selector, "select", interrupt, raising=False)
        with pytest.raises(KeyboardInterrupt):
            straight.observe(batches[3])
    assert_same_state(straight.state_dict(), before)
    resumed = quick(method, seed=9, **own)
    resumed.load_state_dict(straight.state_dict())
    for learner in (straight, resumed):
        for batch in batches[3:]:
            learner.observe(batch)
    assert_same_state(straight.state_dict(), resumed.state_dict())
    assert any(isinstance(model.network, WrappedNetwork) for model in straight.models)
    assert straight.memory.store.nbytes <= straight.memory.budget.nbytes
    probabilities = straight.predict_proba(batches[0].x)
    assert torch.equal(probabilities, resumed.predict_proba(batches[0].x))
    torch.testing.assert_close(probabilities.sum(dim=1), torch.ones(10))


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("method", CHAINED)
def test_what_needs_a_chain_of_layers_says_so(method: str) -> None:
    with pytest.raises(ValueError, match="set beta to 0, or take another method"):
        quick(method, network=convolution)
    if method == "smart-paper":
        quick(method, network=convolution, beta=0.0).observe(image_batches()[0])


@pytest.mark.parametrize("method", NETLESS)
def test_what_has_no_network_takes_none(method: str) -> None:
    with pytest.raises(ValueError, match="unknown parameter 'network'"):
        quick(method, network=convolution)


@pytest.mark.parametrize("optimizer", [sgd, adamw])
@pytest.mark.parametrize("network", [perceptron, Tokens])
def test_optimizers_of_torch_grow_and_resume(network, optimizer) -> None:
    straight, batches = (
        quick("smart", network=network, optimizer=optimizer, augment=flipped),
        image_batches(n_classes=3),
    )
    for batch in batches[:3]:
        straight.observe(replace(batch, y=batch.y.clamp(max=1)))
    straight.add_classes(3)
    resumed = quick("smart", seed=5, network=network, optimizer=optimizer, augment=flipped)
    resumed.load_state_dict(straight.state_dict())
    for learner in (straight, resumed):
        for batch in batches[3:]:
            learner.observe(batch)
    assert_same_state(straight.state_dict(), resumed.state_dict())


def test_a_module_given_to_a_learner_is_where_it_starts_and_stays_as_it_was() -> None:
    module = perceptron(image_spec())
    before = {name: value.clone() for name, value in module.state_dict().items()}
    learner = Learner(image_spec(), 2500, Recipe(lr=1e-2, iterations=40), Reservoir(), network=module)
    assert torch.equal(learner.model.network.module[1].weight, module[1].weight)
    for batch in image_batches(8, 20):
        learner.observe(batch)
    assert_same_state(dict(module.state_dict()), before)
    test = image_batches(3, 40, seed=7)
    right = [(learner.predict_proba(batch.x).argmax(dim=1) == batch.y).float().mean() for batch in test]
    assert float(np.mean(right)) > 0.85


@pytest.mark.parametrize("network", [perceptron, convolution])
def test_a_linear_layer_forgets_features_and_a_convolution_channels(network) -> None:
    learner = quick("smart", network=network, alpha=0.01, patience=1, dropout=0.0, precision="plain")
    for batch in image_batches(12, 20):
        batch.x[:, 20:] *= 0.0137
        learner.observe(batch)
    alive = learner.model.network.alive()
    assert not alive[20:].any()
    assert alive[:20].all() if network is convolution else alive.any()
    assert len(learner.memory.store.schema) == int(alive.sum())


def test_a_network_that_is_not_the_one_saved_is_named() -> None:
    state = quick("er", network=convolution).state_dict()
    with pytest.raises(ValueError, match=r"does not make what was saved: 1.weight has the shape \(7, 40\)"):
        quick("er", network=perceptron).load_state_dict(state)


def test_images_may_be_given_as_they_are() -> None:
    flat, shaped = quick("er", network=convolution), quick("er", network=convolution)
    for batch in image_batches(2):
        flat.observe(batch)
        shaped.observe(replace(batch, x=batch.x.view(-1, *SHAPE)))
    assert_same_state(flat.state_dict(), shaped.state_dict())
    assert torch.equal(flat.predict_proba(batch.x), shaped.predict_proba(batch.x.view(-1, *SHAPE)))


def test_an_optimizer_of_torch_moves_no_row_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    with pytest.raises(ValueError, match="optimizer cannot move the rows"):
        build_learner("er", small_spec(sparse_rows=True), 900, optimizer=sgd)


def test_augment_needs_a_network() -> None:
    with pytest.raises(ValueError, match="augment must come with a network"):
        quick("er", augment=flipped)
