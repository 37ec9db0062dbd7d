"""Doubt follows the stream's noise, and moves the loss."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from helpers import SMALL, assert_same_state, small_batches, small_spec
from smartcl.extend import Batch, InputSpec
from smartcl.learners.learner import Labelled, Learner
from smartcl.learners.losses import lessons
from smartcl.learners.method_settings import Scepticism
from smartcl.learners.methods import build_learner
from smartcl.learners.recipe import Recipe
from smartcl.learners.sceptic import FULL_DOUBT, Sceptic, Taught
from smartcl.network.inputs import prepare
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.selection.reservoir import Reservoir

RECIPE = Recipe((12,), lr=1e-2, iterations=3, replay=10)


def sceptic(**how: float) -> Sceptic:
    off = {"dropout": 0.0, "robust": 0.0, "distill": 0.0}
    recipe = Scepticism((12,), lr=1e-2, iterations=3, replay=10, **{**off, **how})
    return Sceptic(small_spec(), 900, recipe, Reservoir())


def slope_of(learner: Sceptic, new: Labelled, replay: Taught) -> torch.Tensor:
    parts = [new, replay.samples]
    with torch.no_grad():
        return learner.cautious_slope(learner.model.network(new[0], replay.rows), parts, replay)


def test_without_scepticism_it_is_the_plain_learner():
    plain, mine = Learner(small_spec(), 900, RECIPE, Reservoir()), sceptic()
    first = small_batches()[0]
    plain.observe(first)
    mine.observe(first)
    x = small_batches(seed=4)[0].x
    torch.testing.assert_close(plain.predict_proba(x), mine.predict_proba(x), atol=1e-6, rtol=0)


def test_the_running_share_of_contradictions_by_hand():
    learner = sceptic()
    expected = FULL_DOUBT
    for batch in small_batches():
        learner.observe(batch)
        answers = learner.model.network(prepare(batch.x, learner.spec)).argmax(dim=1)
        share = float((answers != batch.y).double().mean())
        kept = (1 - 1 / 500) ** len(batch)
        expected = kept * expected + (1 - kept) * share
        assert learner.contradicted == pytest.approx(expected)
        assert learner.doubt == pytest.approx(min(1.0, expected / FULL_DOUBT))


def test_doubt_tells_a_noisy_stream_from_a_clean_one():
    shares = {}
    for noise in ("none", "flip:0.3"):
        stream = load_stream("disjoint-digits", seed=0, noise=noise)
        learner = build_learner("smart", stream.spec, "100 samples", 0, hidden=(64,), lr=3e-3)
        for batch in stream:
            learner.observe(batch)
        assert isinstance(learner, Sceptic)
        shares[noise] = learner.contradicted
    assert shares["none"] < 0.1
    assert shares["flip:0.3"] > 0.15


def test_under_full_doubt_half_as_much_is_replayed():
    learner = sceptic()
    for batch in small_batches():
        learner.observe(batch)
    sizes = []
    for contradicted in (0.0, FULL_DOUBT / 2, 1.0):
        learner.contradicted = contradicted
        sizes.append([len(index) for index in learner.draw_steps()])
    assert sizes == [[10] * 3, [8] * 3, [5] * 3]


def test_a_large_memory_is_replayed_in_rotating_parts(monkeypatch):
    learner = sceptic()
    for batch in small_batches():
        learner.observe(batch)
    held = len(learner.memory)
    monkeypatch.setattr("smartcl.learners.sceptic.ROTATION", 6)
    assert held > 2 * 6
    drawn = [set(np.concatenate(learner.draw_steps()).tolist()) for _ in range(20)]
    assert all(len(each) <= 6 for each in drawn)
    assert len(set.union(*drawn)) > held / 2


def test_the_teacher_speaks_for_the_samples_that_are_drawn():
    learner = sceptic(distill=1.0)
    for batch in small_batches():
        learner.observe(batch)
    learner.contradicted = 0.0
    draws = [np.array([3, 0]), np.array([5, 3])]
    for index, replay in zip(draws, learner.teach_steps(draws), strict=True):
        assert replay is not None
        rows, y, _ = learner.read_weighted(learner.memory.store, index)
        assert isinstance(rows, torch.Tensor)
        assert isinstance(replay.rows, torch.Tensor)
        assert torch.equal(replay.rows, rows)
        assert torch.equal(replay.y, y)
        torch.testing.assert_close(replay.lesson, lessons(learner.model.predictor(rows).softmax(dim=1), y))
        assert bool(replay.lesson.any())


def test_full_doubt_silences_the_teacher():
    learner = sceptic(distill=5.0, robust=0.7)
    for batch in small_batches():
        learner.observe(batch)
    new = Labelled(prepare(batch.x, learner.spec), batch.y)
    pulls = []
    for contradicted in (0.0, 1.0):
        learner.contradicted = contradicted
        (replay,) = learner.teach_steps([np.arange(4)])
        assert replay is not None
        silent = replay._replace(lesson=torch.zeros_like(replay.lesson))
        taught, untaught = (slope_of(learner, new, each) for each in (replay, silent))
        pulls.append(float((taught - untaught).abs().sum()))
    assert pulls[0] > 0
    assert pulls[1] == 0


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("dropout", 1.0, r"dropout .* \[0, 1\)"), ("robust", 1.5, r"robust .* \[0, 1\]"), ("distill", -1.0, "distill")],
)
def test_settings_out_of_range_are_refused(name, value, words):
    with pytest.raises(ValueError, match=words):
        build_learner("smart", small_spec(), 900, **{**SMALL, name: value})


def test_what_a_batch_replays_wakes_together(monkeypatch):
    """The first step finds every row active that any step's replay needs, and asking the teacher changes none."""
    monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    learner = build_learner("smart", small_spec(sparse_rows=True), 900, **SMALL)
    batches = small_batches(sparse_rows=True)
    for batch in batches[:3]:
        learner.observe(batch)
    table = learner.model.network.table
    assert isinstance(learner, Sceptic)
    assert table is not None
    before = table.state_dict()
    journal = table.begin()
    draws = learner.draw_steps()
    next(iter(learner.teach_steps(draws)))
    rows, *_ = learner.read_weighted(learner.memory.store, np.unique(np.concatenate(draws)))
    active, _ = table.active
    assert set(table._row_of[rows.indices].tolist()) == set(active.tolist())
    table.rollback(journal)
    assert_same_state(table.state_dict(), before)


