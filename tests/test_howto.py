"""The pages that show how to do something do it: examples in Python and commands, in the order they stand."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from smartcl.cli.app import call
from smartcl.extend import METHODS

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS / "start.md", *sorted((DOCS / "tutorials").glob("*.md")), *sorted((DOCS / "howto").glob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = set(METHODS)
    runner, names = doctest.DocTestRunner(optionflags=FLAGS), {"__name__": "__main__"}
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    commands = 0
    try:
        for number, (kind, text) in enumerate(blocks):
            if kind == "python":
                # doctest looks up lines by this name: those of a function of an earlier block must not be this one's
                name = f"{page.name} block {number}"
                example = doctest.DocTestParser().get_doctest(text, names, name, str(page), 0)
                runner.run(example, clear_globs=False)
                names.update(example.globs)
            else:
                commands += run_commands(text)
    finally:
        for name in set(METHODS) - before:
            del METHODS[name]
    assert not runner.failures
    assert not blocks or runner.tries + commands > 4  # what needs the other libraries is run by make compat


def run_commands(text: str) -> int:
    """Every line after a ``$``: a single ``smartcl`` in this process, anything else in a shell; how many there were."""
    lines = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
    for line in lines:
        if line.startswith("smartcl "):
            assert call(shlex.split(line)[1:]) == 0, line
        else:
            command = line.replace("| smartcl ", f"| {sys.executable} -m smartcl ")
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
    return len(lines)
