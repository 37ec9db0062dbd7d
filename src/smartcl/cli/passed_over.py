"""Lines for people about the rows and values that a model has passed over."""

from __future__ import annotations

from typing import Any

from smartcl.cli.visible import visible

TOLD = {
    "skipped": "skipped rows",
    "missing": "missing values",
    "unreadable": "values that are not what their column holds",
    "new_names": "values whose name was new",
    "columns_not_in_the_schema": "columns that came later and are not read (first after row)",
    "classes_first_seen_later": "classes that came later (first after row)",
    "ignored": "columns not used",
}
SHOWN = 8


def passed_over_lines(passed: dict[str, Any]) -> list[str]:
    """What was passed over, a line for each kind."""
    lines = []
    for name, what in TOLD.items():
        counts = passed[name]
        items = [
            f"{visible(key)}: {value:,}" if isinstance(value, int) else f"{visible(key)} ({visible(value)})"
            for key, value in counts.items()
        ]
        more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
        if items:
            lines.append(f"{what}: {', '.join(items[:SHOWN])}{more}")
    if passed["too_large_for_the_memory"]:
        lines.append(f"rows larger than the memory: {passed['too_large_for_the_memory']:,}")
    return lines
