"""A table's cell as text: what was measured, and in the lines below what it is to be read beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smartcl.paper.experiments.metrics import HOLDINGS, format_difference, format_value


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


def paired_rows(lines: list[dict[str, Any]], columns: Sequence[str]) -> list[list[str]]:
    """A row for each pair: its label, then the difference, its 95% interval and the seeds in common by column.

    >>> line = {"row": "smart", "versus": "ER", "column": "300", "difference": 6.42, "low": 4.0, "high": 8.8, "n": 3}
    >>> paired_rows([line], ["100", "300"])
    [['smart − ER', '–', '+6.42 [+4.00, +8.80] (3)']]
    """
    by_pair: dict[str, dict[str, str]] = {}
    for line in lines:
        interval = "" if line["low"] is None else f" [{line['low']:+.2f}, {line['high']:+.2f}]"
        text = f"{line['difference']:+.2f}{interval} ({line['n']})"
        by_pair.setdefault(f"{line['row']} − {line['versus']}", {})[line["column"]] = text
    return [[label, *(cells.get(column, "–") for column in columns)] for label, cells in by_pair.items()]
