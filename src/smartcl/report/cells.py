"""A table's cell as text: what was measured, and in the lines below what it is to be read beside."""

from __future__ import annotations

from typing import Any

from smartcl.experiments.metrics import HOLDINGS, format_difference, format_value


def measured(cell: dict[str, Any]) -> str:
    """Mean, deviation and number of runs.

    >>> measured({"metric": "accuracy", "mean": 90.0, "std": 1.414, "n": 2})
    '90.00 ± 1.41 (2)'
    """
    if not cell["n"]:
        return "–"
    spread = "" if cell["std"] is None else f" ± {format_value(cell['metric'], cell['std'])}"
    return f"{format_value(cell['metric'], cell['mean'])}{spread} ({cell['n']})"


def beside(cell: dict[str, Any]) -> list[str]:
    """What the paper prints, and how far the row is from the one it is set against."""
    published = [] if cell["published"] is None else [format_value(cell["metric"], cell["published"])]
    return published if cell["versus"] is None else [*published, compared(cell["metric"], cell["versus"])]


def compared(metric: str, versus: dict[str, Any]) -> str:
    """The ratio of what is held, the paired difference of a score with its 95% interval.

    >>> compared("auc", {"difference": 0.0123, "low": -0.01, "high": 0.0346, "ratio": 1.02})
    '+0.012 [-0.010, +0.035]'
    >>> compared("samples_held", {"difference": 2101, "low": 2101, "high": 2101, "ratio": 8.027})
    '8.0x'
    """
    if metric in HOLDINGS:
        return "" if versus["ratio"] is None else f"{versus['ratio']:.1f}x"
    text = format_difference(metric, versus["difference"])
    if versus["low"] is None:
        return text
    return f"{text} [{format_difference(metric, versus['low'])}, {format_difference(metric, versus['high'])}]"
