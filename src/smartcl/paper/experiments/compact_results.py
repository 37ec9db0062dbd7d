"""Compact form of a result: all that tables and figures show, to the digits that mean something.

A run says more than that (``smartcl run --json`` prints all of it): a look at its memory every other batch, its hundred
strongest features after each task, the names of the tasks, seventeen digits of every number. Single scores stay as they
are. Curves are means over the first few seeds, and features are shown of one run: of others a file keeps the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from smartcl.paper.experiments.feature_ranking import TOP
from smartcl.paper.experiments.measures import SCORES

#: Digits of the numbers in lists.
DIGITS = 4
#: How many looks along a stream are kept, about.
LOOKS = 25
#: Of how many seeds they are kept.
LOOKED_SEEDS = 3
#: Of how many tasks a matrix of accuracies can be read; of others a file keeps its last row, the scores by task.
SHOWN_TASKS = 10
#: What is kept of each look at the memory.
MEMORY_COLUMNS = ("batches", "samples", "bytes", "features", "purity")


def compacted(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result as its file has it; of a file's own result, the same again.

    >>> compacted({"accuracy": 97.87234042553192, "accuracy_matrix": [[97.87234042553192]]})
    {'accuracy': 97.87234042553192, 'accuracy_matrix': [[97.9]]}
    """
    left_out = _left_out(result)
    return {name: COMPACTED.get(name, _as_it_is)(value) for name, value in result.items() if name not in left_out}


def _left_out(result: Mapping[str, Any]) -> set[str]:
    """Which entries this run's file does without.

    >>> sorted(_left_out({"spec": {"seed": 0, "noise": "flip:0.1"}}))
    ['accuracy_matrix', 'constraint_history', 'keywords', 'task_names']
    >>> sorted(_left_out({"spec": {"seed": 0}, "accuracy_matrix": [[50.0] * 44] * 44}))
    ['accuracy_matrix', 'task_names']
    """
    spec = result.get("spec", {})
    seed, clean = spec.get("seed", 0), spec.get("noise", "none") == "none"
    looked_at, few_tasks = seed < LOOKED_SEEDS, len(result.get("accuracy_matrix", ())) <= SHOWN_TASKS
    shown = {"memory_history": looked_at, "constraint_history": looked_at and clean}
    shown |= {"accuracy_matrix": looked_at and clean and few_tasks, "keywords": seed == 0 and clean}
    return {name for name, kept in {**shown, "task_names": False}.items() if not kept}


def rounded(value: Any) -> Any:
    """Every fraction in nested lists at ``DIGITS`` digits.

    >>> rounded([1, 0.123456, [98.7654, None]])
    [1, 0.1235, [98.77, None]]
    """
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def thinned(history: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The last look of each of about ``LOOKS`` equal spans of batches, and the look at the end.

    >>> thinned({"batches": [48, 50, 100, 100], "samples": [9, 9, 8, 7]})
    {'batches': [48, 100], 'samples': [9, 7]}
    """
    batches = history.get("batches", [])
    if not batches:
        return history
    every = -(-batches[-1] // LOOKS)
    last = {done: place for place, done in enumerate(batches) if done % every == 0 or done == batches[-1]}
    return {name: [rounded(column[place]) for place in last.values()] for name, column in history.items()}


def _memory(history: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return thinned({name: history[name] for name in MEMORY_COLUMNS if name in history})


def _strongest(keywords: dict[str, Any]) -> dict[str, Any]:
    features = [top[:TOP] for top in keywords["features"]]
    shown = {str(feature) for top in features for feature in top}
    return {
        **keywords,
        "features": features,
        "norms": [rounded(norms[:TOP]) for norms in keywords["norms"]],
        "names": {feature: name for feature, name in keywords["names"].items() if feature in shown},
    }


def _means(references: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of each reference line what tables show: the means over the tasks."""
    return {
        name: {score: rounded(line[score]) for score in SCORES if score in line} for name, line in references.items()
    }


def _tenths(matrix: list[list[float]]) -> list[list[float]]:
    """Test sets are too small for more."""
    return [[round(value, 1) for value in row] for row in matrix]


def _as_it_is(value: Any) -> Any:
    return value


COMPACTED: dict[str, Callable[[Any], Any]] = {
    "accuracy_matrix": _tenths,
    **{f"{score}_per_task": rounded for score in SCORES},
    "memory_history": _memory,
    "constraint_history": thinned,
    "keywords": _strongest,
    "references": _means,
}
