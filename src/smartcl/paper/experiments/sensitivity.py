"""Sensitivity to the two strengths: accuracy along α and along β, everything else at its default.

The paper says α ran from 0.00001 to 0.1, best at 0.005, and names 0.0001, 0.0005, 0.1 and 0.5 as the best β for 10, 20,
30 and 40 percent of wrong labels; the figure itself is not to be had, so the points between are ours.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean, stdev
from typing import Any

from smartcl.learners.methods import find_method
from smartcl.paper.experiments.paper_tables import foreign
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_table import EXACT_VALUES, Counted, Row, Table, results_of

ALPHAS = (0.00001, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.1)
BETAS = (0.0001, 0.0005, 0.001, 0.01, 0.1, 0.5)
#: The methods, and what is not as it is by default.
METHODS: dict[str, dict[str, Any]] = {"smart-paper": {}, "smart": EXACT_VALUES}
MEMORY = "300 samples"


def along(parameter: str, values: tuple[float, ...], columns: tuple[str, ...], title: str) -> Table:
    """A row for each method and value of the parameter, at 300 samples' bytes."""
    rows = tuple(
        Row(f"{method}, {value:g}", method, {**fixed, parameter: value})
        for method, fixed in METHODS.items()
        for value in values
    )
    return Table(f"figure-sensitivity-{parameter}", title, "disjoint-mnist", rows, columns, foreign, {}, seeds=3)


ALONG_ALPHA = along("alpha", ALPHAS, ("clean",), "Disjoint MNIST, 300 images' bytes: accuracy by method and α")
ALONG_BETA = along(
    "beta",
    BETAS,
    ("10%", "20%", "30%", "40%"),
    "Disjoint MNIST, 300 images' bytes: accuracy by method and β, and by share of foreign labels",
)


def sensitivity_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    """The points of the runs of these tables."""
    return {"points": sensitivity_points((spec.as_dict(), result) for spec, result in results_of(tables, results))}


def sensitivity_points(runs: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> list[dict[str, Any]]:
    """A point for each method, stream and value of a strength of which any of these runs is, given as spec and result.

    A run belongs to α if nothing but α differs from its method's own parameters, with values kept exactly, and to β
    likewise; so a run with none that differs belongs to both.
    """
    accuracies: dict[tuple[str, str, str, str, float], list[float]] = defaultdict(list)
    for spec, result in runs:
        if spec["method"] in METHODS and spec["memory"] == MEMORY:
            for strength in ("alpha", "beta"):
                if changed(spec) <= {strength}:
                    value = {**find_method(spec["method"]).parameters, **spec["parameters"]}[strength]
                    where = strength, spec["method"], spec["dataset"], spec["noise"], value
                    accuracies[where].append(result["accuracy"])
    names = ("parameter", "method", "dataset", "noise", "value")
    return [
        {
            **dict(zip(names, where, strict=True)),
            "mean": fmean(values),
            "std": stdev(values) if len(values) > 1 else None,
            "n": len(values),
        }
        for where, values in sorted(accuracies.items())
    ]


def changed(spec: dict[str, Any]) -> set[str]:
    """The parameters that differ from those of the figure; naming a default changes nothing."""
    own = find_method(spec["method"]).parameters
    ours, theirs = {**own, **METHODS.get(spec["method"], {})}, {**own, **spec["parameters"]}
    return {name for name, value in theirs.items() if json.dumps(value) != json.dumps(ours[name])}
