from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from smartcl.paper.datasets.corruption import NoiseModel, corrupt, misplace, other_label, redraw_label

N = 100_000
seeds = st.integers(0, 2**32 - 1)
ratios = st.floats(0, 1)


def labels(n_labels: int, seed: int = 0, n: int = N) -> np.ndarray:
    return np.random.default_rng([seed, 99]).integers(0, n_labels, size=n)


def looks_uniform(counts: np.ndarray) -> bool:
    return bool(stats.chisquare(counts).pvalue > 1e-4)


def looks_like_share(hits: np.ndarray, share: float) -> bool:
    return bool(stats.binomtest(int(hits.sum()), len(hits), share).pvalue > 1e-4)


@pytest.mark.parametrize("text", ["none", "foreign:0.3", "uniform:1", "flip:0", "flip:0.125"])
def test_a_noise_model_reads_back_as_it_was_written(text: str) -> None:
    assert str(NoiseModel.parse(text)) == text
    assert NoiseModel.parse(NoiseModel.parse(text)) == NoiseModel.parse(text)


@given(st.sampled_from(["foreign", "foreign-skewed", "uniform", "flip"]), ratios)
def test_a_noise_model_has_one_text_that_loses_nothing(kind: str, ratio: float) -> None:
    model = NoiseModel(kind, ratio)
    assert NoiseModel.parse(str(model)) == model
    assert str(NoiseModel.parse("foreign:0.30")) == str(NoiseModel.parse("foreign:3e-1")) == "foreign:0.3"


@pytest.mark.parametrize(
    "text", ["", "flip", "flip:", "flip:x", "flip:1.01", "flip:-0.1", "flip:nan", "salt:0.1", "none:0.1", "FLIP:0.1"]
)
def test_what_is_allowed_is_listed(text: str) -> None:
    with pytest.raises(
        ValueError, match="'foreign:RATIO', 'foreign-skewed:RATIO', 'uniform:RATIO', 'flip:RATIO', 'none'"
    ) as refusal:
        NoiseModel.parse(text)
    assert repr(text) in str(refusal.value)


@pytest.mark.parametrize("ratio", [0.1, 0.3, 0.5])
def test_foreign_draws_every_other_digit_alike(ratio: float) -> None:
    true = labels(10)
    shown = misplace(true, 10, NoiseModel("foreign", ratio), np.random.default_rng(1))
    assert looks_like_share(shown != true, ratio)
    for digit in range(10):
        wrong = shown[(true == digit) & (shown != true)]
        counts = np.bincount(wrong, minlength=10)
        assert counts[digit] == 0
        assert looks_uniform(np.delete(counts, digit))


@pytest.mark.parametrize("ratio", [0.1, 0.3, 1.0])
def test_flip_gives_the_other_label_at_its_ratio(ratio: float) -> None:
    true = labels(2)
    wrong = corrupt(true, 2, NoiseModel("flip", ratio), np.random.default_rng(1)) != true
    assert wrong.all() if ratio == 1 else looks_like_share(wrong, ratio)
    for label in (0, 1):
        assert ratio == 1 or looks_like_share(wrong[true == label], ratio)


@pytest.mark.parametrize("n_labels", [2, 5])
def test_uniform_leaves_its_fair_share_right(n_labels: int) -> None:
    true = labels(n_labels)
    drawn = corrupt(true, n_labels, NoiseModel("uniform", 0.4), np.random.default_rng(1))
    assert looks_like_share(drawn != true, 0.4 * (1 - 1 / n_labels))
    redrawn = corrupt(np.zeros(N, dtype=np.int64), n_labels, NoiseModel("uniform", 1.0), np.random.default_rng(1))
    assert looks_uniform(np.bincount(redrawn, minlength=n_labels))


@given(seeds, ratios, st.integers(2, 12), st.integers(0, 30))
def test_labels_stay_labels_and_the_input_stays(seed: int, ratio: float, n_labels: int, n: int) -> None:
    true = labels(n_labels, seed, n)
    before = true.copy()
    for relabel in (other_label, redraw_label):
        wrong = relabel(true, n_labels, ratio, np.random.default_rng(seed))
        assert wrong.shape == (n,)
        assert wrong.dtype == np.int64
        assert ((wrong >= 0) & (wrong < n_labels)).all()
        np.testing.assert_array_equal(true, before)
        np.testing.assert_array_equal(wrong, relabel(true, n_labels, ratio, np.random.default_rng(seed)))
    assert (other_label(true, n_labels, 1.0, np.random.default_rng(seed)) != true).all()
    np.testing.assert_array_equal(other_label(true, n_labels, 0.0, np.random.default_rng(seed)), true)


@given(seeds, ratios, ratios)
def test_more_noise_adds_to_less_noise(seed: int, one: float, two: float) -> None:
    true = labels(10, seed, 200)
    for relabel in (other_label, redraw_label):
        less = relabel(true, 10, min(one, two), np.random.default_rng(seed))
        more = relabel(true, 10, max(one, two), np.random.default_rng(seed))
        np.testing.assert_array_equal(more[less != true], less[less != true])


def test_each_stage_leaves_the_noise_of_the_other_alone() -> None:
    true = labels(2, n=100)
    rng = np.random.default_rng(0)
    assert corrupt(true, 2, NoiseModel(), rng) is true
    for kind in ("uniform", "flip"):
        assert misplace(true, 10, NoiseModel(kind, 1.0), rng) is true


def test_foreign_noise_within_a_task_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'foreign:0\.5' exchanges examples between tasks.*'flip:RATIO'"):
        corrupt(labels(2, n=4), 2, NoiseModel("foreign", 0.5), np.random.default_rng(0))


def test_the_skewed_draw_never_gives_the_last_label_and_changes_nine_in_ten_of_what_it_hits() -> None:
    true = labels(10, n=60_000)
    shown = misplace(true, 10, NoiseModel("foreign-skewed", 0.3), np.random.default_rng(1))
    assert not (shown[true != 9] == 9).any()
    assert (shown != true).mean() == pytest.approx(0.27, abs=0.01)
    assert np.bincount(shown[shown != true], minlength=10)[:9] == pytest.approx(1800, rel=0.1)
