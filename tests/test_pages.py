"""The pages name only what exists: files, names in the code, commands and their options, what can be reproduced."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path

import pytest
import typer

from smartcl.cli.app import command_line
from smartcl.paper.experiments.catalogue import find_artefacts

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: What a page may name that no file of ours is: parts of a saved model's folder, and what is made on the way.
MADE_LATER = {
    "images/train/",
    "images/test/",
    "generations/",
    "model.json",
    "model/",
    "model/schema.json",
    "progress.json",
    "schema.json",
}

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def quoted(page: Path) -> list[str]:
    """What stands between backticks in the running text, and where its links lead."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return [*re.findall(r"`([^`]+)`", text), *re.findall(r"\]\(([^)#\s]+)\)", text)]


def is_path(text: str) -> bool:
    return re.fullmatch(r"[\w./-]+/[\w./-]*|[\w-]+\.(py|md|json|toml|txt)", text) is not None


def commands(page: Path) -> list[list[str]]:
    """The ``smartcl`` commands of a page, in its text and its blocks, split as a shell splits them."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    lines = [*"\n".join(blocks).splitlines(), *quoted(page)]
    whole = [line for line in lines if re.match(r"smartcl [a-z]", line) and "..." not in line]
    return [shlex.split(line, comments=True)[1:] for line in whole]


@cache
def words_of_the_code() -> set[str]:
    files = [file for folder in ("src", "benchmarks", "tests") for file in (ROOT / folder).rglob("*.py")]
    return {word for file in files for word in re.findall(r"\w+", file.read_text())}


@each_page
def test_files_are_there(page: Path) -> None:
    beside = (ROOT, ROOT / "src", ROOT / "src" / "smartcl", page.parent)
    paths = {text for text in quoted(page) if is_path(text)} - MADE_LATER
    assert {path for path in paths if not any((folder / path).exists() for folder in beside)} == set()


@each_page
def test_classes_and_calls_are_in_the_code(page: Path) -> None:
    texts = [text for text in quoted(page) if not is_path(text)]
    names = {name for text in texts for name in re.findall(r"\b(?:[A-Z][a-z]+[A-Z]\w+|[a-z]+_\w+)\b", text)}
    assert names - words_of_the_code() == set()


@each_page
def test_a_name_beside_a_file_is_in_that_file(page: Path) -> None:
    text = page.read_text()
    beside = [
        *re.findall(r"`([\w/]+\.py)`:\s+`([\w.]+)`", text),
        *((file, name) for name, file in re.findall(r"`([\w.]+)` in `([\w/]+\.py)`", text)),
    ]
    folders = (ROOT, ROOT / "src", ROOT / "src" / "smartcl")
    sources = {file: next(folder / file for folder in folders if (folder / file).exists()) for file, _ in beside}
    there = {file: set(re.findall(r"\w+", source.read_text())) for file, source in sources.items()}
    assert {(file, name) for file, name in beside if not set(name.split(".")) <= there[file]} == set()


@each_page
def test_commands_are_taken(page: Path) -> None:
    known = typer.main.get_command(command_line()).commands  # type: ignore[attr-defined]
    for name, *arguments in commands(page):
        command = known[name]
        if arguments:
            command.make_context(name, list(arguments))
        if arguments and name == "reproduce":
            assert find_artefacts(arguments[0])


@each_page
def test_benchmarks_are_there(page: Path) -> None:
    named = re.findall(r"python -m benchmarks (\w+)", page.read_text())
    there = {path.stem for path in (ROOT / "benchmarks").iterdir()}
    assert set(named) <= there


def test_there_are_commands_to_look_at() -> None:
    assert sum(len(commands(page)) for page in PAGES) > 50
