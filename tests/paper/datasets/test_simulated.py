from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.paper.datasets.protocols import SIMULATION, Simulation
from smartcl.paper.datasets.simulated import simulate_city, simulated_events
from smartcl.paper.datasets.task_stream import Task, TaskStream

SMALL = {"cities": 4, "days": 400, "keywords": 200, "precursors": 12}


def rows(task: Task) -> tuple[sparse.csr_array, np.ndarray]:
    assert isinstance(task.train.x, sparse.csr_array)
    return task.train.x, task.train.y.numpy()


def pooled_model(stream: TaskStream) -> LogisticRegression:
    parts = [rows(task) for task in stream.tasks]
    x, y = sparse.vstack([x for x, _ in parts]), np.concatenate([y for _, y in parts])
    return LogisticRegression(C=0.05, max_iter=300).fit(x, y)


def mean_auc(stream: TaskStream, model: LogisticRegression) -> float:
    return float(np.mean([roc_auc_score(task.test.y, model.decision_function(task.test.x)) for task in stream.tasks]))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_logistic_regression_finds_what_was_planted(seed: int) -> None:
    events = simulated_events(Simulation(**SMALL), seed=seed)
    model = pooled_model(events.stream)
    strongest = np.argsort(-np.abs(model.coef_[0]))[: len(events.planted)]
    assert len(np.intersect1d(strongest, events.planted)) >= 0.9 * len(events.planted)
    assert mean_auc(events.stream, model) > 0.9


def test_precursors_that_know_nothing_tell_nothing() -> None:
    stream = simulated_events(Simulation(**SMALL, unexplained=1.0)).stream
    assert abs(mean_auc(stream, pooled_model(stream)) - 0.5) < 0.1


def test_the_truth_is_per_city_and_within_what_was_planted() -> None:
    events = simulated_events(Simulation(**SMALL))
    names = events.stream.feature_names
    assert names is not None
    assert len(events.precursors) == len(events.stream.tasks) == 4
    assert len({tuple(city) for city in events.precursors}) > 1
    for city in events.precursors:
        assert all(names[feature].startswith("precursor") for feature in city)
        assert len(city) == 9
    assert sum(name.startswith("precursor") for name in names) == len(events.planted) == 12


def test_precursors_rise_before_events_in_their_own_city_only() -> None:
    events = simulated_events(Simulation(**SMALL, unexplained=0.0))
    for number, task in enumerate(events.stream.tasks):
        x, y = rows(task)
        rise = np.expm1(x[y == 1].toarray()).mean(axis=0) - np.expm1(x[y == 0].toarray()).mean(axis=0)
        own = np.isin(np.arange(len(rise)), events.precursors[number])
        assert rise[own].min() > 0.3
        assert abs(rise[~own].mean()) < 0.05


def test_keywords_are_sparse_and_drift_moves_their_rates() -> None:
    rates = SIMULATION.median_rate * np.exp(SIMULATION.rate_spread * np.random.default_rng(0).normal(size=300))
    none = np.array([], dtype=np.int64)

    def spread(drift: float) -> float:
        counts, _ = simulate_city(
            100 * rates, none, Simulation(days=400, drift=drift, unexplained=0.0), np.random.default_rng(1)
        )
        return float(np.std(np.log(counts[-40:].mean(axis=0) + 1e-3) - np.log(counts[:40].mean(axis=0) + 1e-3)))

    assert spread(0.0) < 0.3 < spread(1.0) < 1.5
    counts, labels = simulate_city(rates, none, Simulation(days=400), np.random.default_rng(1))
    assert 0.02 < (counts > 0).mean() < 0.1
    assert 0.2 < labels.mean() < 0.4


def test_the_default_has_the_shape_of_the_real_data_and_says_that_it_is_not() -> None:
    stream = load_stream("simulated-events", noise="flip:0.2")
    assert stream.name.startswith("simulated")
    assert (len(stream.tasks), stream.n_features, len(stream)) == (10, 923, 60)
    wrong = np.mean([(task.train.y != task.true_y).double().mean() for task in stream.tasks])
    assert 0.17 < wrong < 0.23


def test_the_seed_decides_everything() -> None:
    one, same, other = (simulated_events(Simulation(**SMALL), seed=seed) for seed in (1, 1, 2))
    for mine, again in zip(one.stream.tasks, same.stream.tasks, strict=True):
        np.testing.assert_array_equal(rows(mine)[0].toarray(), rows(again)[0].toarray())
    assert [city.tolist() for city in one.precursors] == [city.tolist() for city in same.precursors]
    assert one.planted.tolist() != other.planted.tolist()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"cities": 0}, "cities and days must be at least 1, got 0"),
        ({"precursors": 0}, r"precursors must be in 1\.\.200"),
        ({"precursors": 201}, r"precursors must be in 1\.\.200, the number of keywords, got 201"),
        ({"drift": -1.0}, "drift must be at least 0"),
        ({"unexplained": 1.5}, r"unexplained must be a share in 0\.\.1, got 1.5"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"noise": "salt:0.1"}, "noise must be one of"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, object], complaint: str) -> None:
    own = {name: value for name, value in arguments.items() if name not in ("seed", "noise")}
    rest = {name: value for name, value in arguments.items() if name not in own}
    with pytest.raises(ValueError, match=complaint):
        simulated_events(Simulation(**{**SMALL, **own}), **rest)
