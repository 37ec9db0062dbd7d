"""Pages that are run: their examples in Python and their commands, in the order they stand."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

from smartcl.cli.app import call

BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def run_page(page: Path) -> int:
    """Run a page in the folder at hand; how many examples and commands it has. None of them may fail."""
    runner, names = doctest.DocTestRunner(optionflags=FLAGS), {"__name__": "__main__"}
    commands = 0
    for number, (kind, text) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8"))):
        if kind == "python":
            # doctest looks up lines by this name: those of a function of an earlier block must not be this one's
            name = f"{page.name} block {number}"
            example = doctest.DocTestParser().get_doctest(text, names, name, str(page), 0)
            runner.run(example, clear_globs=False)
            names.update(example.globs)
        else:
            commands += run_commands(text)
    assert not runner.failures
    return runner.tries + commands


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
