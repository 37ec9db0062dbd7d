"""The table of commands: each is there and loads what it needs; an extra that is missing is one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from event_examples import example_days, write_files
from smartcl import SmartClassifier
from smartcl.cli.app import COMMANDS, call
from smartcl.errors import UnavailableError


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a process has loaded once it has run the command."""
    code = (
        "import sys; from smartcl.cli.app import call; code = call(sys.argv[1:]); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def of(package: str, modules: set[str]) -> set[str]:
    return {name for name in modules if name == package or name.startswith(f"{package}.")}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_and_shows_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert f"smartcl {name}" in out
    assert "--help" in out


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in COMMANDS)


def test_an_unknown_command_is_one_line_that_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["lern"]) == 2
    said = capsys.readouterr().err
    assert said == f"smartcl: there is no command 'lern': there are {', '.join(COMMANDS)}\n"


def test_a_users_command_loads_nothing_of_the_paper(tmp_path: Path) -> None:
    counts, events = write_files(example_days(n_places=2, n_days=40), tmp_path)
    files = ["--counts", str(counts), "--events", str(events), "--place", "city", "--date", "day"]
    quick = ["--set", "hidden=4", "--set", "iterations=1", "--json"]
    loaded = loaded_by("events", *files, *quick)
    assert "smartcl.learners.methods" in loaded
    assert not of("smartcl.paper", loaded) | of("piqp", loaded)


def without(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the package were not installed; and nothing is learned."""
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("smartcl.learners.learner.Learner.observe", lambda *_: pytest.fail("trained"))
    monkeypatch.setattr("smartcl.paper.experiments.sweep.sweep", lambda *_: pytest.fail("ran"))
    monkeypatch.setattr("smartcl.paper.commands.demo_command.results_of", lambda *_: pytest.fail("ran"))


NEEDS_PIQP = {
    "run": ["run", "--method", "gss-iqp", "--dataset", "disjoint-digits"],
    "reproduce": ["reproduce", "table1", "--row", "gss-iqp"],
}


@pytest.mark.parametrize(
    ("package", "arguments"),
    [("piqp", each) for each in NEEDS_PIQP.values()],
)
def test_a_missing_extra_is_one_sentence_before_any_run(
    package: str,
    arguments: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    without(package, monkeypatch)
    assert call(arguments) == 1
    assert capsys.readouterr() == (
        "",
        f"smartcl: the package {package} is not installed: pip install 'smartcl[paper]'\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_what_needs_no_extra_goes_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "piqp", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    quick = ["--set", "hidden=4", "--set", "iterations=1"]
    for arguments in (
        ["methods"],
        ["run", "--dataset", "disjoint-digits", *quick],
        ["reproduce", "table1", "--show"],
        ["reproduce", "theory", "--show"],
        ["report", "--markdown", "page.md"],
    ):
        assert call(arguments) == 0
        assert capsys.readouterr().err == ""


def test_the_estimator_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "piqp", None)
    with pytest.raises(UnavailableError, match=r"pip install 'smartcl\[paper\]'"):
        SmartClassifier(method="gss-iqp").fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


def test_seeds_that_are_kept_for_the_fresh_table_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from smartcl.paper.experiments.unseen_tables import FRESH_SEED

    assert call(["reproduce", "table1", "--show", "--seeds", str(FRESH_SEED + 1)]) == 2
    assert capsys.readouterr().err.startswith(f"smartcl: --seeds must be at most {FRESH_SEED}")
