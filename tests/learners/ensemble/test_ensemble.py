"""The ensemble end to end: exact resume, calls that count wholly or not, forgetting, weights, drift, probabilities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from made_samples import batches_of
from scipy import sparse

from helpers import assert_same_state
from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble import feature_maps
from smartcl.learners.ensemble.drift import CHANGED, NEW_TASK, RECURRED
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.learners.ensemble.recent import Newest, learnable
from smartcl.learners.ensemble.settings import WIDE
from smartcl.learners.forgetting import forget_samples
from smartcl.learners.methods import METHODS
from smartcl.memory.export import stored_rows
from smartcl.memory.pool import DORMANT, HELD_OUT
from smartcl.saving.saved import StateError

BATCH = 50
KINDS = ("dense", "few sparse", "sparse", "wide")
PHASES = ("judge_answers", "react", "teach", "remember", "look_back")
QUICK = {"hidden": (16,), "iterations": 3}
CLOSED_FORM = ("ridge", "logistic", "neighbours", "trees")


@pytest.fixture(autouse=True)
def _fewer_wide_features(monkeypatch):
    """Wide rows are quick: packed sums all the same."""
    monkeypatch.setattr(feature_maps, "WIDE_FEATURES", 1040)


def spec_of(kind, n_classes=2):
    n_features = {"dense": 5, "few sparse": 20, "sparse": 600, "wide": WIDE}[kind]
    return InputSpec(n_features, n_classes, sparse="sparse" in kind, learned=True)


def learner_of(kind="dense", members=(), memory="200kB", seed=0, n_classes=2, **settings):
    return METHODS["adaptive"].learner(spec_of(kind, n_classes), memory, seed, members=members, **{**QUICK, **settings})


def rows_of(kind, rows, seed=0, shift=0.0, n_classes=2):
    """Rows and labels by a plane, or by which of a few words there are."""
    rng, spec = np.random.default_rng(seed), spec_of(kind, n_classes)
    plane = np.random.default_rng(7).normal(size=(spec.n_features, n_classes))
    if spec.sparse:
        x = np.zeros((rows, spec.n_features), np.float32)
        for row in x:
            row[rng.choice(spec.n_features, 8, replace=False)] = rng.uniform(0.5, 2, 8)
            row[rng.choice(12, 2, replace=False)] = 3.0
        plane[12:] = 0
        return sparse.csr_array(x), (x @ plane).argmax(axis=1)
    x = rng.normal(size=(rows, spec.n_features)).astype(np.float32)
    plane[5:] = 0
    return (x + np.float32(shift)), (x @ plane).argmax(axis=1)


def watch(learner, x, y, size=50, **columns):
    """Learn a stream; what was answered to each row before it was learned."""
    said = []
    for batch in batches_of(x, y, size, **columns):
        said.append(learner.predict_proba(batch.x).numpy())
        learner.observe(batch)
        assert learner.memory.store.nbytes <= learner.memory.budget.nbytes
    return np.concatenate(said)


def joined(*parts):
    x = [part[0] for part in parts]
    rows = np.concatenate(x) if isinstance(x[0], np.ndarray) else sparse.csr_array(sparse.vstack(x))
    return rows, np.concatenate([part[1] for part in parts])


def kinds_of(learner):
    return [change.kind for change in learner.changes]


# --- exactness --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "memory"), [*((kind, "15kB") for kind in KINDS), ("dense", "200kB")])
def test_a_saved_learner_goes_on_bit_for_bit(kind, memory):
    """In the middle of a stream in which labels turn; under a budget that is soon full, and without one."""
    x, y = joined(rows_of(kind, 350), (rows_of(kind, 350, 1)[0], 1 - rows_of(kind, 350, 1)[1]))
    batches = batches_of(x, y)
    first = learner_of(kind, memory=memory)
    for batch in batches[:9]:
        first.observe(batch)
    second = learner_of(kind, memory=memory, seed=5)
    second.load_state_dict(first.state_dict())
    for batch in batches[9:]:
        first.observe(batch)
        second.observe(batch)
    assert_same_state(first.state_dict(), second.state_dict())
    assert torch.equal(first.predict_proba(batches[0].x), second.predict_proba(batches[0].x))


def test_a_network_in_use_resumes_bit_for_bit_too():
    x, y = rows_of("dense", 600)
    first, second = (learner_of(members=("ridge", "network"), seed=seed) for seed in (0, 1))
    first.parts = (first.parts[0], replace(first.parts[1], resting=False))
    batches = batches_of(x, y)
    for batch in batches[:6]:
        first.observe(batch)
    second.load_state_dict(first.state_dict())
    for batch in batches[6:]:
        first.observe(batch)
        second.observe(batch)
    assert_same_state(first.state_dict(), second.state_dict())


def test_the_same_stream_and_seed_give_the_same_learner():
    x, y = rows_of("dense", 300)
    states = []
    for seed in (3, 3, 4):
        learner = learner_of(seed=seed)
        watch(learner, x, y)
        states.append(learner.state_dict())
    assert_same_state(states[0], states[1])
    with pytest.raises(AssertionError):
        assert_same_state(states[0], states[2])


@pytest.mark.parametrize(
    ("kind", "phase"),
    [*(("dense", phase) for phase in PHASES), ("sparse", "teach"), ("sparse", "look_back")],
)
def test_a_batch_that_fails_leaves_everything_as_it_was(kind, phase, monkeypatch):
    """Right after any phase; then the same batch is learned as if nothing had been."""
    x, y = rows_of(kind, 350)
    batches = batches_of(x, y)
    learner, calm = learner_of(kind, memory="15kB"), learner_of(kind, memory="15kB")
    for batch in batches[:4]:
        learner.observe(batch)
        calm.observe(batch)
    before, real = learner.state_dict(), getattr(Ensemble, phase)
    answers = learner.predict_proba(batches[5].x)

    def fails(self, *rest):
        real(self, *rest)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Ensemble, phase, fails)
        with pytest.raises(KeyboardInterrupt):
            learner.observe(batches[4])
    assert_same_state(learner.state_dict(), before)
    assert torch.equal(learner.predict_proba(batches[5].x), answers)
    for batch in batches[4:]:
        learner.observe(batch)
        calm.observe(batch)
    assert_same_state(learner.state_dict(), calm.state_dict())


@pytest.mark.parametrize("kind", KINDS)
def test_the_newest_samples_are_always_those_of_the_memory(kind):
    x, y = rows_of(kind, 500)
    learner = learner_of(kind, ("ridge", "neighbours"), memory="15kB")
    for batch in batches_of(x, y, 40):
        learner.observe(batch)
        anew = Newest.of(learner.memory.store, learner._reader)
        np.testing.assert_array_equal(learner.newest.at, anew.at)
        mine, theirs = (
            each.values.toarray() if sparse.issparse(each.values) else each.values for each in (learner.newest, anew)
        )
        np.testing.assert_array_equal(mine, theirs)


def test_one_row_at_a_time_and_all_at_once():
    x, y = rows_of("dense", 120)
    for size in (1, 120):
        learner = learner_of(members=CLOSED_FORM)
        watch(learner, x, y, size)
        assert (learner.predict_proba(torch.from_numpy(x)).argmax(dim=1).numpy() == y).mean() > 0.85


# --- forgetting by id -------------------------------------------------------------------------------------------------


def sums_of_stored(learner):
    """The second moments and products of what may be learned of the memory, row by row."""
    samples = learner.stored(learnable(learner.memory.store))
    features = samples.rows.features.astype(np.float64)
    weight = np.ones(len(samples)) if samples.weight is None else samples.weight.astype(np.float64)
    n_classes = learner.spec.n_classes
    return (features * weight[:, None]).T @ features, (features * weight[:, None]).T @ np.eye(n_classes)[samples.y]


def forgotten(learner, x, y, weight=None):
    """A stream learned with ids, all of it stored; then a third of it forgotten."""
    columns = {} if weight is None else {"weight": weight}
    learner.keeps_ids = True
    watch(learner, x, y, ids=np.arange(len(y)), **columns)
    assert len(learner.memory) == len(y)
    gone = np.random.default_rng(1).choice(len(y), len(y) // 3, replace=False)
    assert forget_samples(learner, gone) == len(gone)
    assert not np.isin(learner.memory.store.extra["id"], gone).any()


def assert_sums_are_those_of_stored(learner):
    second, products = sums_of_stored(learner)
    np.testing.assert_allclose(learner.parts[0].sums[0].products, products, atol=1e-2, rtol=1e-4)
    np.testing.assert_allclose(learner.parts[0].sums[0].matrix(), second, atol=1e-2, rtol=1e-4)


@pytest.mark.parametrize("kind", ["dense", "few sparse", "sparse"])
def test_a_forgotten_sample_leaves_the_sums(kind):
    x, y = rows_of(kind, 400)
    learner = learner_of(kind, ("ridge",), memory="2MB")
    forgotten(learner, x, y)
    assert_sums_are_those_of_stored(learner)


def test_a_forgotten_sample_leaves_the_sums_with_its_weight():
    x, y = rows_of("dense", 400)
    learner = learner_of(members=("ridge",), memory="2MB")
    learner.class_weight = (1.0, 3.0)
    forgotten(learner, x, y, np.random.default_rng(2).uniform(0.5, 4, 400).astype(np.float32))
    assert_sums_are_those_of_stored(learner)


def test_a_forgotten_sample_leaves_the_sums_of_balanced_classes():
    """Balanced weights move: at first all labels are 0, each of weight 1. What is left is learned anew."""
    x, y = rows_of("dense", 1200)
    order = np.argsort(y, kind="stable")
    learner = learner_of(members=("ridge",), memory="2MB")
    learner.class_weight, learner.keeps_ids = "balanced", True
    watch(learner, x[order], y[order], ids=np.arange(1200))
    forget_samples(learner, np.arange(700))
    assert np.linalg.eigvalsh(learner.parts[0].sums[0].matrix())[0] > -1e-6
    assert_sums_are_those_of_stored(learner)


def turning(*turns, rows=1000, memory="2MB", **settings):
    """A learner of rows whose labels turn after each part, all of them with an id."""
    parts = [rows_of("dense", rows, seed) for seed in range(len(turns))]
    learner = learner_of(members=("ridge",), memory=memory, **settings)
    learner.keeps_ids = True
    x, y = joined(*((x, 1 - y if turned else y) for turned, (x, y) in zip(turns, parts, strict=True)))
    watch(learner, x, y, ids=np.arange(len(y)))
    return learner


def second_moments_from(learner, start):
    """Those of the stored samples that may be learned and have at least this id."""
    store = learner.memory.store
    at = learnable(store)
    features = learner.stored(at[store.extra["id"][at] >= start]).rows.features.astype(np.float64)
    return features.T @ features


def test_samples_of_before_a_change_are_not_taken_out_of_sums_that_never_held_them():
    learner = turning(False, True)
    assert kinds_of(learner) == [CHANGED]
    assert learner.parts[0].snapshots
    start = learner.changes[0].row - BATCH - learner.changes[0].rows_after
    before = learner.parts[0].sums[0]
    assert forget_samples(learner, np.arange(900)) == 900
    np.testing.assert_array_equal(learner.parts[0].sums[0].second, before.second)
    assert learner.parts[0].snapshots == ()  # their weights were taught by what is forgotten
    assert forget_samples(learner, np.arange(950, 1500)) == 550
    assert learner.parts[0].sums[0].rows < before.rows
    np.testing.assert_allclose(
        learner.parts[0].sums[0].second, second_moments_from(learner, max(start, 1500)), atol=1e-2
    )


def test_in_a_full_memory_too_sums_lose_only_what_they_hold():
    """Samples of before and after the change have left it: of those after it, the sums hold more than is stored."""
    learner = turning(False, True, rows=2000, memory="50kB", precision="plain")
    assert kinds_of(learner) == [CHANGED]
    store, before = learner.memory.store, learner.parts[0].sums[0]
    old, new = store.extra["id"][store.extra["id"] < 1900], store.extra["id"][store.extra["id"] >= 2100]
    assert len(old) > 50
    assert 500 < len(new) < 1500
    out = int((store.extra["role"][store.extra["id"] >= 2100] != HELD_OUT).sum())
    forget_samples(learner, old)
    np.testing.assert_array_equal(learner.parts[0].sums[0].second, before.second)
    forget_samples(learner, new)
    assert learner.parts[0].sums[0].rows == before.rows - out
    assert np.linalg.eigvalsh(learner.parts[0].sums[0].second)[0] > -1e-6


def test_after_a_concept_has_come_back_what_is_older_is_learned_anew_without_the_forgotten():
    learner = turning(False, True, False)
    assert kinds_of(learner) == [CHANGED, RECURRED]
    saved = learner_of(members=("ridge",), memory="2MB")
    saved.load_state_dict(learner.state_dict())
    newer = np.arange(learner.changes[-1].row, 3000, 2)
    before = learner.parts[0].sums[0].rows
    out = int((learner.memory.store.extra["role"][newer] != HELD_OUT).sum())
    forget_samples(learner, newer)
    assert learner.parts[0].sums[0].rows == before - out  # these are surely held
    for each in (learner, saved):
        forget_samples(each, np.arange(0, 800, 3))
        assert_sums_are_those_of_stored(each)
        forget_samples(each, np.arange(1, 800, 3))
        assert_sums_are_those_of_stored(each)


def test_after_the_scale_has_moved_what_is_older_is_learned_anew_without_the_forgotten():
    """Sums of two scales do not add up: older samples have other features now."""
    x, y = rows_of("dense", 2000)
    x[1000:, 0] *= 1000
    learner = learner_of(members=("ridge",), memory="2MB")
    learner.keeps_ids = True
    watch(learner, x, y, ids=np.arange(2000))
    assert learner.summed.mixed
    forget_samples(learner, np.arange(500))
    assert_sums_are_those_of_stored(learner)


def test_all_samples_can_be_forgotten():
    for class_weight in (None, "balanced"):
        x, y = rows_of("dense", 300)
        learner = learner_of(members=CLOSED_FORM)
        learner.class_weight, learner.keeps_ids = class_weight, True
        watch(learner, x, y, ids=np.arange(300))
        forget_samples(learner, np.arange(300))
        assert len(learner.memory) == 0
        np.testing.assert_allclose(learner.parts[0].sums[0].second, 0, atol=1e-4)
        more, labels = rows_of("dense", 300, 1)
        watch(learner, more, labels, ids=300 + np.arange(300))
        assert (learner.predict_proba(torch.from_numpy(x)).argmax(dim=1).numpy() == y).mean() > 0.85


@pytest.mark.parametrize(("name", "value"), [("first", 10**6), ("first", -1), ("mixed", 1)])
def test_a_saved_state_that_is_damaged_is_refused(name, value):
    x, y = rows_of("dense", 200)
    learner, other = learner_of(members=("ridge",)), learner_of(members=("ridge",))
    watch(learner, x, y)
    state = learner.state_dict()
    for damaged in ({"summed": {**state["summed"], name: value}}, {"weight_unit": 0.0}, {"weight_unit": np.nan}):
        with pytest.raises(StateError, match=r"summed|weight_unit"):
            other.load_state_dict({**state, **damaged})


@pytest.mark.parametrize("kind", ["dense", "wide"])
def test_what_is_forgotten_is_answered_as_never_learned(kind):
    """One label of half of the rows was wrong: without those, answers are right again."""
    x, y = rows_of(kind, 600)
    wrong = np.random.default_rng(3).random(600) < 0.45
    learner = learner_of(kind, ("ridge",), memory="5MB")
    learner.keeps_ids = True
    watch(learner, x, np.where(wrong, 1 - y, y), ids=np.arange(600))
    other, labels = rows_of(kind, 300, 9)
    right = [(learner.predict_proba(torch.from_numpy(other)).argmax(dim=1).numpy() == labels).mean()]
    forget_samples(learner, np.flatnonzero(wrong))
    place = learner.parts[0].experts.index("1, features")
    answers = learner.parts[0].answers(learner.view(torch.from_numpy(other)), learner.past())[:, place]
    right.append((answers.argmax(axis=1) == labels).mean())
    assert right[1] > right[0] + 0.05


# --- weights of classes and of samples --------------------------------------------------------------------------------


def noisy(rows=700):
    """Labels that the rows say little about."""
    x, y = rows_of("dense", rows)
    return x, np.where(np.random.default_rng(4).random(rows) < 0.35, 1 - y, y)


def share_of_ones(member, class_weight=None, weight=None):
    x, y = noisy()
    learner = learner_of(members=(member,))
    learner.class_weight = class_weight
    if member == "network":
        learner.parts = (replace(learner.parts[0], resting=False),)
    watch(learner, x, y, **({} if weight is None else {"weight": np.where(y == 1, weight, 1).astype(np.float32)}))
    other, _ = rows_of("dense", 400, 5)
    return float(learner.predict_proba(torch.from_numpy(other))[:, 1].mean())


@pytest.mark.parametrize("member", [*CLOSED_FORM, "network", "robust network"])
def test_the_weights_of_classes_and_of_samples_reach_every_member(member):
    even = share_of_ones(member)
    assert even == pytest.approx(0.5, abs=0.12)
    assert share_of_ones(member, class_weight=(1.0, 6.0)) > even + 0.1
    assert share_of_ones(member, weight=6.0) > even + 0.1
    assert share_of_ones(member, class_weight=(6.0, 1.0)) < even - 0.1


@pytest.mark.parametrize("members", [("ridge", "logistic"), ("neighbours", "trees"), ("network",)])
@pytest.mark.parametrize("unit", [1e-3, 1e-6, 1e6])
def test_a_factor_common_to_all_weights_changes_nothing(unit, members):
    """As for every other method: weights that add up to one over a stream are usual."""
    x, y = rows_of("dense", 700)
    other = torch.from_numpy(rows_of("dense", 300, 5)[0])
    own = np.random.default_rng(1).uniform(0.5, 2, 700)
    answers = []
    for each in (1.0, unit):
        learner = learner_of(members=members)
        learner.parts = tuple(
            replace(member, resting=False) if member.name == "network" else member for member in learner.parts
        )
        batches = batches_of(x, y, weight=(each * own).astype(np.float32))
        for batch in batches[:7]:
            learner.observe(batch)
        again = learner_of(members=members)
        again.load_state_dict(learner.state_dict())
        for batch in batches[7:]:
            again.observe(batch)
        answers.append(again.predict_proba(other).numpy())
    assert np.abs(answers[0] - answers[1]).max() < 0.01


def test_a_forgotten_sample_leaves_the_sums_whatever_the_unit_of_weights():
    x, y = rows_of("dense", 400)
    learner = learner_of(members=("ridge",), memory="2MB")
    forgotten(learner, x, y, np.random.default_rng(2).uniform(1e-4, 5e-4, 400).astype(np.float32))
    assert_sums_are_those_of_stored(learner)
    assert learner.parts[0].sums[0].rows == pytest.approx(400 * 2 / 3, rel=0.2)  # in rows of the first batch's mean


# --- drift in the open ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dense", "few sparse", "sparse"])
def test_labels_that_turn_are_a_change_and_are_soon_right_again(kind):
    """Of many columns, 500 rows are waited for before other labels are told from other inputs."""
    first, second = rows_of(kind, 1000), rows_of(kind, 1000, 1)
    learner = learner_of(kind, ("ridge", "neighbours"), memory="2MB")
    said = watch(learner, *joined(first, (second[0], 1 - second[1])))
    assert kinds_of(learner) == [CHANGED]
    assert 1000 < learner.changes[0].row <= (1650 if kind == "sparse" else 1250)
    assert (said.argmax(axis=1)[-300:] == (1 - second[1])[-300:]).mean() > 0.8
    outdated = learner.memory.store.extra["role"] == DORMANT
    assert outdated[:900].mean() > 0.5
    assert outdated[-300:].mean() < 0.2


@pytest.mark.parametrize("kind", ["dense", "few sparse"])
def test_labels_that_turn_are_hardly_ever_taken_for_a_new_task(kind):
    """Streams and learners of twelve seeds."""
    first_changes = []
    for seed in range(12):
        first, second = rows_of(kind, 1000, 100 + seed), rows_of(kind, 250, 200 + seed)
        learner = learner_of(kind, ("ridge",), memory="2MB", seed=seed)
        watch(learner, *joined(first, (second[0], 1 - second[1])))
        first_changes.append(kinds_of(learner)[:1])
    assert first_changes.count([CHANGED]) >= 11


def test_other_inputs_with_labels_of_their_own_are_a_new_task_and_nothing_is_forgotten():
    """The sum of all features moves far away and the labels turn: the plane of before is wrong there, not here."""
    first, second = rows_of("dense", 1000), rows_of("dense", 1000, 1, shift=6.0)
    learner = learner_of(members=("ridge", "neighbours"), memory="2MB")
    watch(learner, *joined(first, (second[0], 1 - second[1])))
    assert CHANGED not in kinds_of(learner)
    assert set(kinds_of(learner)) <= {NEW_TASK}
    old, labels = rows_of("dense", 300, 2)
    assert (learner.predict_proba(torch.from_numpy(old)).argmax(dim=1).numpy() == labels).mean() > 0.85
    assert (learner.memory.store.extra["role"] != DORMANT).all()


def test_a_concept_that_comes_back_is_known_again():
    parts = [rows_of("dense", 900, seed) for seed in range(3)]
    turned = [(x, 1 - y if number == 1 else y) for number, (x, y) in enumerate(parts)]
    learner = learner_of(members=("ridge", "neighbours"), memory="2MB")
    said = watch(learner, *joined(*turned))
    assert CHANGED in kinds_of(learner)
    back = next(change for change in learner.changes if change.kind == RECURRED)
    assert 1800 < back.row <= 2000
    assert (said.argmax(axis=1)[2000:] == joined(*turned)[1][2000:]).mean() > 0.9
    woken = learner.memory.store.extra["role"][:800]
    assert (woken == DORMANT).mean() < 0.1


@pytest.mark.parametrize("kind", ["dense", "few sparse", "sparse"])
def test_nothing_is_noticed_where_nothing_changes(kind):
    learner = learner_of(kind, ("ridge", "neighbours"), memory="100kB")
    x, y = rows_of(kind, 2000)
    noise = np.random.default_rng(0).random(2000) < 0.1
    watch(learner, x, np.where(noise, 1 - y, y))
    assert learner.changes == ()
    assert not (learner.memory.store.extra["role"] == DORMANT).any()


def test_classes_in_turn_are_not_forgotten():
    """Five classes, one after the other: sums answer as if they had come mixed."""
    rng = np.random.default_rng(0)
    means = 3 * np.random.default_rng(1).normal(size=(5, 5))
    y = np.repeat(np.arange(5), 200)
    x = (means[y] + rng.normal(size=(1000, 5))).astype(np.float32)
    for order, least in ((np.arange(1000), 0.9), (rng.permutation(1000), 0.9)):
        learner = learner_of(members=("ridge",), memory="50kB", n_classes=5)
        watch(learner, x[order], y[order])
        labels = rng.integers(0, 5, 500)
        other = torch.from_numpy((means[labels] + rng.normal(size=(500, 5))).astype(np.float32))
        right = learner.predict_proba(other).argmax(dim=1).numpy() == labels
        assert min(right[labels == label].mean() for label in range(5)) > least - 0.15
        assert right.mean() > least


def test_classes_that_come_later_find_room_and_the_others_stay():
    rng = np.random.default_rng(0)
    means = 4 * np.eye(3, 5)
    y = np.repeat([0, 1, 0, 1, 2, 1, 0, 2], 100)
    x = (means[y] + rng.normal(size=(800, 5))).astype(np.float32)
    learner = learner_of(members=CLOSED_FORM)
    watch(learner, x[:400], y[:400])
    learner.add_classes(3)
    watch(learner, x[400:], y[400:])
    labels = rng.integers(0, 3, 300)
    other = torch.from_numpy((means[labels] + rng.normal(size=(300, 5))).astype(np.float32))
    assert (learner.predict_proba(other).argmax(dim=1).numpy() == labels).mean() > 0.85


# --- probabilities ----------------------------------------------------------------------------------------------------


def ece(shares, y):
    """Expected calibration error of the first choice, in ten bins of equal width."""
    sure, right = shares.max(axis=1), shares.argmax(axis=1) == y
    place = np.minimum((sure * 10).astype(int), 9)
    return sum(abs(sure[place == b].sum() - right[place == b].sum()) for b in range(10)) / len(y)


@pytest.mark.parametrize("rare", [0.5, 1 / 11])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_probabilities_come_true(kind, rare):
    """A fifth of the labels is noise; classes are even, or one to ten."""
    rng = np.random.default_rng(6)
    x, y = rows_of(kind, 4000)
    some = np.concatenate(
        [np.flatnonzero(y == 0)[: round(1500 * (1 - rare))], np.flatnonzero(y == 1)[: round(1500 * rare)]]
    )
    some = rng.permutation(some)
    x, y = x[some], np.where(rng.random(len(some)) < 0.1, rng.permutation(y[some]), y[some])
    learner = learner_of(kind, () if kind == "dense" else ("ridge", "neighbours"), memory="300kB")
    said = watch(learner, x, y)
    np.testing.assert_allclose(said.sum(axis=1), 1, atol=1e-5)
    late = slice(len(y) // 3, None)
    assert ece(said[late], y[late]) <= 0.05


# --- the budget -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("memory", ["3kB", "20 samples"])
def test_the_budget_holds_after_every_batch(kind, memory):
    """With ids and weights, which are charged too, and through a change; ``watch`` looks after each batch."""
    first, second = rows_of(kind, 300), rows_of(kind, 200, 1)
    x, y = joined(first, (second[0], 1 - second[1]))
    learner = learner_of(kind, ("ridge", "neighbours"), memory=memory)
    learner.keeps_ids = True
    weight = np.random.default_rng(0).uniform(0.5, 2, 500).astype(np.float32)
    watch(learner, x, y, size=37, ids=np.arange(500), weight=weight)
    assert len(learner.memory) > 0
    assert learner.memory.store.nbytes > 0.5 * learner.memory.budget.nbytes or len(learner.memory) == 500


def test_held_out_rows_are_never_learned():
    """Sums hold all rows but those: their number is that of the rows learned."""
    x, y = rows_of("dense", 500)
    learner = learner_of(members=("ridge",), memory="2MB")
    watch(learner, x, y)
    role = learner.memory.store.extra["role"]
    assert 5 <= (role == HELD_OUT).sum() <= 60
    assert learner.parts[0].sums[0].rows == (role != HELD_OUT).sum()
    assert_sums_are_those_of_stored(learner)
    assert len(stored_rows(learner.memory.store, np.arange(3))) == 3


@pytest.mark.parametrize(
    ("kind", "got"),
    [("dense", "dense rows of 5"), ("few sparse", "sparse rows of 20"), ("wide", f"dense rows of {WIDE}")],
)
def test_the_member_for_sparse_rows_is_refused_for_others_in_one_line(kind, got):
    with pytest.raises(
        ValueError, match=f"the member linear is for sparse rows of at least {WIDE} columns, got {got}$"
    ):
        learner_of(kind, members=("ridge", "linear"))


def test_the_member_for_sparse_rows_learns_them_alone():
    learner = learner_of("sparse", members=("linear",))
    x, y = rows_of("sparse", 400)
    for batch in batches_of(x, y, BATCH):
        learner.observe(batch)
    assert (np.asarray(learner.predict_proba(x)).argmax(axis=1) == y).mean() > 0.8
