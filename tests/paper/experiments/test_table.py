"""Tables: what is read of which run, and what it is set against."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy import stats

from smartcl.cli.app import call
from smartcl.paper.datasets.dataset_registry import DATASETS
from smartcl.paper.datasets.real_tasks import is_real_task
from smartcl.paper.datasets.stream_suite import SUITE
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.paper_tables import memory
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_table import Row, Table, own_rows, paired_differences
from smartcl.paper.experiments.unseen_tables import FRESH_TABLE
from smartcl.paper.scores.intervals import paired_difference

WHOLE = Row("whole", "er", at={"memory": "9 samples"})
ROWS = (Row("SMART", "smart", printed="SMART", versus=WHOLE), WHOLE, Row("majority", "smart", reference="majority"))


@pytest.fixture
def table() -> Table:
    return Table(
        "toy",
        "A toy",
        None,
        ROWS,
        ("civil-brazil", "civil-mexico", "flu-2011"),
        lambda column: {"dataset": column, "memory": "5 samples"},
        {"SMART": ((81.0, 1.0), (82.0, 1.0))},
        metrics=("accuracy", "auc", "samples_held"),
    )


@pytest.fixture
def results(table: Table, tmp_path: Path) -> ResultFolder:
    """``smart`` on three seeds, ``er`` on the last two and one more, in one column."""
    folder = ResultFolder(tmp_path)
    line = {"accuracy": 90.0, "auc": 0.5}
    for seed, accuracy in enumerate((70.0, 72.0, 77.0)):
        result = {"accuracy": accuracy, "auc": accuracy / 100, "samples_held": 60, "references": {"majority": line}}
        folder.save(table.spec(ROWS[0], "civil-mexico", seed), result)
    for seed, accuracy in ((1, 71.0), (2, 73.0), (3, 10.0)):
        result = {"accuracy": accuracy, "auc": None, "samples_held": 10}
        folder.save(table.spec(WHOLE, "civil-mexico", seed), result)
    return folder


def test_the_column_names_the_data_set_and_the_row_may_name_the_memory(table: Table) -> None:
    ours, whole = (table.spec(row, "flu-2011", 4) for row in ROWS[:2])
    assert (ours.dataset, ours.memory, ours.seed) == ("flu-2011", "5 samples", 4)
    assert (whole.dataset, whole.memory) == ("flu-2011", "9 samples")


def test_a_row_is_compared_on_the_seeds_that_both_have(table: Table, results: ResultFolder) -> None:
    cell = table.cell(ROWS[0], "civil-mexico", 5, results)
    assert (cell["mean"], cell["n"], cell["published"]) == (73.0, 3, 82.0)
    interval = stats.ttest_rel([72.0, 77.0], [71.0, 73.0]).confidence_interval(0.95)
    versus = cell["versus"]
    assert (versus["difference"], versus["n"], versus["mean"]) == (2.5, 2, 72.0)
    assert (versus["low"], versus["high"]) == pytest.approx(tuple(interval))
    assert table.cell(ROWS[0], "civil-mexico", 5, results, "samples_held")["versus"]["ratio"] == 6.0
    assert table.cell(ROWS[0], "civil-mexico", 5, results, "auc")["versus"] is None  # the other has none
    assert table.cell(ROWS[0], "civil-brazil", 5, results)["versus"] is None


def test_a_reference_line_is_read_out_of_the_methods_runs(table: Table, results: ResultFolder) -> None:
    cells = {cell["metric"]: cell for cell in table.cells(5, results) if cell["row"] == "majority" and cell["n"]}
    assert {metric: (cell["mean"], cell["n"]) for metric, cell in cells.items()} == {
        "accuracy": (90.0, 3),
        "auc": (0.5, 3),
    }
    assert set(table.specs(2)) == set(table.part(["smart", "er"], []).specs(2))


def test_a_part_keeps_the_published_cells_of_its_columns(table: Table, results: ResultFolder) -> None:
    part = table.part(["smart"], ["flu-2011", "civil-mexico"])
    assert (part.columns, [row.label for row in part.rows]) == (("civil-mexico", "flu-2011"), ["SMART", "majority"])
    assert [part.cell(ROWS[0], column, 5, results)["published"] for column in part.columns] == [82.0, None]


def test_reproduce_prints_each_column_with_its_metrics_and_what_to_know(
    table: Table, results: ResultFolder, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.setitem(TABLES, "toy", table)
    assert call(["reproduce", "toy", "--show", "--results", str(tmp_path), "--column", "civil-mexico"]) == 0
    out = capsys.readouterr().out
    assert all(text in out for text in ("A toy: civil-mexico", "82.00", "+2.50 [", "6.0x", "samples held"))
    assert "near chance" in " ".join(out.split())
    assert "flu-2011" not in out


def test_every_table_can_name_all_its_runs() -> None:
    for table in TABLES.values():
        known = DATASETS.keys() | SUITE.keys()
        assert not {spec.dataset for spec in table.specs(1) if not is_real_task(spec.dataset)} - known
        for row in table.rows:
            assert row.printed is None or len(table.published[row.printed]) <= len(table.columns)
            if row.reference is not None:
                assert all(DATASETS[table.spec(row, column, 0).dataset].references for column in table.columns)


def test_rows_beyond_the_paper_ask_for_five_seeds_and_joint_training_for_one_memory() -> None:
    table1 = TABLES["table1"]
    seeds: dict[str, set[int]] = {}
    for spec in table1.specs():
        seeds.setdefault(spec.method, set()).add(spec.seed)
    assert {method: len(of) for method, of in seeds.items()} == {
        **dict.fromkeys(("gss-clust", "fss-clust", "gss-iqp", "gss-greedy", "smart-paper", "smart"), 10),
        **dict.fromkeys(("er", "gdumb", "der++", "er-smart", "der++-smart", "joint", "joint-smart"), 5),
        **dict.fromkeys(("adaptive", "randumb"), 3),
    }
    assert {spec.seed for spec in table1.specs(4) if spec.method == "er"} == {0, 1, 2, 3}
    assert len({spec for spec in table1.specs() if spec.method == "joint"}) == 5
    assert len({spec for spec in table1.specs() if spec.method == "randumb"}) == 3


def test_no_other_table_asks_for_a_fresh_seed() -> None:
    assert {spec.seed for spec in FRESH_TABLE.specs()} == set(range(20, 30))
    others = [table for table in TABLES.values() if table is not FRESH_TABLE]
    assert not {spec.seed for table in others for spec in table.specs()} & set(range(20, 30))


PAIRED_ROWS = (Row("ER", "er"), Row("theirs", "smart-paper"), Row("ours", "smart"))
PAIRED = Table("small", "A small table", "disjoint-digits", PAIRED_ROWS, ("10", "20"), memory, {})


def test_the_interval_is_that_of_the_paired_t_test():
    ours, theirs = [91.2, 90.1, 93.3, 92.0, 90.4], [90.9, 88.0, 93.5, 90.1, 89.9]
    interval = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    found = paired_difference(ours, theirs)
    assert (found.low, found.high) == (pytest.approx(interval.low), pytest.approx(interval.high))
    assert found.n == 5


def test_pairs_are_the_seeds_both_rows_have(tmp_path):
    results = ResultFolder(tmp_path)
    accuracies = {"smart": {0: 95.0, 1: 93.0, 2: 99.0}, "er": {0: 90.0, 1: 91.0}, "smart-paper": {2: 98.5}}
    for row in PAIRED_ROWS:
        for seed, accuracy in accuracies[row.method].items():
            results.save(PAIRED.spec(row, "10", seed), {"accuracy": accuracy})
    lines = {(line["row"], line["versus"]): line for line in paired_differences(PAIRED, 3, results)}
    assert lines.keys() == {("ours", "ER"), ("ours", "theirs")}  # the paper's SMART and ER have no seed in common
    against_er, against_theirs = lines.values()
    assert (against_er["column"], against_er["difference"], against_er["n"]) == ("10", 3.5, 2)
    interval = stats.ttest_rel([95.0, 93.0], [90.0, 91.0]).confidence_interval(0.95)
    assert [against_er["low"], against_er["high"]] == pytest.approx([interval.low, interval.high])
    assert (against_theirs["difference"], against_theirs["low"], against_theirs["n"]) == (0.5, None, 1)


def test_a_table_without_smart_sets_its_regulariser_against_the_others():
    assert {row.method for row in own_rows(TABLES["table1"])} == {"smart", "smart-paper"}
    assert {row.method for row in own_rows(TABLES["table3"])} == {"ncc"}
