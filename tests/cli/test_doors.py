"""The doors open at once: what help, the version, a shell's completion and the package alone load, in new processes."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from smartcl.cli.app import COMMANDS

#: They take most of the seconds that a command needs before it begins.
HEAVY = {"lightgbm", "numpy", "pandas", "safetensors", "scipy", "sklearn", "torch"}


def imported_by(*arguments: str, **environment: str) -> set[str]:
    """The modules that Python says it imports when it is run with these arguments."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.split("|")[-1].strip() for line in lines}


def heavy(modules: set[str]) -> set[str]:
    """Of these modules, those that nobody should wait for: large libraries and all of the paper."""
    return {name for name in modules if name.split(".")[0] in HEAVY or f"{name}.".startswith("smartcl.paper.")}


def test_a_heavy_module_would_be_noticed() -> None:
    assert heavy(imported_by("-c", "import smartcl.memory.store")) >= {"numpy", "torch"}
    assert heavy({"smartcl.paper", "smartcl.paper.commands", "torch.nn"}) == {
        *("smartcl.paper", "smartcl.paper.commands", "torch.nn"),
    }


def test_the_package_alone_is_light() -> None:
    imported = imported_by("-c", "import smartcl")
    assert {name for name in imported if name.startswith("smartcl.")} == {"smartcl.lazy"}
    assert heavy(imported) == set()


def test_help_is_light() -> None:
    """The help of every command in one process: together they load no more than each may."""
    asked = [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)]
    imported = imported_by("-c", f"from smartcl.cli.app import call\nfor arguments in {asked}: call(arguments)")
    assert "smartcl.cli.app" in imported
    assert heavy(imported) == set()
    assert "pydantic" not in imported  # typer takes it to read arguments, and with it twice the time


def completing(words: str) -> dict[str, str]:
    """What bash tells a program that it asks for the end of the last of these words."""
    return {"_SMARTCL_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}


@pytest.mark.parametrize("words", ["smartcl tr", "smartcl train --ch", "smartcl run --method s"])
def test_completion_is_light(words: str) -> None:
    imported = imported_by("-m", "smartcl", **completing(words))
    assert "smartcl.cli.app" in imported
    assert heavy(imported) == set()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with the command ``smartcl`` in it."""
    command = tmp_path / "bin" / "smartcl"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m smartcl "$@"\n')
    command.chmod(0o755)
    return tmp_path


def in_bash(home: Path, script: str) -> str:
    """What a bash of this user's prints."""
    environment = {**os.environ, "HOME": str(home), "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\n:"], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_once_completion_is_installed(home: Path) -> None:
    in_bash(home, "smartcl --install-completion")
    assert "smartcl" in (home / ".bashrc").read_text()

    def offered(*words: str) -> set[str]:
        quoted = " ".join(f"'{word}'" for word in words)
        told = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; COMP_LINE='{' '.join(words)}'"
        ask = '"$(complete -p smartcl | sed \'s/.*-F \\([^ ]*\\).*/\\1/\')" smartcl; printf "%s\\n" "${COMPREPLY[@]}"'
        return set(in_bash(home, f"source ~/.bashrc; {told}; {ask}").split())

    assert offered("smartcl", "") >= set(COMMANDS)
    assert offered("smartcl", "re") == {"reproduce", "report"}
    assert offered("smartcl", "train", "--checkpoint") == {"--checkpoint-rows", "--checkpoint-seconds"}
    assert offered("smartcl", "train", "--method", "gss") == {"gss-greedy", "gss-iqp", "gss-clust"}


@pytest.mark.parametrize("name", [name for name in COMMANDS if find_spec(f"smartcl.paper.commands.{name}")])
def test_a_command_of_the_paper_is_done_by_a_function_with_its_arguments(name: str) -> None:
    asked = inspect.signature(getattr(import_module(f"smartcl.cli.{name}"), name))
    work = inspect.signature(getattr(import_module(f"smartcl.paper.commands.{name}"), name))
    assert list(asked.parameters) == list(work.parameters)
