"""The account of a stream in lines for people: how good the answers were, and what changed."""

from __future__ import annotations

from typing import Any

from smartcl.cli.visible import visible

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
