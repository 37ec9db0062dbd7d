"""Paired differences, against SciPy's paired t test."""

from __future__ import annotations

import pytest
from scipy import stats

from smartcl.paper.experiments.paired import own_rows, paired_differences
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.table import Row, Table
from smartcl.paper.experiments.tables import TABLES, memory
from smartcl.paper.scores.intervals import paired_difference

ROWS = (Row("ER", "er"), Row("theirs", "smart-paper"), Row("ours", "smart"))
SMALL = Table("small", "A small table", "disjoint-digits", ROWS, ("10", "20"), memory, {})


def test_the_interval_is_that_of_the_paired_t_test():
    ours, theirs = [91.2, 90.1, 93.3, 92.0, 90.4], [90.9, 88.0, 93.5, 90.1, 89.9]
    interval = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    found = paired_difference(ours, theirs)
    assert (found.low, found.high) == (pytest.approx(interval.low), pytest.approx(interval.high))
    assert found.n == 5


def test_pairs_are_the_seeds_both_rows_have(tmp_path):
    results = ResultFolder(tmp_path)
    accuracies = {"smart": {0: 95.0, 1: 93.0, 2: 99.0}, "er": {0: 90.0, 1: 91.0}, "smart-paper": {2: 98.5}}
    for row in ROWS:
        for seed, accuracy in accuracies[row.method].items():
            results.save(SMALL.spec(row, "10", seed), {"accuracy": accuracy})
    lines = {(line["row"], line["versus"]): line for line in paired_differences(SMALL, 3, results)}
    assert lines.keys() == {("ours", "ER"), ("ours", "theirs")}  # the paper's SMART and ER have no seed in common
    against_er, against_theirs = lines.values()
    assert (against_er["column"], against_er["difference"], against_er["n"]) == ("10", 3.5, 2)
    interval = stats.ttest_rel([95.0, 93.0], [90.0, 91.0]).confidence_interval(0.95)
    assert [against_er["low"], against_er["high"]] == pytest.approx([interval.low, interval.high])
    assert (against_theirs["difference"], against_theirs["low"], against_theirs["n"]) == (0.5, None, 1)


def test_a_table_without_smart_sets_its_regulariser_against_the_others():
    assert {row.method for row in own_rows(TABLES["table1"])} == {"smart", "smart-paper"}
    assert {row.method for row in own_rows(TABLES["table3"])} == {"ncc"}
