"""Tables are cut for no terminal that is not there."""

from __future__ import annotations

import pytest
from rich.table import Table

from smartcl.cli.screen import screen

LONG = "a name of some length"


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    table = Table(*(f"{LONG} {number}" for number in range(20)))
    table.add_row(*(f"{number}" for number in range(20)))
    screen().print(table)
    return capsys.readouterr().out


def test_a_pipe_gets_all_of_a_wide_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    heads = printed(capsys).splitlines()[1]
    assert all(f"{LONG} {number}" in heads for number in range(20))


def test_who_says_how_wide_gets_that(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    assert {len(line) for line in printed(capsys).splitlines()} == {90}
