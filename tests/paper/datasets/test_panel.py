from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from smartcl.data.spec import InputSpec
from smartcl.events.counts import UNKNOWN, count_table
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.panel import Panel, balanced_draw, eligible, panel_stream, rehearsal
from smartcl.paper.datasets.protocols import PanelProtocol
from smartcl.paper.datasets.task_stream import TaskStream

CLEAN = NoiseModel()
HALF = PanelProtocol(train_share=0.5, least_train=3, least_test=2, samples=20)
N_PLACES, N_DAYS, N_KEYWORDS = 4, 60, 12


def random_panel(seed: int = 0) -> tuple[Panel, np.ndarray]:
    """A panel whose last place has no event in training, whose keyword 5 never and 6 only later occurs."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.4, size=(N_PLACES, N_DAYS, N_KEYWORDS))
    counts[:, :, 5] = 0
    counts[:, : N_DAYS // 2, 6] = 0
    labels = rng.choice([0, 1, UNKNOWN], size=(N_PLACES, N_DAYS), p=[0.6, 0.25, 0.15])
    labels[-1, : N_DAYS // 2] = 0
    tables = tuple(count_table(place) for place in counts)
    places = tuple(f"place {i}" for i in range(N_PLACES))
    return Panel(tables, labels, places, tuple(f"word {i}" for i in range(N_KEYWORDS))), counts


def dense(x: object) -> np.ndarray:
    assert isinstance(x, sparse.csr_array)
    assert x.dtype == np.float32
    return x.toarray()


@pytest.mark.parametrize("noise", ["none", "flip:0.4"])
def test_the_stream_is_the_protocol_written_out(noise: str) -> None:
    panel, counts = random_panel()
    stream = panel_stream("toy", panel, HALF, 0, NoiseModel.parse(noise))
    kept = [keyword for keyword in range(N_KEYWORDS) if keyword not in (5, 6)]
    assert stream.task_names == ("place 0", "place 1", "place 2")
    assert stream.feature_names == tuple(f"word {keyword}" for keyword in kept)
    assert stream.spec == InputSpec(len(kept), 2, "float32", sparse=True)
    assert stream.batch_size == 50
    for number, task in enumerate(stream.tasks):
        rows = np.log1p(counts[number][:, kept]).astype(np.float32)
        tested = [day for day in range(N_DAYS // 2, N_DAYS) if panel.labels[number, day] != UNKNOWN]
        np.testing.assert_array_equal(dense(task.test.x), rows[tested])
        assert task.test.y.tolist() == [panel.labels[number, day] for day in tested]
        learned = {(*rows[day].tolist(), int(panel.labels[number, day])) for day in range(N_DAYS // 2)}
        for row, label in zip(dense(task.train.x), task.true_y.tolist(), strict=True):
            assert (*row.tolist(), label) in learned
        assert task.true_y.sum() == 10
        assert len(task.train) == 20
        assert set(task.origin.tolist()) == {number}


def test_noise_relabels_the_same_training_samples() -> None:
    panel, _ = random_panel()
    protocol = PanelProtocol(0.5, 3, 2, samples=2000)
    clean, noisy = (panel_stream("toy", panel, protocol, 1, noise) for noise in (CLEAN, NoiseModel("flip", 0.3)))
    for one, other in zip(clean.tasks, noisy.tasks, strict=True):
        np.testing.assert_array_equal(dense(one.train.x), dense(other.train.x))
        assert torch.equal(one.train.y, one.true_y)
        assert torch.equal(one.true_y, other.true_y)
        assert torch.equal(one.test.y, other.test.y)
        assert 0.25 < (other.train.y != other.true_y).double().mean() < 0.35


def test_a_rehearsal_sees_no_test_day() -> None:
    def rehearsed(panel: Panel) -> TaskStream:
        return panel_stream("toy", *rehearsal(panel, PanelProtocol(0.5, 6, 4, samples=20)), 0, CLEAN)

    panel, counts = random_panel()
    other = counts.copy()
    other[:, N_DAYS // 2 :] += 7
    labels = panel.labels.copy()
    labels[:, N_DAYS // 2 :] = 1
    stream = rehearsed(panel)
    changed = rehearsed(Panel(tuple(count_table(place) for place in other), labels, panel.places, panel.keywords))
    assert stream.task_names == changed.task_names == ("place 0", "place 1", "place 2")
    for number, (task, same) in enumerate(zip(stream.tasks, changed.tasks, strict=True)):
        for part in ("train", "test"):
            np.testing.assert_array_equal(dense(getattr(task, part).x), dense(getattr(same, part).x))
            assert torch.equal(getattr(task, part).y, getattr(same, part).y)
        known = panel.labels[number, N_DAYS // 4 : N_DAYS // 2]
        assert task.test.y.tolist() == known[known != UNKNOWN].tolist()


def test_the_seed_decides_the_draw_and_nothing_else_does() -> None:
    def drawn(seed: int) -> list[list[float]]:
        stream = panel_stream("toy", random_panel()[0], HALF, seed, CLEAN)
        return [dense(task.train.x).sum(axis=1).tolist() for task in stream.tasks]

    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(4)


@given(st.lists(st.sampled_from([0, 1, UNKNOWN]), min_size=2, max_size=40), st.integers(2, 30), st.integers(0, 99))
def test_a_draw_repeats_a_day_only_where_days_are_too_few(days: list[int], n: int, seed: int) -> None:
    labels = np.array([0, 1, *days])
    drawn = balanced_draw(labels, n, np.random.default_rng(seed))
    for label, size in ((0, n - n // 2), (1, n // 2)):
        mine = drawn[labels[drawn] == label]
        assert len(mine) == size
        if (labels == label).sum() >= size:
            assert len(set(mine)) == size
    assert len(drawn) == n


@given(st.integers(0, 99), st.integers(0, 12), st.integers(0, 12))
def test_a_place_counts_if_both_parts_have_enough_of_both(seed: int, least_train: int, least_test: int) -> None:
    labels = np.random.default_rng(seed).choice([0, 1, UNKNOWN], size=(6, 40))
    expected = [
        place
        for place, row in enumerate(labels.tolist())
        if min(row[:25].count(0), row[:25].count(1)) >= least_train
        and min(row[25:].count(0), row[25:].count(1)) >= least_test
    ]
    assert eligible(labels, 25, PanelProtocol(0.625, least_train, least_test)).tolist() == expected


def test_bad_arguments_are_named() -> None:
    panel, _ = random_panel()
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        panel_stream("toy", panel, HALF, -1, CLEAN)
    with pytest.raises(ValueError, match="toy: no place has 31 days of each label in the first 30 days and 2 in the"):
        panel_stream("toy", panel, PanelProtocol(0.5, 31, 2), 0, CLEAN)
    with pytest.raises(ValueError, match="exchanges examples between tasks"):
        panel_stream("toy", panel, HALF, 0, NoiseModel("foreign", 0.1))


@pytest.mark.parametrize(
    ("table", "labels", "places", "complaint"),
    [
        (np.ones((2, 3)), np.zeros((1, 3)), ("a",), r"a: expected \(3, 3\) days x keywords, got \(2, 3\)"),
        (np.ones((2, 3)), np.zeros((2, 2)), ("a",), "got 1 tables, labels of the shape"),
        (np.ones((2, 3)), np.zeros((1, 2)), ("a", "b"), "and 2 names"),
        (np.full((2, 3), -1.0), np.zeros((1, 2)), ("a",), "counts must be finite and not negative"),
        (np.full((2, 3), np.nan), np.zeros((1, 2)), ("a",), "counts must be finite and not negative"),
    ],
)
def test_a_panel_that_does_not_fit_is_refused(
    table: np.ndarray, labels: np.ndarray, places: tuple[str, ...], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        Panel((count_table(table),), labels.astype(np.int64), places)


def test_small_integers_lose_nothing_in_the_logarithm() -> None:
    counts = np.arange(1, 256, dtype=np.uint8).reshape(-1, 1)
    labels = np.arange(255).reshape(1, -1) % 2
    stream = panel_stream("toy", Panel((count_table(counts),), labels, ("a",)), PanelProtocol(0.5, 1, 1), 0, CLEAN)
    np.testing.assert_array_equal(dense(stream.tasks[0].test.x)[:, 0], np.log1p(np.arange(128.0, 256)).astype("f4"))


def test_names_must_be_one_per_feature_and_task() -> None:
    with pytest.raises(ValueError, match="one name per feature: 2 features, 1 names"):
        TaskStream("toy", InputSpec(2, 2), (), 50, 0, feature_names=("a",))
    with pytest.raises(ValueError, match="one name per task: 0 tasks, 1 names"):
        TaskStream("toy", InputSpec(2, 2), (), 50, 0, task_names=("a",))
