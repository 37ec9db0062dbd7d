"""Checks of a result's entries, so that a line of another making counts as damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from smartcl.paper.experiments.measures import COSTS, HOLDINGS, LOSSES, SCORES, STREAM_SCORES

Check = Callable[[Any], bool]

#: No measure of ours is larger; what is can make sums overflow.
LARGEST = 1e30


def is_result(result: Any) -> bool:
    """Every entry that is there is of the kind a run writes.

    >>> is_result({"accuracy": 91.5}), is_result({"accuracy": "high"}), is_result([])
    (True, False, False)
    """
    return isinstance(result, dict) and all(ENTRIES[name](result[name]) for name in ENTRIES.keys() & result.keys())


def is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= LARGEST


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_history(value: Any) -> bool:
    """Columns of one length, of numbers but for the samples of each task."""
    return (
        dict_of(list_of(lambda entry: True))(value)
        and len({len(column) for column in value.values()}) <= 1
        and all(map(is_number, value.get("batches", [])))
        and all(or_none(is_number)(x) for name in value for x in value[name] if name != "samples_per_task")
    )


def is_matrix(value: Any) -> bool:
    """As many rows as columns, all numbers."""
    return list_of(list_of(is_number))(value) and all(len(row) == len(value) for row in value)


def is_study(value: Any) -> bool:
    """The strongest keywords after each task, and their names."""
    parts = {
        "tasks": list_of(is_text),
        "features": list_of(list_of(is_number)),
        "norms": list_of(list_of(is_number)),
        "names": dict_of(is_text),
    }
    return isinstance(value, dict) and all(name in value and check(value[name]) for name, check in parts.items())


def list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def dict_of(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


ENTRIES: Mapping[str, Check] = {
    **dict.fromkeys([*SCORES, *STREAM_SCORES], or_none(is_number)),
    **dict.fromkeys([*HOLDINGS, *COSTS, *LOSSES, "budget_bytes", "features_kept", "seconds", "rows"], is_number),
    **{f"{score}_per_task": list_of(or_none(is_number)) for score in SCORES},
    "accuracy_matrix": is_matrix,
    "memory_history": is_history,
    "constraint_history": is_history,
    "correct": list_of(is_number),
    "drifts": list_of(is_number),
    "gradual": lambda value: isinstance(value, bool),
    "references": dict_of(is_result),
    "keywords": is_study,
    "stream": is_text,
    "spec": lambda value: isinstance(value, dict),
    "settings": lambda value: isinstance(value, dict),
    "protocol": lambda value: isinstance(value, dict),
    "versions": dict_of(is_text),
}
