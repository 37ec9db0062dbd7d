"""The keyword table's three forms say what the study says."""

from __future__ import annotations

import csv
import re
from io import StringIO

import pytest
from rich.console import Console

from smartcl.cli.app import call
from smartcl.paper.experiments.feature_ranking import FATES
from smartcl.paper.experiments.keywords import KeywordStudy
from smartcl.paper.report.keywords_figure import COLOURS, KEY, keyword_grid, write_keywords
from smartcl.paper.report.palette import fixed

WORDS = ["strike", "march", "rain", "a_word_much_longer_than_others", "vote"]
RESULT = {
    "stream": "toy words",
    "spec": {"method": "smart", "memory": "1MB"},
    "keywords": {
        "tasks": ["Recife / Natal", "Lima", "Quito"],
        "features": [[0, 1, 2], [0, 3, 2], [0, 4, 1]],
        "norms": [[3.0, 2.0, 1.0], [3.0, 2.5, 0.5], [4.0, 1.0, 0.25]],
        "names": {str(i): word for i, word in enumerate(WORDS)},
    },
}


@pytest.fixture
def study():
    return KeywordStudy.of(RESULT, 3)


def test_the_csv_has_a_line_per_task_and_rank(study, tmp_path):
    write_keywords(study, tmp_path / "words")
    with (tmp_path / "words.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["task"], row["rank"], row["name"]) for row in rows[:4]] == [
        ("1", "1", "strike"),
        ("1", "2", "march"),
        ("1", "3", "rain"),
        ("2", "1", "strike"),
    ]
    fates = {row["name"]: (row["fate"], row["first_task"], row["last_task"]) for row in rows}
    assert fates == {
        "strike": ("persists", "1", "3"),
        "march": ("returns", "1", "3"),
        "rain": ("vanishes", "1", "2"),
        WORDS[3]: ("vanishes", "2", "2"),
        "vote": ("new", "3", "3"),
    }
    assert float(rows[-1]["norm"]) == 0.25


def test_the_picture_shows_each_word_in_the_colour_of_its_fate(study, tmp_path):
    (svg,) = [path for path in write_keywords(study, tmp_path / "v1.0 words") if path.suffix == ".svg"]
    assert svg.name == "v1.0 words.svg"
    drawn = svg.read_text()
    colours = {word: colour for colour, word in re.findall(r'style="fill:(#\w+)">([^<]+)</text>', drawn)}
    assert {"strike", "march", "rain", "vote", "a_word_much_longe…"} <= colours.keys()
    for word, fate in {"strike": "persists", "march": "returns", "rain": "vanishes", "vote": "new"}.items():
        assert colours[word] == fixed(f"var(--{COLOURS[fate]})")
    assert [f"{n} {KEY[fate]}" in colours for n, fate in zip((1, 1, 1, 2), FATES, strict=True)] == [True] * 4
    assert drawn.count("<path") == 3  # strike twice, rain once: a line only where a word stays


def test_the_table_in_the_terminal_holds_the_same_words(study):
    console = Console(file=StringIO(), width=200)
    console.print(keyword_grid(study))
    shown = console.file.getvalue()
    assert all(word in shown for word in WORDS)
    assert "Recife / Natal" in shown


def test_a_run_writes_its_keywords(tmp_path, capsys):
    settings = ["--set", "hidden=8", "--set", "iterations=1", "--memory", "30 samples", "--keywords", str(tmp_path)]
    assert call(["run", "--dataset", "simulated-events", *settings]) == 0
    assert "new at the end" in capsys.readouterr().out
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == [f"keywords-simulated-events.{ending}" for ending in ("csv", "svg")]
    assert call(["run", "--dataset", "disjoint-digits", *settings]) == 2
    assert "disjoint-digits has none" in capsys.readouterr().err
