"""Steps a batch on event streams: chosen by the mean AUC on training days, of runs that are all there."""

from __future__ import annotations

from pathlib import Path

from smartcl.paper.experiments.events_tuning import STEPS, TUNING, best_steps, mean_scores
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.tables import EVENT_STEPS, TABLES

COMMITTED = ResultFolder(Path(__file__).parents[3] / "results")


def save(results: ResultFolder, auc: dict[int, float]) -> None:
    """The AUC at so many steps, a little more on each further stream."""
    for row in TUNING.rows:
        for number, column in enumerate(TUNING.columns):
            for seed in range(2):
                scores = dict.fromkeys(TUNING.metrics, auc[row.parameters["iterations"]] + 0.01 * number)
                results.save(TUNING.spec(row, column, seed), scores)


def test_the_best_mean_auc_over_the_streams_is_chosen(tmp_path):
    results = ResultFolder(tmp_path)
    assert best_steps(mean_scores(TUNING, 2, results)) is None
    save(results, dict(zip(STEPS, [0.5, 0.6, 0.7, 0.7, 0.4], strict=True)))
    means = mean_scores(TUNING, 2, results)
    assert abs(means["auc"][5] - 0.73) < 1e-12  # 0.7 and the mean of 0.00 ... 0.06
    assert best_steps(means) == 5
    assert best_steps(mean_scores(TUNING, 3, results)) is None  # the third seed is missing, so nothing is decided


def test_the_streams_are_those_of_table_4_without_their_test_days():
    assert [name.removesuffix("-validation") for name in TUNING.columns] == list(TABLES["table4"].columns)
    assert all(name.endswith("-validation") for name in TUNING.columns)
    assert not {spec.seed for spec in TUNING.specs()} & set(range(100))


def test_the_tables_use_the_steps_that_the_committed_runs_choose():
    assert best_steps(mean_scores(TUNING, TUNING.seeds, COMMITTED)) == EVENT_STEPS
