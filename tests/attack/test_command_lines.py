"""A few of the odd command lines of ``benchmarks.attack``: each is answered, in one line if it is refused."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.attack.command_lines import CommandLine, command_lines, wrong_with
from smartcl.cli.app import call

SAMPLE = 40
SLOW = ("report", "results")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[CommandLine]:
    return command_lines(random.Random(17), tmp_path_factory.mktemp("attack"))


def test_there_are_many_over_all_commands(drawn: list[CommandLine]) -> None:
    assert len({line.arguments for line in drawn}) >= 400
    used = {line.arguments[0] for line in drawn if line.arguments}
    assert used >= {"demo", "run", "events", "methods", "reproduce", "results", "report"}


@pytest.mark.filterwarnings("default")
def test_every_odd_command_line_is_answered(
    drawn: list[CommandLine], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    for line in [line for line in drawn if not {*SLOW} & {*line.arguments[:1]}][:SAMPLE]:
        code = call(list(line.arguments))
        captured = capsys.readouterr()
        assert wrong_with(line, code, captured.out, captured.err) is None, line
