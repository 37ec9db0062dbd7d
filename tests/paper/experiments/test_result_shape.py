"""A file that no run wrote counts as a run not made, whatever is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from smartcl.cli.app import call
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.result_shape import is_result
from smartcl.paper.experiments.results import ResultFolder

SPEC = TABLES["table1"].specs(1)[0]

WRONG: dict[str, Any] = {
    "accuracy": ["high", True, [90.0], {"a": 1}, 1e300, 10**400],
    "memory_bytes": [None, "many"],
    "accuracy_matrix": [[1.0], [[1.0, 2.0]], [["a"]], None],
    "memory_history": [[], {"batches": [1], "samples": []}, {"batches": ["a"]}, {"purity": 3}],
    "references": [[], {"majority": {"auc": "half"}}],
    "keywords": [{}, {"tasks": [1], "features": [], "norms": [], "names": {}}],
    "stream": [5],
    "versions": [{"torch": 2}],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_entries_of_another_kind_make_no_result(name: str, value: Any) -> None:
    assert is_result({"accuracy": 90.0, "auc": None})
    assert not is_result({"accuracy": 90.0, name: value})


#: What a line holds in the place of a run's accuracy, or a whole line that is none.
LINES = {
    "empty": b"",
    "binary": b"\xff\x00\x80",
    "list": b"[]",
    "deep": b"[" * 100_000,
    "texts": b'{"key": "KEY", "spec": {}, "accuracy": "high"}',
    "no key": b'{"spec": {}, "accuracy": 1.0}',
    "no spec": b'{"key": "KEY", "accuracy": 1.0}',
    "not a number": b'{"key": "KEY", "spec": {}, "accuracy": NaN}',
    "huge": b'{"key": "KEY", "spec": {}, "accuracy": 1' + b"0" * 400 + b"}",
}


@pytest.mark.parametrize("case", LINES)
def test_a_damaged_line_is_a_run_not_made(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = ResultFolder(tmp_path / "results").file(SPEC.dataset).path
    path.parent.mkdir(parents=True)
    path.write_bytes(LINES[case].replace(b"KEY", SPEC.key.encode()) + b"\n")
    where = ["--results", str(tmp_path / "results")]
    assert ResultFolder(tmp_path / "results").load(SPEC) is None
    assert call(["reproduce", "table1", "--show", "--json", "--seeds", "1", *where]) == 0
    captured = capsys.readouterr()
    assert all(cell["n"] == 0 for cell in json.loads(captured.out)["cells"])
    assert captured.err == ""


def test_a_report_passes_over_what_it_cannot_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = TABLES["table1"].specs(1)
    lines = (data.replace(b"KEY", spec.key.encode()) for spec, data in zip(specs, LINES.values(), strict=False))
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "disjoint-mnist.jsonl").write_bytes(b"\n".join(lines))
    assert call(["report", "--results", str(tmp_path / "results"), "--out", str(tmp_path / "report")]) == 0
    captured = capsys.readouterr()
    assert "(0 runs)" in captured.out
    assert captured.err == ""
