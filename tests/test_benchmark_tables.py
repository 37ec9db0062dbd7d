"""The comparison on tables: what is predicted before it is learned, on which labels, and rivals that are what they say.

Each rival is held against scikit-learn or against its formula over all rows at once.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge as LinearRidge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks import tables
from benchmarks.rivals import RIVALS, Neighbours, Ridge
from benchmarks.tables import Data, Stream, as_probabilities, contenders, figures, run_on
from smartcl.paper.datasets.real_streams import RealStream
from smartcl.paper.datasets.stream_suite import SuiteFile
from smartcl.paper.peers.baselines import Commonest, LastLabel

FEATURES, CLASSES = 4, 3


def made_rows(rows: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three overlapping clouds, one column of large values far from zero."""
    rng = np.random.default_rng(seed)
    y = rng.integers(CLASSES, size=rows)
    X = rng.normal(size=(rows, FEATURES)) + np.array([[2, 0, -1, 1], [0, 2, 1, 0], [-1, -1, 0, 2]])[y]
    X[:, 3] = 1e4 + 100 * X[:, 3]
    return X.astype(np.float32), y


def data_of(X: np.ndarray, y: np.ndarray, learned: int) -> Data:
    return Data(X, y, y, CLASSES, learned, seeded=False)


class Recorder:
    """Answers class 0 and writes down what happens."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[float], list[int] | None]] = []

    def learn(self, X: np.ndarray, y: np.ndarray) -> None:
        self.calls.append(("learn", X[:, 0].tolist(), y.tolist()))

    def scores(self, X: np.ndarray) -> np.ndarray:
        self.calls.append(("predict", X[:, 0].tolist(), None))
        return np.tile([1.0, 0.0, 0.0], (len(X), 1))


def test_batches_are_predicted_then_learned_with_the_taught_labels_and_frozen_rows_only_predicted() -> None:
    X = np.arange(230, dtype=np.float32)[:, None]
    y = np.arange(230) // 50 % 2  # clean: the second and the fourth batch are of class 1
    online, taught = Recorder(), np.full(230, 2)
    runs = run_on(online, Data(X, y, taught, CLASSES, 180, seeded=False))
    batches = [(0, 50), (50, 100), (100, 150), (150, 180)]
    expected = [("learn", batches[0])]
    expected += [(what, batch) for batch in batches[1:] for what in ("predict", "learn")]
    expected.append(("predict", (180, 230)))
    assert [(what, (rows[0], rows[-1] + 1)) for what, rows, _ in online.calls] == expected
    assert {label for what, _, labels in online.calls if what == "learn" for label in labels or []} == {2}
    assert runs[""].scores["accuracy"] == pytest.approx(100 * 50 / 130)
    assert runs[", then frozen"].scores["accuracy"] == pytest.approx(100 * 30 / 50)
    assert runs[""].scores["worst_gap"] == 0  # the commonest class that was taught is never right


def test_noise_is_in_what_is_learned_and_a_stream_is_cut_where_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = made_rows(4000)
    real = RealStream(X, y, tuple("abcd"), tuple("xyz"), "here")
    monkeypatch.setattr(tables, "load_real_stream", lambda name: real)
    data = Stream("elec", start=100, rows=3000, frozen=200, noise=0.3).read(seed=1)
    np.testing.assert_array_equal(data.X, X[100:3300])
    np.testing.assert_array_equal(data.y, y[100:3300])
    assert (data.learned, data.seeded) == (3000, True)
    # a redrawn label is the true one in a third of the cases
    assert (data.taught != data.y).mean() == pytest.approx(0.2, abs=0.03)
    few = Stream("elec", rows=3000).read(seed=1, most=500)
    assert (len(few.X), few.learned, few.seeded) == (500, 500, False)
    np.testing.assert_array_equal(few.taught, few.y)
    assert Stream("elec", start=3900).read(seed=0).learned == 100


def test_a_stream_of_the_suite_is_seeded_if_it_has_a_part_for_each_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [made_rows(60, seed) for seed in range(5)]
    for count in (1, 5):
        suite = SuiteFile.of(parts[:count], (), False)
        monkeypatch.setattr(tables, "read_suite_file", lambda path, suite=suite: suite)
        data = Stream("rbf-drift").read(seed=2)
        assert data.seeded == (count > 1)
        np.testing.assert_array_equal(data.X, parts[2 if count > 1 else 0][0])


@pytest.mark.parametrize("name", list(RIVALS))
def test_a_rival_gives_probabilities_from_the_first_batch_on(name: str) -> None:
    if not contenders([name], "100kB"):
        pytest.skip(f"{RIVALS[name].package} is not installed")
    X, y = made_rows()
    y[:60] = 1  # one class alone at first
    found = run_on(RIVALS[name].build(FEATURES, CLASSES, 0), data_of(X, y, 350))
    assert found[""].scores["accuracy"] > (60 if name not in ("always-commonest", "repeat-last") else 20)
    model = RIVALS[name].build(FEATURES, CLASSES, 0)
    for part in (slice(0, 50), slice(50, 100), slice(100, 150)):
        model.learn(X[part], y[part])
        rows = as_probabilities(model.scores(X[200:220]))
        assert rows.shape == (20, CLASSES)
        assert rows.min() >= 0
        np.testing.assert_allclose(rows.sum(axis=1), 1)


def test_ridge_out_of_sums_is_ridge_on_all_rows_at_once() -> None:
    X, y = made_rows()
    ours = Ridge(FEATURES, CLASSES)
    for part in np.array_split(np.arange(300), 7):
        ours.learn(X[part], y[part])
    scaler = StandardScaler().fit(X[:300].astype(np.float64))
    theirs = LinearRidge(alpha=1.0).fit(scaler.transform(X[:300].astype(np.float64)), np.eye(CLASSES)[y[:300]])
    expected = np.clip(theirs.predict(scaler.transform(X[300:].astype(np.float64))), 1e-3, 1)
    np.testing.assert_allclose(ours.scores(X[300:]), expected / expected.sum(axis=1, keepdims=True), atol=1e-4)


def test_neighbours_are_those_of_scikit_learn_among_the_newest_rows() -> None:
    X, y = made_rows(2500)
    ours = Neighbours(FEATURES, CLASSES)
    for part in np.array_split(np.arange(2400), 24):
        ours.learn(X[part], y[part])
    scaler = StandardScaler().fit(X[400:2400])
    theirs = KNeighborsClassifier(7).fit(scaler.transform(X[400:2400]), y[400:2400])
    votes = theirs.predict_proba(scaler.transform(X[2400:])) * 7
    np.testing.assert_allclose(ours.scores(X[2400:]), (votes + 1 / CLASSES) / 8, atol=1e-6)


def test_the_commonest_and_the_last_label_are_answered() -> None:
    common, last = Commonest(CLASSES), LastLabel(CLASSES)
    for labels in ([0, 0, 1], [0, 2, 1], [1, 1, 2]):
        for each in (common, last):
            each.learn(np.zeros((3, 1), np.float32), np.array(labels))
    assert common.scores(np.zeros((1, 1), np.float32))[0] == pytest.approx(np.array([4, 5, 3]) / 12)
    row = last.scores(np.zeros((1, 1), np.float32))[0]
    assert row.argmax() == 2
    # of six answers three were right; one right answer in three is assumed before
    assert row[2] == pytest.approx(4 / 9)


def test_figures_are_means_and_deviations_over_runs() -> None:
    X, y = made_rows()
    runs = [run_on(RIVALS["logistic"].build(FEATURES, CLASSES, seed), data_of(X, y, 400))[""] for seed in range(3)]
    [line] = figures({("made", "logistic"): runs})
    accuracies = [run.scores["accuracy"] for run in runs]
    assert line["figure"] == "made, logistic: accuracy"
    assert (line["measured"], line["n"]) == (pytest.approx(np.mean(accuracies)), 3)
    assert line["deviations"]["accuracy"] == pytest.approx(np.std(accuracies, ddof=1), abs=1e-4)  # type: ignore[index]
    assert len(line["tenths"]) == 10  # type: ignore[arg-type]


def test_a_row_without_scores_says_that_all_classes_are_equally_likely() -> None:
    found = as_probabilities(np.array([[2.0, 2.0, 0.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(found, [[0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]])


def test_who_is_not_installed_is_left_out_with_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tables, "find_spec", lambda package: None if package == "river" else object())
    assert list(contenders(["default", "river-arf", "ridge"], "20kB")) == ["default in 20kB", "ridge"]
    assert capsys.readouterr().err == "river-arf: left out, the package river is not installed\n"
