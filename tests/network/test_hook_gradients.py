"""Per-sample gradients through hooks against one backward pass per sample, in double precision."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from own_modules import SHAPE, Tokens, convolution, image_spec, perceptron
from smartcl.network.gradients import cosines_to_mean, gradient_cosines, sample_gradients, summed_cross_entropy
from smartcl.network.hook_gradients import ModuleGradients, OuterProducts, WholeGradients, module_gradients
from smartcl.network.own_randomness import seeded
from smartcl.network.wrapped import WrappedNetwork
from smartcl.paper.networks import small_convolution
from smartcl.regularizers.ewc import fisher_diagonal
from smartcl.regularizers.mas import batch_sensitivity, sample_sensitivity


class Twice(nn.Module):
    """A layer that is passed twice, and one whose rows are not samples."""

    def __init__(self, spec) -> None:
        super().__init__()
        self.width = spec.row_shape[-1]
        self.each, self.again = nn.Linear(self.width, 4), nn.Linear(4, 4)
        self.head = nn.Linear(4, spec.n_classes)

    def forward(self, x):
        rows = self.each(x.reshape(-1, self.width)).reshape(len(x), -1, 4).mean(dim=1)
        return self.head(self.again(self.again(rows).tanh()))


def odd_convolutions(spec) -> nn.Module:
    """Convolutions that unfolding does not cover, and one with every option that it does."""
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding="same"),
        nn.Conv2d(4, 4, 2, groups=2),
        nn.Conv2d(4, 3, 2, padding=1, padding_mode="circular"),
        nn.Conv2d(3, 2, (2, 3), stride=(1, 2), padding=(2, 1), dilation=(2, 1)),
        nn.Flatten(),
        nn.LazyLinear(spec.n_classes),
    )


MAKERS = [convolution, perceptron, Tokens, Twice, odd_convolutions]


def network_of(make) -> WrappedNetwork:
    with seeded(1):
        return WrappedNetwork(make(image_spec(3)), image_spec(3))


def samples(n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.normal(size=(n, 40)).astype(np.float32)), torch.from_numpy(rng.integers(0, 3, n))


def one_backward_each(network: WrappedNetwork, x, y, score=summed_cross_entropy) -> list[dict[str, torch.Tensor]]:
    """What every sample's own backward pass gives, by the name of the parameter."""
    module = network.copy().still().double()
    found = []
    for row, label in zip(x.view(-1, *SHAPE).double(), y, strict=True):
        slopes = torch.autograd.grad(score(module(row[None]), label[None]), list(module.parameters()))
        found.append({name: slope for (name, _), slope in zip(module.named_parameters(), slopes, strict=True)})
    return found


def as_vectors(found: list[dict[str, torch.Tensor]]) -> torch.Tensor:
    return torch.stack([torch.cat([slope.flatten() for slope in one.values()]) for one in found])


@pytest.mark.parametrize("make", MAKERS)
def test_gram_norms_pieces_and_joins(make) -> None:
    network, (x, y), (other_x, other_y) = network_of(make), samples(6), samples(5, seed=1)
    mine, others = sample_gradients(network, x, y), sample_gradients(network, other_x, other_y)
    g, o = as_vectors(one_backward_each(network, x, y)), as_vectors(one_backward_each(network, other_x, other_y))
    near = {"rtol": 1e-4, "atol": 1e-4 * float((g @ g.T).abs().max())}
    torch.testing.assert_close(mine.gram(others).double(), g @ o.T, **near)
    torch.testing.assert_close(mine.squared_norms().double(), g.square().sum(dim=1), **near)
    joined = mine.join(mine.pieces([2, 4]))
    assert len(joined) == 6
    assert torch.equal(joined.gram(others), mine.gram(others))
    cosines = cosines_to_mean(mine.gram(others), mine.squared_norms(), others.gram(others))
    torch.testing.assert_close(cosines.double(), F.cosine_similarity(g, o.mean(dim=0)[None]), rtol=1e-4, atol=1e-4)
    assert gradient_cosines(mine).shape == (6, 6)


@pytest.mark.parametrize("make", MAKERS)
def test_every_sample_for_itself_in_fisher_and_sensitivity(make) -> None:
    network, (x, y) = network_of(make), samples(5)

    def own_label(logits, _):
        return F.cross_entropy(logits, logits.argmax(dim=1), reduction="sum")

    for found, score, phi in (
        (fisher_diagonal(network, x, chunk=3), own_label, torch.square),
        (sample_sensitivity(network, x, chunk=3), lambda logits, _: logits.square().sum(), torch.abs),
    ):
        each = one_backward_each(network, x, y, score)
        assert set(found) == {name for name, _ in network.named_parameters()}
        for name, value in found.items():
            expected = torch.stack([phi(one[name.removeprefix("module.")]) for one in each]).mean(dim=0)
            torch.testing.assert_close(value.double(), expected, rtol=1e-3, atol=1e-6)


def test_the_sensitivity_of_a_mini_batch_is_its_gradient() -> None:
    network, (x, _) = network_of(convolution), samples(7)
    found = batch_sensitivity(network, x, batch=7)
    slopes = torch.autograd.grad(network.still()(network.images(x)).square().mean(), list(network.parameters()))
    for (name, _), slope in zip(network.named_parameters(), slopes, strict=True):
        torch.testing.assert_close(found[name], slope.abs(), rtol=1e-4, atol=1e-6)


def test_a_linear_layers_gradients_are_never_made_and_a_convolutions_are() -> None:
    network, (x, y) = network_of(small_images), samples(4)
    found = sample_gradients(network, x, y)
    assert isinstance(found, ModuleGradients)
    assert [type(layer) for layer in found.layers] == [WholeGradients] * 2 + [OuterProducts] * 2


def small_images(spec) -> nn.Module:
    return small_convolution(spec)


def test_looking_changes_nothing_and_frozen_weights_have_no_gradient() -> None:
    network, (x, y) = network_of(convolution), samples(4)
    network.module[0].requires_grad_(False)
    before = {name: value.clone() for name, value in network.full_weights().items()}
    found = module_gradients(network.still(), network.images(x), y, summed_cross_entropy)
    assert {name for layer in found.layers for name in layer.names}.isdisjoint({"0.weight", "0.bias"})
    assert all(value.grad is None for value in network.parameters())
    assert all(torch.equal(value, before[name]) for name, value in network.full_weights().items())
