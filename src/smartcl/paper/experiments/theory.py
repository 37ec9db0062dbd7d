"""Measurements of Eq. 2 and of the theorem's bounds along training, and the counter-example."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean, median
from typing import Any

from smartcl.paper.experiments.paper_tables import PAPER_TABLES
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_table import Counted, Table

METHODS = ("smart", "smart-paper", "er", "gss-greedy")

#: What a run must have noted each time it looked.
LOOKED_AT = {"cosine", "rise", "l2_bound", "hoelder_bound"}

#: Those of Table 1 at 300 samples.
THEORY_RUNS = replace(
    PAPER_TABLES["table1"],
    name="theory",
    title="Eq. 2 along training: Disjoint MNIST, 300 images' bytes",
    rows=tuple(
        replace(row, printed=None) for name in METHODS for row in PAPER_TABLES["table1"].rows if row.method == name
    ),
    columns=("300",),
)


def theory_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    """Every look, what they come to row by row, and the counter-example."""
    looks = [look for table, seeds in tables for look in theory_looks(table, seeds, results)]
    return {"looks": looks, "lines": theory_lines(looks), "counter_example": counter_example()}


def theory_looks(table: Table, seeds: int, results: ResultFolder) -> list[dict[str, Any]]:
    """Every look at every run that is there: whose, when, the cosine, the rise and its bounds (None if infinite)."""
    looks = []
    for row in table.rows:
        for spec in (table.spec(row, column, seed) for column in table.columns for seed in range(seeds)):
            history = (results.load(spec) or {}).get("constraint_history", {})
            looks += [
                {"row": row.label, "seed": spec.seed, **dict(zip(history, values, strict=True))}
                for values in zip(*history.values(), strict=True)
                if history.keys() >= LOOKED_AT
            ]
    return [look for look in looks if look["cosine"] is not None and look["rise"] is not None]


def theory_lines(looks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By row: how often Eq. 2 holds, and how near the rise comes to each valid bound where it does.

    >>> looks = [
    ...     {"row": "ER", "seed": 0, "cosine": 0.5, "rise": 1.0, "l2_bound": 4.0, "hoelder_bound": None},
    ...     {"row": "ER", "seed": 0, "cosine": -0.1, "rise": 9.0, "l2_bound": 8.0, "hoelder_bound": 1.0},
    ... ]
    >>> [line] = theory_lines(looks)
    >>> line["holds"], line["l2_bound"], line["hoelder_bound"]["looks"]
    (50.0, {'looks': 1, 'median': 0.25, 'largest': 0.25, 'exceeded': 0}, 0)
    """
    lines = []
    for row in dict.fromkeys(look["row"] for look in looks):
        mine = [look for look in looks if look["row"] == row]
        holds = [look for look in mine if look["cosine"] >= 0]
        lines.append(
            {
                "row": row,
                "n": len({look["seed"] for look in mine}),
                "looks": len(mine),
                "holds": 100.0 * len(holds) / len(mine),
                "cosine": fmean(look["cosine"] for look in mine),
                **{bound: against(holds, bound) for bound in ("l2_bound", "hoelder_bound")},
            }
        )
    return lines


def against(looks: list[dict[str, Any]], bound: str) -> dict[str, Any]:
    """The rise as a share of the bound, over the looks whose bound is finite: median, largest, how often exceeded."""
    shares = [look["rise"] / look[bound] for look in looks if look[bound]]
    return {
        "looks": len(shares),
        "median": median(shares) if shares else None,
        "largest": max(shares, default=None),
        "exceeded": sum(share > 1 for share in shares),
    }


def counter_example(tiny: float = 1e-6) -> dict[str, Any]:
    """Four parameters for which Eq. 2 holds and the rise is more than the printed bound.

    >>> found = counter_example()
    >>> found["product"] >= 0, found["rise"] > found["printed_bound"]
    (True, True)
    """
    import torch

    from smartcl.paper.scores.bounds import hoelder_bound, l2_bound, printed_bound, rise

    new = torch.tensor([-1.0, -tiny, -tiny, -tiny], dtype=torch.float64)
    old = torch.tensor([-3 * tiny, 1.0, 1.0, 1.0], dtype=torch.float64)
    return {
        "new": new.tolist(),
        "memory": old.tolist(),
        "product": float(new @ old),
        "rise": rise(old),
        "printed_bound": printed_bound(new, old),
        "l2_bound": l2_bound(new, old),
        "hoelder_bound": hoelder_bound(new, old),
    }
