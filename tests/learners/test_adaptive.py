"""``adaptive``: who answers, what sleeps, and what a changed world is told from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from smartcl import Batch, InputSpec, build_learner
from smartcl.learners.adaptive import Adaptive
from smartcl.learners.committee import LEAST_OFFERED
from smartcl.learners.evidence import Duel
from smartcl.learners.model import Model
from smartcl.learners.recipe import Recipe
from smartcl.learners.steps import (
    AHEAD,
    CATCHES_UP,
    EAGER,
    EAGER_BATCHES,
    ERRING,
    LEAST_WATCHFUL,
    eagerness,
    whole_steps,
)
from smartcl.learners.weights import Labelled
from smartcl.learners.worlds import (
    TORN,
    TORN_DISTRUSTED,
    in_common,
    misled_by,
    outdated,
    to_be_sure,
    told_apart,
    torn_between,
)
from smartcl.memory import SampleStore
from smartcl.saved import StateError
from smartcl.selection.roles import ASLEEP, HELD_OUT, REPLAYED


def learner(n_features: int = 2, memory: str = "100kB", **settings: object) -> Adaptive:
    spec = InputSpec(n_features, 2, learned=True)
    made = build_learner("adaptive", spec, memory, seed=0, **{"hidden": (64, 64), **settings})
    assert isinstance(made, Adaptive)
    return made


def plane(rng: np.random.Generator, rows: int, sign: int, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=(rows, 2)).astype(np.float32)
    y = (sign * (x[:, 0] + x[:, 1]) > 0).astype(np.int64)
    return x + np.float32(shift), y


def feed(model: Adaptive, x: np.ndarray, y: np.ndarray) -> list[float]:
    """The share of right answers to each batch before it is learned."""
    right = []
    for start in range(0, len(x), 50):
        rows, labels = torch.from_numpy(x[start : start + 50]), torch.from_numpy(y[start : start + 50])
        right.append(float((model.predict_proba(rows).argmax(1) == labels).double().mean()))
        model.observe(Batch(rows, labels))
    return right


@pytest.fixture(scope="module")
def after_reversal() -> tuple[Adaptive, list[float]]:
    rng, model = np.random.default_rng(0), learner()
    feed(model, *plane(rng, 1000, sign=1))
    return model, feed(model, *plane(rng, 600, sign=-1))


def test_a_reversed_world_is_noticed_within_a_few_batches_and_learned(
    after_reversal: tuple[Adaptive, list[float]],
) -> None:
    model, right = after_reversal
    assert len(model.changes) >= 1
    assert 1000 <= model.changes[0] <= 1250
    assert np.mean(right[6:]) > 0.85


def test_the_samples_of_the_old_world_sleep_and_those_of_the_new_do_not(
    after_reversal: tuple[Adaptive, list[float]],
) -> None:
    model, _ = after_reversal
    asleep = model.roles == ASLEEP
    assert asleep[:900].mean() > 0.6
    assert asleep[-400:].mean() < 0.3


def test_a_new_task_is_no_change_of_the_world() -> None:
    rng, model = np.random.default_rng(1), learner()
    feed(model, *plane(rng, 800, sign=1))
    feed(model, *plane(rng, 900, sign=-1, shift=8.0))
    assert model.changes == ()
    assert not (model.roles == ASLEEP).any()
    for sign, shift in ((1, 0.0), (-1, 8.0)):
        x, y = plane(rng, 500, sign, shift)
        assert float((model.predict_proba(torch.from_numpy(x)).argmax(1).numpy() == y).mean()) > 0.8


def test_what_is_held_out_is_never_learned() -> None:
    """Labels turned around in the held-out rows alone change no weight."""
    rng = np.random.default_rng(2)
    x, y = plane(rng, 300, sign=1)
    one, other = learner(), learner()
    for start in range(0, 300, 50):
        rows = torch.from_numpy(x[start : start + 50])
        labels = torch.from_numpy(y[start : start + 50])
        twin = other.rng.bit_generator.state
        one.observe(Batch(rows, labels))
        assert one.rng.bit_generator.state != twin
        turned = np.where(one._held_out, 1 - labels.numpy(), labels.numpy())
        other.observe(Batch(rows, torch.from_numpy(turned)))
        break  # one batch: afterwards the evidence differs, as it should
    for mine, theirs in zip(one.models, other.models, strict=True):
        for a, b in zip(mine.network.parameters(), theirs.network.parameters(), strict=True):
            assert torch.equal(a, b)
    assert (one.roles == HELD_OUT).sum() == one._held_out.sum()


def test_resuming_goes_on_bit_for_bit(after_reversal: tuple[Adaptive, list[float]]) -> None:
    model, _ = after_reversal
    twin = learner()
    twin.load_state_dict(model.state_dict())
    x, y = plane(np.random.default_rng(3), 200, sign=-1)
    assert feed(twin, x, y) == feed(model, x, y)
    rows = torch.from_numpy(x)
    assert torch.equal(twin.predict_proba(rows), model.predict_proba(rows))
    assert (twin.leader, twin.changes, twin.evidence) == (model.leader, model.changes, model.evidence)


def test_a_stream_that_no_longer_teaches_gets_fewer_steps() -> None:
    rng, model = np.random.default_rng(4), learner(hidden=(32, 32), iterations=10)
    feed(model, *plane(rng, 7500, sign=1))
    assert model.evidence.pace.share < 0.4


def test_in_a_full_memory_of_an_easy_stream_all_rows_are_as_likely() -> None:
    """One batch in five is offered, and stands for five: by their ids, the rows held are spread over the stream."""
    rng, model = np.random.default_rng(5), learner(memory="8kB", hidden=(16, 16), iterations=10, precision="exact")
    model.keeps_ids = True
    x, y = map(torch.from_numpy, plane(rng, 20_000, sign=1))
    for start in range(0, len(x), 50):
        some = slice(start, start + 50)
        model.observe(Batch(x[some], y[some], ids=np.arange(start, start + 50)))
    assert model.offering == LEAST_OFFERED
    assert kstest(model.memory.store.extra["id"] / len(x), "uniform").pvalue > 0.001


def test_no_rare_event_passes_a_full_memory_by() -> None:
    """Where one batch in five is offered, one with an event in it always is."""
    rng, model = np.random.default_rng(8), learner(memory="8kB", hidden=(16, 16), iterations=10, precision="exact")
    x, y = plane(rng, 15_000, sign=1)
    x[:, 0], y[:] = x[:, 0] - 9, 0
    x[20::300, 0], y[20::300] = x[20::300, 0] + 18, 1
    feed(model, x, y)
    assert model.offering == LEAST_OFFERED
    assert (model.memory.store.labels == 1).sum() == (y == 1).sum()


def test_rare_events_are_replayed_while_the_memory_has_room() -> None:
    rng, model = np.random.default_rng(6), learner(memory="1MB", hidden=(16, 16), iterations=2)
    x, y = rng.normal(size=(2000, 2)).astype(np.float32), np.zeros(2000, dtype=np.int64)
    y[100::200] = 1
    feed(model, x, y)
    pool = np.flatnonzero(model.roles == REPLAYED)
    drawn = model.with_rare_ones(pool, 100)
    labels = model.memory.store.labels
    assert len(drawn) == len(set(drawn)) == 100
    assert labels[drawn].sum() == min(25, labels[pool].sum())
    model.regard_replayed(labels[drawn].astype(np.int64))
    assert model.overstated is not None
    more = np.log(labels[drawn].mean() / model.counts.rate[1]) * (1 - model.counts.absence[1])
    assert float(model.overstated[1]) == pytest.approx(more, rel=1e-5)


def test_who_has_taken_no_steps_is_not_ahead_of_who_it_was() -> None:
    rng, model = np.random.default_rng(7), learner()
    feed(model, *plane(rng, 1000, sign=1))
    elder, (x, y) = model.worlds.elders[0], plane(rng, 500, sign=1)
    rows, labels = torch.from_numpy(x), torch.from_numpy(y)
    answered = np.ones(len(y), dtype=np.bool_)
    same = replace(model.worlds, lead=Duel()).asked(rows, labels, answered, elder)
    assert (same.lead.gap, same.teaches) == (0.0, False)
    wrong = replace(model.worlds, lead=Duel()).asked(rows, 1 - labels, answered, elder)
    other = model.worlds.elders[0].copy()
    with torch.no_grad():
        other.head.weight.neg_()
        other.head.bias.neg_()
    ahead = replace(model.worlds, lead=Duel()).asked(rows, 1 - labels, answered, other)
    assert (wrong.teaches, ahead.teaches) == (False, True)


@given(st.integers(0, 25_000), st.integers(1, 300))
def test_whole_steps_add_up(thousandths: int, batches: int) -> None:
    steps = thousandths / 1000
    taken = [whole_steps(steps, batch) for batch in range(batches)]
    assert sum(taken) == int(steps * batches)
    assert max(taken) - min(taken) <= 1


def test_the_answer_is_the_mean_of_the_networks_by_their_shares(after_reversal: tuple[Adaptive, list[float]]) -> None:
    model, _ = after_reversal
    rows = torch.from_numpy(plane(np.random.default_rng(5), 40, sign=-1)[0])
    expected = torch.zeros(40, 2, dtype=torch.float64)
    for share, each in zip(model.shares, model.models, strict=True):
        with torch.no_grad():
            expected += share * each.predictor(model.prepared(rows)).double().softmax(dim=1)
    assert torch.allclose(model.predict_proba(rows).double(), expected, atol=1e-6)
    assert model.shares.sum() == pytest.approx(1.0)


def test_a_world_that_comes_back_is_known_at_the_second_batch() -> None:
    rng, model = np.random.default_rng(6), learner()
    feed(model, *plane(rng, 1500, sign=1))
    feed(model, *plane(rng, 1500, sign=-1))
    right = feed(model, *plane(rng, 300, sign=1))
    assert right[0] < 0.3
    assert np.mean(right[1:]) > 0.9
    assert len(model.changes) == 2


def test_the_scout_and_the_line_are_never_taught_what_is_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    model, taught = learner(), []
    rng = np.random.default_rng(7)
    feed(model, *plane(rng, 300, sign=1))
    recall = model.recall

    def noting(store: SampleStore, index: np.ndarray) -> object:
        taught.append(store.extra["role"][index])
        return recall(store, index)

    new = (model.prepared(torch.from_numpy(plane(rng, 50, sign=1)[0])), torch.zeros(50, dtype=torch.int64))
    model.regard_classes(new)
    monkeypatch.setattr(model, "recall", noting)
    model.teach_scout(new, steps=1)
    model.teach_line(new, steps=1)
    assert (model.roles == HELD_OUT).any()
    assert len(taught) == 2
    assert not any((roles == HELD_OUT).any() for roles in taught)


@pytest.mark.parametrize(("shift", "low", "high"), [(0.0, 0.7, 1.0), (4.0, 0.0, 0.2)])
def test_what_inputs_have_in_common(shift: float, low: float, high: float) -> None:
    rng, spec = np.random.default_rng(8), InputSpec(2, 2)
    here, there = (torch.from_numpy(rng.normal(size=(300, 2)).astype(np.float32)) for _ in range(2))
    assert low <= in_common(*told_apart(here, [there + shift], spec, rng)) <= high


@pytest.mark.parametrize(
    ("labels", "low", "high"), [("same", -3.0, 2.0), ("reversed", 4.0, 30.0), ("random", -3.0, 2.0)]
)
def test_an_elder_is_outdated_by_other_labels_that_can_be_learned(labels: str, low: float, high: float) -> None:
    """Random labels contradict an elder too, but nobody can do better."""
    rng, spec = np.random.default_rng(3), InputSpec(2, 2)
    x = torch.from_numpy(rng.normal(size=(900, 2)).astype(np.float32))
    y = (x.sum(dim=1) > 0).long()
    model = Model(spec, Recipe(hidden=(32, 32), lr=2e-3), (), rng)
    for _ in range(200):
        model.descend(torch.nn.functional.cross_entropy(model.network(x[:600]), y[:600]))
    newer = {"same": y[600:], "reversed": 1 - y[600:], "random": torch.from_numpy(rng.integers(0, 2, 300))}[labels]
    duel = outdated(model, model.network.copy(), (x[600:], newer), rng)
    assert duel.asked == 300
    assert low < duel.sureness < high


def half_planes(n_classes: int, rng: np.random.Generator) -> tuple[Model, list[Labelled], Labelled]:
    """A network that knows which side points lie on, two parts of what it learned, and points that it has not seen."""
    x = torch.from_numpy(rng.normal(size=(900, 2)).astype(np.float32))
    y = (x[:, 1] > 0).long()
    model = Model(InputSpec(2, n_classes), Recipe(hidden=(32, 32), lr=2e-3), (), rng)
    for _ in range(200):
        model.descend(torch.nn.functional.cross_entropy(model.network(x[:600]), y[:600]))
    return model, [(x[:300], y[:300]), (x[300:600], y[300:600])], (x[600:], y[600:])


@pytest.mark.parametrize(
    ("shift", "named", "sure"), [(1.5, 2, False), (1.5, 0, True), (0.0, 2, True)], ids=["new", "reversed", "renamed"]
)
def test_classes_that_are_new_are_no_other_world_unless_the_inputs_are_the_same(
    shift: float, named: int, sure: bool
) -> None:
    """Inputs that lie partly where the older ones do, and labels that an elder gets wrong in any case."""
    rng, spec = np.random.default_rng(6), InputSpec(2, 4)
    model, older, (x, y) = half_planes(4, rng)
    newest = x + shift * torch.tensor([1.0, 0.0]), 1 - y + named
    assert (to_be_sure(model, model.network.copy(), newest, older, spec, False, rng) is not None) == sure


@pytest.mark.parametrize(("distrusted", "sure"), [(False, TORN), (True, TORN_DISTRUSTED)])
def test_distrusted_labels_must_speak_louder_for_another_world(distrusted: bool, sure: float) -> None:
    rng = np.random.default_rng(6)
    model, older, (x, y) = half_planes(2, rng)
    found = to_be_sure(model, model.network.copy(), (x, 1 - y), older, InputSpec(2, 2), distrusted, rng)
    assert found == sure


def test_a_network_is_torn_by_wrong_labels_too_but_further_by_another_world() -> None:
    rng = np.random.default_rng(6)
    model, older, (x, y) = half_planes(2, rng)
    noisy = x, torch.where(torch.from_numpy(rng.random(300) < 0.1), 1 - y, y)
    assert torn_between(model, noisy, older, rng, TORN) is not None
    assert torn_between(model, noisy, older, rng, TORN_DISTRUSTED) is None
    assert torn_between(model, (x, 1 - y), older, rng, TORN_DISTRUSTED) is not None


@pytest.mark.parametrize("rows", [0, 1])
def test_nobody_is_outdated_by_next_to_nothing(rows: int) -> None:
    rng = np.random.default_rng(0)
    model = Model(InputSpec(2, 2), Recipe(hidden=(8,)), (), rng)
    newest = torch.zeros(rows, 2), torch.zeros(rows, dtype=torch.int64)
    assert outdated(model, model.network.copy(), newest, rng).asked == 0


def test_a_changed_world_without_a_change_is_refused() -> None:
    state = learner().state_dict()
    with pytest.raises(StateError, match="changes"):
        learner().load_state_dict({**state, "changed": True})


def test_each_change_of_the_world_is_noted_once() -> None:
    rng, model = np.random.default_rng(4), learner()
    for sign in (1, -1, 1):
        feed(model, *plane(rng, 1500, sign=sign))
    first, second = model.changes
    assert 1500 <= first < 2000
    assert 3000 <= second < 3500


def test_images_of_other_tasks_under_random_labels_are_no_change() -> None:
    """Three tasks, apart from each other; three samples in ten may be of any of them, then with a random label."""
    rng, model = np.random.default_rng(5), learner(n_features=8)
    for task in range(3):
        x = rng.normal(size=(800, 8)).astype(np.float32)
        place = np.where(rng.random(800) < 0.3, rng.integers(0, 3, 800), task)
        y = np.where(place == task, x[:, task] > 0, rng.random(800) < 0.5).astype(np.int64)
        x[np.arange(800), 5 + place] += 6
        feed(model, x, y)
    assert model.changes == ()


def other_columns(rng: np.random.Generator, rows: int, first: int) -> Labelled:
    """Eight lights at random; four of them, from this one on, spell one of sixteen labels, a tenth of them wrong."""
    x = rng.integers(2, size=(rows, 8)).astype(np.float32)
    y = (x[:, first : first + 4] @ [1, 2, 4, 8]).astype(np.int64)
    wrong = rng.random(rows) < 0.1
    y[wrong] = rng.integers(16, size=int(wrong.sum()))
    return torch.from_numpy(x), torch.from_numpy(y)


@pytest.mark.parametrize(("first", "misled"), [(0, False), (4, True)])
def test_older_samples_mislead_in_another_world_only_even_who_has_both_by_heart(first: int, misled: bool) -> None:
    rng = np.random.default_rng(7)
    newest, older = other_columns(rng, 300, first), [other_columns(rng, 300, 0) for _ in range(2)]
    model = Model(InputSpec(8, 16), Recipe(hidden=(128, 128), lr=1e-3, average=0.98), (), rng)
    for _ in range(300):
        for rows, y in (newest, *older):
            model.descend(torch.nn.functional.cross_entropy(model.network(rows), y))
    assert (misled_by(model, newest, older, rng) is not None) is misled


@pytest.mark.parametrize("rows", [0, 1, 150])
def test_next_to_nothing_misleads_nobody(rows: int) -> None:
    rng = np.random.default_rng(8)
    older = [other_columns(rng, 30, 0) for _ in range(2)]
    model = Model(InputSpec(8, 16), Recipe(hidden=(8,)), (), rng)
    assert misled_by(model, other_columns(rng, rows, 4), older, rng) is None


def test_a_young_stream_is_learned_more_often_where_guards_do_not_pay() -> None:
    rng, model = np.random.default_rng(9), learner()
    assert model.steps()[1] == EAGER * model.recipe.iterations
    x = rng.normal(size=(3000, 2)).astype(np.float32)
    feed(model, x[:500], (np.hypot(*x[:500].T) > 1.2).astype(np.int64))
    accuracy = model.evidence.present.accuracy
    ahead = min(1.0, max(0.0, (accuracy[1] - accuracy[0]) / AHEAD))
    erring = min(1.0, (1 - accuracy[1]) / ERRING)
    expected = 1 + (EAGER_BATCHES / 11 - 1) * ahead * erring
    assert eagerness(model.batches, accuracy[1] - accuracy[0], 1 - accuracy[1]) == pytest.approx(expected)
    assert ahead > 0
    assert erring > 0
    assert model.steps()[1] > model.recipe.iterations
    feed(model, x[500:], (np.hypot(*x[500:].T) > 1.2).astype(np.int64))
    assert model.steps()[1] <= CATCHES_UP * model.recipe.iterations


def test_who_hardly_errs_is_not_eager_and_scouts_less() -> None:
    rng, model = np.random.default_rng(9), learner()
    x = rng.normal(size=(150, 2)).astype(np.float32) + 8 * (np.arange(150) % 2)[:, None].astype(np.float32)
    feed(model, x, (np.arange(150) % 2).astype(np.int64))
    errors = 1 - model.evidence.present.accuracy
    assert errors[1] < ERRING / 5
    assert errors[-1] < ERRING / 5
    guarded, plain, _, scout = model.steps()
    assert guarded == model.recipe.iterations
    assert plain < 2 * guarded
    assert scout <= guarded * LEAST_WATCHFUL * 2


def test_a_stray_label_does_not_silence_the_sceptic() -> None:
    rng, model = np.random.default_rng(10), learner()
    x, y = plane(rng, 1000, sign=1)
    feed(model, x, np.where(rng.random(1000) < 0.2, 1 - y, y))
    assert not model.about_events(errors=0.2)
    rare = build_learner("adaptive", InputSpec(2, 2, learned=True), "100kB", seed=0, hidden=(64, 64))
    assert isinstance(rare, Adaptive)
    feed(rare, x, (np.arange(1000) % 500 == 1).astype(np.int64))
    assert rare.about_events(errors=0.002)
    assert not rare.about_events(errors=0.2)
