"""The attacks of ``python -m benchmarks attack`` in a small form: nothing that was promised breaks."""

from __future__ import annotations

import os

import pytest

from benchmarks.attack import (
    bad_inputs,
    disks,
    folders,
    forgotten_rows,
    input_files,
    interrupts,
    readers,
    saves,
    threads,
    train_kills,
)
from benchmarks.attack import trained_folders as trained
from benchmarks.attack.interrupts import CALLS, Case
from benchmarks.attack.models import Kind
from benchmarks.attack.tries import EXAMPLES, Findings

FEW = (Kind("smart", "dense"), Kind("smart", "wide"), Kind("der++", "sparse"))


def assert_nothing_broke(findings: Findings) -> None:
    assert findings.tries
    lines = [f"{kind}: {'; '.join(examples[:EXAMPLES])}" for kind, examples in findings.described()]
    assert not lines, "\n".join(lines)


def test_damaged_folders_are_refused_or_work() -> None:
    assert_nothing_broke(folders.attack(25, FEW))


def test_bad_calls_change_nothing() -> None:
    assert_nothing_broke(bad_inputs.attack(40))


def test_an_interrupt_at_any_line_leaves_before_or_after() -> None:
    dense, wide, _ = FEW
    cases = [*(Case(dense, call) for call in CALLS), Case(wide, "partial_fit with new classes")]
    assert_nothing_broke(interrupts.attack(25, cases))


def test_killed_and_meeting_saves_lose_nothing() -> None:
    assert_nothing_broke(saves.attack(3))


def test_threads_share_a_model() -> None:
    assert_nothing_broke(threads.attack(2, FEW[:2], batches=2))


def test_damaged_input_files_are_read_or_refused_in_one_line() -> None:
    assert_nothing_broke(input_files.attack(15))


def test_damaged_folders_of_a_training_are_refused_or_the_same() -> None:
    assert_nothing_broke(trained.attack(15))


def test_a_killed_training_ends_where_one_that_never_was_does() -> None:
    assert_nothing_broke(train_kills.attack(2, rows=1200))


@pytest.mark.skipif(os.geteuid() != 0, reason="to mount a small disk takes root")
def test_a_full_and_a_read_only_disk_lose_nothing() -> None:
    assert_nothing_broke(disks.attack(2))


def test_readers_beside_a_training_never_fail() -> None:
    assert_nothing_broke(readers.attack(12))


def test_of_forgotten_rows_nothing_is_left() -> None:
    assert_nothing_broke(forgotten_rows.attack(5))
