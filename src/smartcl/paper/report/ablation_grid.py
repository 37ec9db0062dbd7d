"""The ablation of the default learner as a grid: a line for each member and rule that was off."""

from __future__ import annotations

from typing import Any

from smartcl.paper.report.grid import Cell, Grid

HEADS = (
    *("off", "pairs of runs", "affected", "accuracy, points", "standard error", "worst stream", "its accuracy, points"),
    *("log loss", "CPU time", "verdict"),
)


def ablation_grid(data: dict[str, Any]) -> Grid:
    """Changes are those without the part, against the whole learner; the part that costs most comes first."""
    lines = sorted(data["variants"], key=lambda line: float(line["change"]))
    title = f"The default learner with one part off; {data['runs']:,} runs"
    return Grid("ablation-ensemble", title, HEADS, tuple(_line(line) for line in lines))


def _line(worth: dict[str, Any]) -> tuple[Cell, ...]:
    error = worth["error"]
    return (
        Cell.of(worth["variant"]),
        Cell.of(worth["pairs"], 0),
        Cell.of(worth["affected"], 0),
        Cell(f"{worth['change']:+.2f}", worth["change"]),
        Cell.of(error),
        Cell.of(worth["worst_stream"]),
        Cell(f"{worth['worst_change']:+.2f}", worth["worst_change"]),
        Cell(f"{worth['log_loss_change']:+.4f}", worth["log_loss_change"]),
        Cell(f"x{worth['cpu_ratio']:.2f}", worth["cpu_ratio"]),
        Cell.of(worth["verdict"]),
    )
