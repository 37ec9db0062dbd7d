"""Lines and tables for people about a model: how good it was, what it passed over, what its columns were taken for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from smartcl.cli.screen import shown, visible

#: The newest changes are told, at most this number.
MOST_TOLD = 5
#: What is said of a change by its kind.
KINDS = {
    "changed": "the labels of the same inputs changed",
    "new task": "other inputs came",
    "recurred": "an earlier state came back",
}


def account_lines(result: dict[str, Any]) -> list[str]:
    """Scores beside the two simplest rules, what a person should be warned of, and the changes of the stream."""
    scores, late = result["scores"], result["last_tenth"]
    if scores["accuracy"] is None:
        return []
    when = "before they were learned"
    if result.get("delay"):
        when = f"{result['delay']:,} rows before their labels were known"
    lines = [
        f"predicted {when}: accuracy {_share(scores['accuracy'])} (always the commonest {_share(scores['commonest'])}, "
        f"repeat the last {_share(scores['last'])}), balanced {_share(scores['balanced_accuracy'])}",
        f"  {_others(scores)}",
        f"in the last tenth: accuracy {_share(late['accuracy'])} (commonest {_share(late['commonest'])}, "
        f"last {_share(late['last'])}), {_others(late)}",
    ]
    lines += [f"note: {visible(text)}" for text in result["warnings"]]
    return [*lines, *change_lines(result["changes"])]


def change_lines(changes: list[dict[str, Any]]) -> list[str]:
    """A line for each change: after which row, of what kind, and what moved."""
    lines = []
    if len(changes) > MOST_TOLD:
        lines.append(f"{len(changes)} changes of the stream; the last {MOST_TOLD}:")
    for change in changes[-MOST_TOLD:]:
        moved = "; ".join(visible(text) for text in change.get("moved", ())[:3])
        told = f"{KINDS[change['kind']]} ({change['kind']})"
        lines.append(f"change after row {change['row']:,}: {told}{': ' if moved else ''}{moved}")
    return lines


def _others(scores: dict[str, Any]) -> str:
    """AUC, average precision, log loss, calibration."""
    ranks = ""
    if scores["auc"] is not None:
        ranks = f"AUC {scores['auc']:.3f}, average precision {scores['average_precision']:.3f}, "
    return f"{ranks}log loss {scores['log_loss']:.3f}, calibration error {_share(scores['calibration_error'])}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


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


#: More columns fill the screen; the schema in the model's folder has them all.
SHOWN_COLUMNS = 40


def columns_table(taken: Sequence[dict[str, Any]]) -> Table:
    """A line for each column; the option that says otherwise is written as it would be given."""
    table = Table(box=None, pad_edge=False)
    for heading in ("column", "taken for", "because", "if not"):
        table.add_column(heading, overflow="fold")
    for line in taken[:SHOWN_COLUMNS]:
        name = shown(line["column"])
        because = shown(line["because"])
        table.add_row(name, line["taken_for"], because, f"{line['otherwise']} {name}")
    if len(taken) > SHOWN_COLUMNS:
        table.add_row(f"and {len(taken) - SHOWN_COLUMNS:,} more", "", "in schema.json", "")
    return table
