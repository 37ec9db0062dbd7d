"""Whatever data say, a terminal only shows it; files and pipes get it as it is."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from smartcl.cli.app import call
from smartcl.cli.screen import screen, shown, visible

#: A title for the window, a cleared screen, a bell, colours in one byte, text from right to left, a line of its own.
ATTACKS = ["\x1b]0;owned\x07", "\x1b[2Jboom", "a\x9b31mb", "x\u202egnp.exe", "two\u2028lines", "b\x08\x08k\x7f"]
RAW = [attack.encode() for attack in ("\x1b]0;", "\x1b[2J", "\x07", "\x9b", "\u202e", "\u2028", "\x08", "\x7f")]


#: Runs commands one after the other, and says after each how it ended.
RUN = """
import json, sys
from smartcl.cli.app import call
for arguments in json.loads(sys.argv[1]):
    code = call(arguments)
    print(f"@@{code}@@", flush=True)
"""


def on_a_terminal(*commands: list[str], folder: Path) -> list[tuple[int, bytes]]:
    """Run commands whose output and errors are a terminal; how each ended, and what the terminal was sent."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"}
    command = [sys.executable, "-c", RUN, json.dumps(commands)]
    process = subprocess.Popen(command, cwd=folder, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    sent = b""
    while True:
        try:
            data = os.read(ours, 1 << 16)
        except OSError:
            break
        if not data:
            break
        sent += data
    os.close(ours)
    assert process.wait() == 0, sent
    parts = re.split(rb"@@(\d+)@@", sent)
    return [(int(code), part) for part, code in zip(parts[::2], parts[1::2], strict=False)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose labels, categories and columns are attacks, and a model of it."""
    made = tmp_path_factory.mktemp("attacked")
    # a name that is a text with blanks would be ignored; a column name with a bell is one like any other
    with (made / "t.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["size", "bell\x07\x1b[2J", "y"])
        for number in range(120):
            rows.writerow([number % 7 * 1.5, ATTACKS[number % 5], ATTACKS[number % 6]])
    (made / "odd.csv").write_text((made / "t.csv").read_text(encoding="utf-8") + "1\n", encoding="utf-8")
    command = ["train", "odd.csv", "--label", "y", "--out", "m", "--method", "smart", "--set", "iterations=1"]
    [(code, sent)] = on_a_terminal(command, folder=made)
    assert code == 0, sent
    harmless(sent)
    return made


def harmless(sent: bytes) -> None:
    assert [raw for raw in RAW if raw in sent] == []


COMMANDS = [
    ["inspect", "m"],
    ["evaluate", "m", "odd.csv"],
    ["evaluate", "m", "odd.csv", "--frozen", "--html", "p.html"],
    ["predict", "m", "t.csv", "--proba"],
    ["predict", "m", "t.csv", "--jsonl", "--proba"],
    ["train", "t.csv", "--label", "bell\x07\x1b[2Jx", "--out", "n"],
    ["train", "\x1b]0;owned\x07.csv", "--label", "y", "--out", "n"],
    ["inspect", "\x1b[2J\x07"],
    ["watch", "m", "--once"],
]


def test_a_terminal_is_sent_nothing_that_data_say(folder: Path) -> None:
    done = on_a_terminal(*COMMANDS, folder=folder)
    for arguments, (code, sent) in zip(COMMANDS, done, strict=True):
        assert code in (0, 2), sent
        harmless(sent)
        if arguments[0] in ("inspect", "evaluate", "predict") and code == 0:
            assert rb"x1b]0;owned" in sent or rb"u001b]0;owned" in sent, arguments  # shown, not left out


def test_files_and_pipes_get_the_data_as_they_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-m", "smartcl", "predict", "m", "t.csv"]
    piped = subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout.decode()
    monkeypatch.chdir(folder)
    assert call(["predict", "m", "t.csv", "--out", "p.csv"]) == 0
    assert (folder / "p.csv").read_bytes().decode() == piped
    said = {row["prediction"] for row in csv.DictReader(io.StringIO(piped, newline=""))}
    assert said
    assert said <= set(ATTACKS)
    capsys.readouterr()
    assert call(["inspect", "m", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["classes"]) == set(ATTACKS)


def test_a_console_shows_all_text_it_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    for attack in ATTACKS:
        screen().print(f"[bold]{shown(attack)}[/bold] {shown('[red]')}", attack)
    said = capsys.readouterr().out
    harmless(said.encode())
    assert "[red]" in said


@pytest.mark.parametrize("text", ["naïve café", "日本　語", "שלום", "👩‍👩‍👧", "می‌خواهم", "a b"])
def test_writing_of_any_language_stays(text: str) -> None:
    assert visible(text) == text
