"""The whole state within a number of bytes: over streams of any shape, after every call, saved and loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import assert_same_state, small_batches, small_spec
from smartcl import SmartClassifier, load
from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Learner
from smartcl.learners.methods import build_learner, find_method
from smartcl.learners.total import divided, ensemble_nbytes, model_nbytes, sums_nbytes
from smartcl.saving.persistence import save_state

IMAGES = InputSpec(n_features=784, n_classes=10, dtype="uint8", scale=1 / 255)
QUICK = {"iterations": 1, "replay": 10, "features": 200}


def quick(method: str, spec: InputSpec, total: int | str, **more: object) -> Learner:
    known = find_method(method).parameters
    chosen = {name: value for name, value in QUICK.items() if name in known}
    return build_learner(method, spec, "1MB", total=total, **{**chosen, **more})


@pytest.mark.parametrize("method", ["smart", "er", "der++", "randumb", "adaptive"])
@given(
    total=st.integers(9_000, 60_000),
    n_features=st.integers(2, 30),
    cuts=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    classes=st.integers(2, 4),
)
@settings(max_examples=6)
def test_no_call_leaves_more_than_the_total(
    method: str, total: int, n_features: int, cuts: list[int], classes: int
) -> None:
    rng = np.random.default_rng(total)
    learner = quick(method, InputSpec(n_features, 2, dtype="float32", learned=True), total)
    assert learner.total_nbytes <= total
    for rows in cuts:
        if rows % 3 == 0 and learner.spec.n_classes < classes:
            learner.add_classes(learner.spec.n_classes + 1)
            assert learner.total_nbytes <= total
        x = torch.from_numpy(rng.normal(size=(rows, n_features)).astype(np.float32))
        learner.observe(Batch(x, torch.from_numpy(rng.integers(0, learner.spec.n_classes, rows))))
        assert learner.total_nbytes <= total


def test_what_is_saved_is_as_large_as_what_was_counted(tmp_path: Path) -> None:
    for method in ("smart", "randumb"):
        learner = quick(method, small_spec(), "1MB")
        for batch in small_batches():
            learner.observe(batch)
        save_state(tmp_path / method, learner.state_dict())
        files = [path.stat().st_size for path in (tmp_path / method).rglob("*") if path.is_file()]
        arrays = str(learner.state_dict()).count("array(") + str(learner.state_dict()).count("tensor(")
        assert 0 <= sum(files) - learner.total_nbytes <= 1_000 + 400 * arrays  # a name and a shape of each array


def test_a_total_that_is_too_small_says_the_least() -> None:
    with pytest.raises(ValueError, match="total must be at least") as refused:
        quick("smart", IMAGES, 4_000)
    least = int(str(refused.value).split("at least ")[1].split()[0])
    assert quick("smart", IMAGES, least).total_nbytes <= least
    with pytest.raises(ValueError, match="total must be a positive int of bytes"):
        quick("smart", IMAGES, "many")


def test_a_new_class_that_does_not_fit_is_refused_and_nothing_is_lost() -> None:
    learner = quick("randumb", small_spec(), 6_000)
    for batch in small_batches(2):
        learner.observe(batch)
    before = learner.state_dict()
    with pytest.raises(ValueError, match="total must be at least"):
        learner.add_classes(500)
    assert_same_state(learner.state_dict(), before)


def test_it_goes_on_bit_for_bit() -> None:
    straight, resumed = (quick("smart", small_spec(), 7_000) for _ in range(2))
    batches = small_batches(8, rows=60)
    for batch in batches[:4]:
        straight.observe(batch)
    assert 0 < len(straight.memory) < 240
    resumed.load_state_dict(straight.state_dict())
    for learner in (straight, resumed):
        for batch in batches[4:]:
            learner.observe(batch)
    assert_same_state(straight.state_dict(), resumed.state_dict())


def test_the_rule() -> None:
    """More room is never less of anything; with much of it the method is as it was."""
    smart, randumb = find_method("smart"), find_method("randumb")
    widths, features = [], []
    for total in (200_000, 500_000, 2_000_000, 40_000_000):
        _, found = divided(smart.build, smart.settings, IMAGES, total)
        assert model_nbytes(found, IMAGES) <= 0.75 * total
        widths.append(found.hidden[0])
        _, critic = divided(randumb.build, randumb.settings, IMAGES, total)
        assert sums_nbytes(critic.features, IMAGES) <= total
        features.append(critic.features)
    assert widths == sorted(widths)
    assert widths[-1] == 400
    assert found.kept_weights is None
    assert features == sorted(features)
    assert features[-1] == 4000


def test_the_ensemble_takes_no_more_than_was_reckoned() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 8)).astype(np.float32)
    model = SmartClassifier("20kB", random_state=0).partial_fit(X, X[:, :3].argmax(axis=1))
    learner = model.learner_
    spec = learner.spec
    beside = learner.total_nbytes - learner.memory.nbytes
    assert beside <= ensemble_nbytes(find_method("adaptive").settings, spec)
    roomy = build_learner("adaptive", spec, "1MB", total="40MB")
    assert type(roomy) is type(learner)


def test_an_estimator_takes_it_and_a_folder_keeps_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8)).astype(np.float32)
    y = X[:, 0] > 0
    model = SmartClassifier(total="60kB", random_state=0).partial_fit(X[:200], y[:200])
    model.save(tmp_path)
    again = load(tmp_path)
    assert again.total == "60kB"
    for each in (model, again):
        each.partial_fit(X[200:], y[200:])
        assert each.learner_.total_nbytes <= 60_000
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    with pytest.raises(ValueError, match="total was '60kB' when learning began and is '90kB' now"):
        again.set_params(total="90kB").partial_fit(X, y)


# --- weights in half precision ----------------------------------------------------------------------------------------


def test_half_weights_take_a_quarter_and_go_on_bit_for_bit() -> None:
    made = {
        kept: build_learner("smart", small_spec(), 900, iterations=2, kept_weights=kept)
        for kept in ("float32", "float16")
    }
    assert 4 * made["float16"].model.nbytes == made["float32"].model.nbytes
    half, batches = made["float16"], small_batches(8)
    for batch in batches[:4]:
        half.observe(batch)
    again = build_learner("smart", small_spec(), 900, 7, iterations=2, kept_weights="float16")
    again.load_state_dict(half.state_dict())
    for learner in (half, again):
        for batch in batches[4:]:
            learner.observe(batch)
        learner.add_classes(3)
    assert_same_state(half.state_dict(), again.state_dict())
    for weight in half.model.network.parameters():
        assert torch.equal(weight, weight.half().float())


def test_half_weights_are_refused_where_they_cannot_be() -> None:
    with pytest.raises(ValueError, match="kept_weights must be float32 for sparse rows"):
        build_learner("er", InputSpec(200_000, 2, sparse=True), "100kB", kept_weights="float16")
