"""Measures of a result that a table can show: name, title and format."""

from __future__ import annotations

#: How good a learner is.
SCORES = {"accuracy": "accuracy, %", "balanced_accuracy": "balanced accuracy, %", "auc": "AUC"}
#: What it holds.
HOLDINGS = {
    "samples_held": "samples held",
    "share_held": "% of the stream",
    "memory_bytes": "bytes held",
    "total_bytes": "bytes of the whole state",
}
#: Further scores of a stream that is predicted before it is learned, and what a learner costs there.
STREAM_SCORES = {"kappa": "Cohen's kappa", "average_precision": "average precision"}
#: How far the probabilities of a stream's answers are from how often they are right: the smaller the better.
LOSSES = {"calibration_error": "calibration error", "log_loss": "log loss"}
COSTS = {
    "cpu_seconds": "CPU seconds",
    "rows_a_second": "rows a second of CPU time",
    "pickled_bytes": "bytes, pickled",
}
METRICS = {**SCORES, **STREAM_SCORES, **LOSSES, **HOLDINGS, **COSTS}

_DIGITS = {
    **dict.fromkeys(("auc", "kappa", "average_precision", *LOSSES), 3),
    **dict.fromkeys(("samples_held", "memory_bytes", "total_bytes", "rows_a_second", "pickled_bytes"), 0),
    **dict.fromkeys(("share_held", "cpu_seconds"), 1),
}


def format_value(metric: str, value: float | None) -> str:
    """A value of this metric as text, with the digits that mean something.

    >>> format_value("accuracy", 91.628), format_value("auc", 0.51239), format_value("memory_bytes", 1234567)
    ('91.63', '0.512', '1,234,567')
    >>> format_value("auc", None)
    '–'
    """
    return "–" if value is None else f"{value:,.{_DIGITS.get(metric, 2)}f}"


def format_difference(metric: str, value: float) -> str:
    """The same with a sign.

    >>> format_difference("auc", -0.0042)
    '-0.004'
    """
    return f"{value:+,.{_DIGITS.get(metric, 2)}f}"
