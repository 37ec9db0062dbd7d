"""A module of the user's own as a network: what is found out about it, what is refused, how it is copied and grows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from scipy import sparse
from torch import nn

from own_modules import SHAPE, Tokens, convolution, flipped, image_spec, perceptron, shaken
from smartcl.data.spec import InputSpec
from smartcl.network.inputs import NarrowInput, prepare
from smartcl.network.own_randomness import seeded
from smartcl.network.wrapped import WrappedNetwork, wrapped

ROWS = torch.from_numpy(np.random.default_rng(0).normal(size=(5, 40)).astype(np.float32))


def of(make, spec: InputSpec | None = None, **more) -> WrappedNetwork:
    return wrapped(make, spec or image_spec(), np.random.default_rng(0), **more)


def test_rows_of_any_form_become_the_modules_input() -> None:
    network, some = of(convolution), np.array([0, 3, 7])
    narrow = torch.zeros(5, 40)
    narrow[:, some] = ROWS[:, some]
    expected = network.still()(torch.cat([ROWS, narrow]).view(-1, *SHAPE))
    with torch.no_grad():
        got = network(ROWS, NarrowInput(ROWS[:, some], torch.from_numpy(some)))
        as_sparse = network(prepare(sparse.csr_array(ROWS.numpy()), image_spec(sparse=True)))
    torch.testing.assert_close(got, expected)
    torch.testing.assert_close(as_sparse, expected[:5])


@pytest.mark.parametrize(
    ("make", "first", "head"),
    [(convolution, "0", "9"), (perceptron, "1", "3"), (Tokens, None, "head")],
)
def test_the_layers_that_matter_are_found(make, first, head) -> None:
    anatomy = of(make).anatomy
    assert (anatomy.first, anatomy.head, anatomy.n_outputs) == (first, head, 2)


def test_an_input_that_is_read_by_another_way_too_has_no_features_to_forget() -> None:
    class Residual(nn.Module):
        def __init__(self, spec) -> None:
            super().__init__()
            self.first, self.head = nn.Linear(40, 40), nn.Linear(40, spec.n_classes)

        def forward(self, x):
            x = x.flatten(1)
            return self.head(x + self.first(x).relu())

    assert of(Residual).anatomy.first is None
    assert of(Residual).alive().all()


def test_the_features_of_a_convolution_are_its_channels_and_of_a_linear_layer_its_columns() -> None:
    for make, dead in ((convolution, slice(20, 40)), (perceptron, [3, 8])):
        network = of(make)
        inputs = network.input_weights
        assert inputs is not None
        rows = inputs.rows(inputs.weight.detach()).clone()
        rows[[1] if make is convolution else dead] = 0.0
        with torch.no_grad():
            inputs.put(rows)
        expected = torch.ones(40, dtype=torch.bool)
        expected[dead] = False
        assert torch.equal(network.alive(), expected)
        changed = ROWS.clone()
        changed[:, dead] += 1
        with torch.no_grad():
            assert torch.equal(network(ROWS), network(changed))


def test_one_channel_is_no_feature() -> None:
    spec = InputSpec(n_features=20, n_classes=2, shape=(1, 4, 5))
    assert of(convolution, spec).anatomy.first is None


def test_modes_and_randomness() -> None:
    network = of(convolution)
    with torch.no_grad():
        assert torch.equal(network(ROWS), network(ROWS))
    assert not network.module.training
    with seeded(0):
        first, second = network(ROWS), network(ROWS)
    assert network.module.training
    assert not torch.equal(first, second)
    with seeded(0):
        assert torch.equal(network(ROWS), first)
    assert torch.equal(network.shadow()(ROWS), network.shadow()(ROWS))


def test_who_asks_at_the_same_time_is_not_disturbed() -> None:
    network = of(convolution)
    expected = network.features(ROWS).detach()
    with torch.no_grad(), ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            network.module.train()  # as a step that learns leaves it
            asked = [pool.submit(network.features, ROWS if k % 2 else ROWS + 1) for k in range(8)]
            assert all(torch.equal(each.result(), expected) for each in asked[1::2])


@pytest.mark.parametrize("augment", [flipped, shaken])
def test_rows_are_augmented_only_while_learning(augment) -> None:
    network, plain = of(perceptron, augment=augment), of(perceptron)
    with torch.no_grad():
        assert torch.equal(network(ROWS), plain(ROWS))
    with seeded(0):
        assert not torch.equal(network(ROWS), plain(ROWS))
    assert torch.equal(network.shadow()(ROWS), plain(ROWS))


@pytest.mark.parametrize("make", [convolution, perceptron, Tokens, lambda spec: nn.Linear(40, spec.n_classes)])
def test_a_grown_network_answers_as_before_and_its_copy_is_its_own(make) -> None:
    spec = image_spec() if make is not of else None
    if make not in (convolution, perceptron, Tokens):
        spec = InputSpec(n_features=40, n_classes=2)
    network = of(make, spec)
    before = network.features(ROWS, "logits").detach()
    twin = network.copy()
    network.add_classes(4, np.random.default_rng(1))
    assert network.n_outputs == 4
    assert twin.n_outputs == 2
    torch.testing.assert_close(network.features(ROWS, "logits")[:, :2], before)
    torch.testing.assert_close(twin.features(ROWS, "logits"), before)
    with torch.no_grad():
        for value in network.parameters():
            value.zero_()
    torch.testing.assert_close(twin.features(ROWS, "logits"), before)
    assert network.features(ROWS).shape == twin.features(ROWS).shape


class Counting(nn.Module):
    """A layer that remembers, as running statistics do."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        if self.training:
            self.seen += len(x)
        return x


