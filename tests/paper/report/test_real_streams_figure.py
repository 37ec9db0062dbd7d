"""The first screen and the places on real streams, out of results made by hand."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from smartcl.cli.app import call
from smartcl.paper.experiments import peers_process
from smartcl.paper.experiments.real_stream_tables import (
    COMMON,
    DEFAULT,
    IN_FIFTIES,
    NOISE_TABLE,
    ROW_BY_ROW,
    STREAMS,
    real_streams_data,
    with_rows,
)
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.report.charts import placed_names
from smartcl.paper.report.glance import users_glance
from smartcl.paper.report.loaded_runs import Runs
from smartcl.paper.report.real_streams_figure import place_grids
from smartcl.paper.report.svg import Key
from smartcl.paper.report.table_grids import metric_grids

COSTS = {"cpu_seconds": 1.0, "rows": 900}


def fill(folder) -> None:
    """The first four rows on all streams they take: the default best, by less and less."""
    results = ResultFolder(folder)
    for place, row in enumerate(ROW_BY_ROW.rows[:4]):
        for number, column in enumerate(STREAMS):
            made = {"accuracy": 90.0 - place * (1 + number / 10), "auc": 0.9, "calibration_error": 0.01, **COSTS}
            speed = {"rows_a_second": 10.0**place, "pickled_bytes": 10.0 ** (3 + place)}
            results.save(ROW_BY_ROW.spec(row, column, 0), {**made, **speed})
    for row in NOISE_TABLE.rows:
        for column in NOISE_TABLE.columns:
            results.save(
                NOISE_TABLE.spec(row, column, 0), {"accuracy": 95.0, "auc": 0.91, "calibration_error": 0.0, **COSTS}
            )


def test_places_are_by_accuracy_and_their_mean_over_the_streams_of_all_rows(tmp_path):
    fill(tmp_path)
    data = real_streams_data([(ROW_BY_ROW, 2), (IN_FIFTIES, 2)], ResultFolder(tmp_path))
    ranks = data["ranks"][ROW_BY_ROW.name]
    assert [line["mean"] for line in ranks] == [1.0, 2.0, 3.0, 4.0]
    assert ranks[1]["behind"]["weather"] == pytest.approx(1.1)
    assert ranks[3]["row"] == "River ARF"
    assert "toxicity" not in ranks[3]["places"]
    assert set(COMMON).isdisjoint({"toxicity", "flights-joined"})
    assert data["points"][IN_FIFTIES.name] == [], "the comments alone are not all streams"
    speeds = [point["rows_a_second"] for point in data["points"][ROW_BY_ROW.name]]
    assert speeds == pytest.approx([1, 10, 100, 1000])
    by_row, _ = place_grids(data)
    assert "2 (−1.1)" in by_row.markdown()


def test_the_first_screen_has_a_point_for_each_row(tmp_path):
    fill(tmp_path)
    figure = users_glance(Runs(tmp_path))
    assert [title for title, _ in figure.panels] == [
        "accuracy against rows a second",
        "wrong labels",
        "accuracy against bytes",
    ]
    speed = figure.panels[0][1].inline()
    assert len(re.findall("<circle", speed)) == 3, "always the commonest is left out"
    assert "River ARF: 8" in speed
    assert users_glance(Runs(tmp_path / "empty")).missing == "smartcl reproduce real-streams"


def test_names_of_points_do_not_lie_on_each_other():
    points = [(Key(str(n), "a name", "red"), 20.0 + n, 100.0 + n % 3) for n in range(8)]
    heights = sorted(height for _, _, height, _ in placed_names(points, 200.0))
    assert all(b - a >= 13.9 for a, b in pairwise(heights))


def test_other_numbers_of_rows_are_other_runs():
    longer = with_rows(ROW_BY_ROW, 500)
    row = ROW_BY_ROW.rows[0]
    assert longer.spec(row, "elec", 0).dataset == "elec-by-1-first-500"
    assert longer.spec(row, "elec", 0).key != ROW_BY_ROW.spec(row, "elec", 0).key
    assert "at most 500 rows" in longer.title
    assert call(["reproduce", "table1", "--rows", "500", "--show"]) == 2


def test_missing_peers_leave_their_rows_empty_and_say_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(peers_process, "ENVIRONMENT", "nowhere")
    arguments = ["--column", "elec", "--row", "river-arf", "--row", "vowpal-wabbit", "--rows", "500"]
    assert call(["reproduce", "real-rows", *arguments, "--results", str(tmp_path / "results")]) == 0
    said = capsys.readouterr().err.splitlines()
    assert sum("the rows of peers stay empty" in line for line in said) == 1
    assert not list(tmp_path.rglob("*.jsonl"))


def test_wrong_labels_are_drawn_as_far_as_the_default_has_learned_them(tmp_path):
    results = ResultFolder(tmp_path)
    for row in NOISE_TABLE.rows[:2]:
        for column in NOISE_TABLE.columns[: 2 if row is DEFAULT else 4]:
            results.save(
                NOISE_TABLE.spec(row, column, 0), {"accuracy": 95.0, "auc": 0.91, "calibration_error": 0.0, **COSTS}
            )
    [(title, drawing)] = users_glance(Runs(tmp_path)).panels
    assert title == "wrong labels"
    assert len(re.findall("<circle", drawing.inline())) == 4
    assert "symmetric" not in drawing.inline()
    grids = metric_grids(NOISE_TABLE, Runs(tmp_path))
    assert grids["auc"].heads == ("method", *NOISE_TABLE.columns[:4]), "nobody learned the last"
