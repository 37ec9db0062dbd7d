"""The catalogue: what there is by name, and that running it needs no report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from smartcl.paper.experiments.catalogue import FIGURES, TABLES, find_artefacts, known_names

QUICK = """
import sys
from smartcl.cli.app import call
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.paper_tables import memory
from smartcl.paper.experiments.run_table import Row, Table

row = Row("ER", "er", {"hidden": (8,), "iterations": 1})
TABLES["small"] = Table("small", "A small table", "disjoint-digits", (row,), ("20",), memory, {}, seeds=1)
if __name__ == "__main__":
    code = call(["reproduce", "small", "--workers", "1", "--results", *sys.argv[1:]])
    names = [name for name in sys.modules if "smartcl.paper.report" in name]
    print("loaded:", *names, file=sys.stderr)
    sys.exit(code)
"""


def loaded_by_a_run(folder: Path, *arguments: str) -> list[str]:
    """The modules of the report that ``smartcl reproduce`` has loaded when it is done."""
    script = folder / "quick.py"
    script.write_text(QUICK)
    command = [sys.executable, str(script), str(folder / "results"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len((folder / "results" / "disjoint-digits.jsonl").read_text().splitlines()) == 1
    return done.stderr.splitlines()[-1].removeprefix("loaded:").split()


def test_a_run_loads_no_report_and_a_printed_table_its_grids(tmp_path: Path) -> None:
    assert loaded_by_a_run(tmp_path, "--json") == []
    printed = loaded_by_a_run(tmp_path)
    assert "smartcl.paper.report.table_grids" in printed


def test_all_is_everything_but_the_tuning_and_what_needs_the_peers() -> None:
    every = find_artefacts("all")
    asked_for = {"table3-tuning", "events-tuning", "streams", "real-streams", "ablation-ensemble"}
    assert every.keys() == {*TABLES, *FIGURES} - asked_for


def test_every_name_is_found_and_no_other() -> None:
    for name in known_names()[:-1]:
        assert list(find_artefacts(name)) == [name]
    with pytest.raises(ValueError, match="unknown table or figure 'tabel1': known are table1, table2"):
        find_artefacts("tabel1")
