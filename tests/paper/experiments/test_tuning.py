"""Settings chosen where the validation is best: strengths for Table 3, kept in a file, and steps on event streams."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from smartcl.learners.methods import METHODS
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.paper.datasets.digits import DigitImages
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.paper_tables import EVENT_STEPS, STRENGTHS, tuned_rows
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.tuning import (
    FACTORS,
    STEP_RUNS,
    STEPS,
    STRENGTH_RUNS,
    at_the_edge,
    best_steps,
    best_strengths,
    candidates,
    mean_scores,
    write_strengths,
)

COMMITTED = ResultFolder(Path(__file__).parents[3] / "results")


def save_strengths(results: ResultFolder, best: dict[str, float], seeds: int = 2) -> None:
    """Runs whose accuracy falls with the distance (in decades) from the best factor."""
    for row in STRENGTH_RUNS.rows:
        factor = row.parameters["strength"] / METHODS[row.method].parameters["strength"]
        for seed in range(seeds):
            accuracy = 80.0 + seed - abs(float(np.log10(factor / best[row.method])))
            results.save(STRENGTH_RUNS.spec(row, "clean", seed), {"accuracy": accuracy})


def test_the_best_of_one_grid_for_all_is_chosen(tmp_path):
    methods = ["ewc", "si", "l2", "mas", "ncc", "ewc-online"]
    best = dict(zip(methods, [100.0, 1.0, 10.0, 0.1, 1.0, 0.01], strict=True))
    results = ResultFolder(tmp_path / "results")
    save_strengths(results, best)
    found = best_strengths(STRENGTH_RUNS, 2, results)
    assert found == {"ewc": 10_000.0, "si": 3000.0, "l2": 5.0, "mas": 1000.0, "ncc": 250.0, "ewc-online": 7.0}
    assert at_the_edge(found) == ["ewc", "ewc-online"]
    assert best_strengths(STRENGTH_RUNS, 3, results) == {}  # the third seed is missing, so nothing is decided
    [path] = write_strengths({"chosen": found}, tmp_path / "made")
    rows = {row.label: row for row in tuned_rows(path)}
    assert json.loads(path.read_text()) == found
    assert rows["L2, tuned"].parameters == {"strength": 5.0}
    assert rows["L2, tuned"].printed == "L2"
    assert rows["SI, tuned"].parameters == {}  # the usual strength: the runs of the usual row
    assert rows["online EWC, tuned"].seeds == 5
    assert write_strengths({"chosen": {"ewc": 1.0}}, tmp_path / "part") == []


def test_every_regulariser_has_the_same_number_of_tries():
    tries = [row.method for row in candidates()]
    assert {method: tries.count(method) for method in tries} == dict.fromkeys(tries, len(FACTORS))
    assert set(tries) == {row.method for row in TABLES["table3"].rows} - {"finetune"}


def test_tuning_sees_neither_the_tables_seeds_nor_the_test_images(monkeypatch):
    assert not {spec.seed for spec in STRENGTH_RUNS.specs(STRENGTH_RUNS.seeds)} & set(range(100))
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (400, 64)).astype(np.uint8)
    labels = np.arange(400) % 10
    images = DigitImages(pixels[:300], labels[:300], pixels[300:], labels[300:], "mnist", 255, "made here")
    monkeypatch.setattr("smartcl.paper.datasets.digit_pairs.mnist_or_digits", lambda _: images)
    stream = load_stream(STRENGTH_RUNS.dataset, seed=1000)
    test = {row.tobytes() for row in images.test_x}
    for task in stream.tasks:
        seen = {row.reshape(12, 12)[2:-2, 2:-2].tobytes() for row in task.test.x.numpy()}
        assert seen
        assert not seen & test


def test_the_strengths_kept_are_those_the_committed_runs_choose():
    assert best_strengths(STRENGTH_RUNS, STRENGTH_RUNS.seeds, COMMITTED) == json.loads(STRENGTHS.read_text())


def save_steps(results: ResultFolder, auc: dict[int, float]) -> None:
    """The AUC at so many steps, a little more on each further stream."""
    for row in STEP_RUNS.rows:
        for number, column in enumerate(STEP_RUNS.columns):
            for seed in range(2):
                scores = dict.fromkeys(STEP_RUNS.metrics, auc[row.parameters["iterations"]] + 0.01 * number)
                results.save(STEP_RUNS.spec(row, column, seed), scores)


def test_the_best_mean_auc_over_the_streams_is_chosen(tmp_path):
    results = ResultFolder(tmp_path)
    assert best_steps(mean_scores(STEP_RUNS, 2, results)) is None
    save_steps(results, dict(zip(STEPS, [0.5, 0.6, 0.7, 0.7, 0.4], strict=True)))
    means = mean_scores(STEP_RUNS, 2, results)
    assert abs(means["auc"][5] - 0.73) < 1e-12  # 0.7 and the mean of 0.00 ... 0.06
    assert best_steps(means) == 5
    assert best_steps(mean_scores(STEP_RUNS, 3, results)) is None  # the third seed is missing, so nothing is decided


def test_the_streams_are_those_of_table_4_without_their_test_days():
    assert [name.removesuffix("-validation") for name in STEP_RUNS.columns] == list(TABLES["table4"].columns)
    assert all(name.endswith("-validation") for name in STEP_RUNS.columns)
    assert not {spec.seed for spec in STEP_RUNS.specs()} & set(range(100))


def test_the_tables_use_the_steps_that_the_committed_runs_choose():
    assert best_steps(mean_scores(STEP_RUNS, STEP_RUNS.seeds, COMMITTED)) == EVENT_STEPS