REFUSED = {
    "must not have BatchNorm2d layers": lambda spec: nn.Sequential(
        nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.Flatten(), nn.LazyLinear(2)
    ),
    "must not change its buffers": lambda spec: nn.Sequential(Counting(), nn.Flatten(), nn.Linear(40, 2)),
    "must take rows of the shape": lambda spec: nn.Linear(7, 2),
    "must give 2 logits a row": lambda spec: nn.Sequential(nn.Flatten(), nn.Linear(40, 5)),
    "must have float32 weights": lambda spec: nn.Sequential(nn.Flatten(), nn.Linear(40, 2), Odd()),
    "must have weights that learn": lambda spec: perceptron(spec).requires_grad_(False),
    "must make a torch.nn.Module": lambda spec: "a network",
}


class Odd(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.double_weight = nn.Parameter(torch.ones(1, dtype=torch.float64))

    def forward(self, x):
        return x


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_taught_is_refused_in_one_line(message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        of(REFUSED[message])
    assert "\n" not in str(caught.value)


def test_rows_too_wide_to_be_made_dense_are_refused() -> None:
    with pytest.raises(ValueError, match="too many to be made dense"):
        of(perceptron, InputSpec(n_features=1_000_000, n_classes=2, sparse=True))


def test_a_network_without_a_last_linear_layer_learns_but_cannot_grow() -> None:
    network = of(lambda spec: nn.Sequential(perceptron(spec), nn.LogSoftmax(dim=1)))
    for ask in (lambda: network.add_classes(3, np.random.default_rng(0)), lambda: network.features(ROWS)):
        with pytest.raises(ValueError, match="must end in a Linear layer"):
            ask()


def test_a_module_is_copied_and_what_makes_one_draws_by_the_generator_alone() -> None:
    module = convolution(image_spec())
    network = of(module)
    assert network.module is not module
    state = torch.get_rng_state()
    first, second, other = (
        of(convolution),
        of(convolution),
        wrapped(convolution, image_spec(), np.random.default_rng(1)),
    )
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(first.module[0].weight, second.module[0].weight)
    assert not torch.equal(first.module[0].weight, other.module[0].weight)
