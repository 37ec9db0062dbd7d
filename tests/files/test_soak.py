"""The soak of ``python -m benchmarks soak`` in a small form: every figure is there, and the budget holds."""

from __future__ import annotations

from pathlib import Path

from benchmarks.soak import soak


def test_rows_go_through_within_the_budget(tmp_path: Path) -> None:
    figures = {name: measured for name, measured, _ in soak(8000, tmp_path, batch=200)}
    assert figures["rows learned"] == 8000
    assert figures["largest share of the budget held"] <= 1
    assert figures["resident memory of the last tenth / second tenth"] < 1.5
    assert figures["accuracy before learning"] > 0.5