def test_a_label_that_only_its_class_s_frequency_speaks_against_is_not_contradicted():
    """One that is right among the classes as they count, or as they are stored, is not taken for wrong."""
    learner = sceptic()
    batch = small_batches()[0]
    learner.observe(batch)
    new = Labelled(prepare(batch.x, learner.spec), batch.y)
    answers = learner.model.network(new[0]).argmax(dim=1)
    wrong = Labelled(new.rows, 1 - answers)
    kept = (1 - 1 / 500) ** len(batch)
    assert learner.updated_share(wrong) == pytest.approx(kept * learner.contradicted + (1 - kept))
    learner.overstated = torch.tensor([0.0, 100.0])
    zeros = float((wrong[1] == 0).double().mean())
    assert 0 < zeros < 1
    assert learner.updated_share(wrong) == pytest.approx(kept * learner.contradicted + (1 - kept) * zeros)


def test_in_a_rare_stream_replay_is_true_to_the_frequency_and_the_teacher_to_itself():
    learner = sceptic(distill=1.0)
    for batch in small_batches():
        learner.observe(batch)
    learner.contradicted = 0.0
    new = Labelled(prepare(batch.x, learner.spec), batch.y)
    (replay,) = learner.teach_steps([np.arange(6)])
    assert replay is not None
    learner.overstated = torch.tensor([0.0, 2.0])
    logits = learner.model.network(new[0], replay.rows).detach().requires_grad_()
    fresh, again = torch.split(logits, [len(batch.y), 6])
    shifted = again + torch.tensor([0.0, 2.0])
    losses = [F.cross_entropy(rows, y, reduction="sum") for rows, y in ((fresh, batch.y), (shifted, replay.y))]
    taught = -(replay.lesson * again.log_softmax(dim=1)).sum(dim=1).mean()
    (sum(losses) / len(logits) + taught).backward()
    torch.testing.assert_close(slope_of(learner, new, replay), logits.grad)


def test_a_rare_class_is_found_as_seldom_as_it_comes():
    """One in a hundred, and nothing tells which: to smooth labels evenly would be to find two or three."""
    rng = np.random.default_rng(0)
    learner = build_learner("smart", InputSpec(4, 2), "20kB", seed=0, hidden=(32, 32))
    for _ in range(60):
        x, y = rng.normal(size=(50, 4)).astype(np.float32), rng.random(50) < 0.01
        learner.observe(Batch(torch.from_numpy(x), torch.from_numpy(y.astype(np.int64))))
    x = torch.from_numpy(rng.normal(size=(500, 4)).astype(np.float32))
    assert 0.003 < float(learner.predict_proba(x)[:, 1].mean()) < 0.018
