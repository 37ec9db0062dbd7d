"""The paper's sensitivity figure as two tables: accuracy along α on clean labels, and along β at each noise.

The paper says α ran from 0.00001 to 0.1, best at 0.005, and names 0.0001, 0.0005, 0.1 and 0.5 as the best β for 10, 20,
30 and 40 percent of wrong labels; the figure itself is not to be had, so the points between are ours.
"""

from __future__ import annotations

from smartcl.paper.experiments.table import Row, Table
from smartcl.paper.experiments.tables import foreign

ALPHAS = (0.00001, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.1)
BETAS = (0.0001, 0.0005, 0.001, 0.01, 0.1, 0.5)
METHODS = ("smart-paper", "smart")


def along(parameter: str, values: tuple[float, ...], columns: tuple[str, ...], title: str) -> Table:
    """A row for each method and value of the parameter, at 300 samples' bytes."""
    rows = tuple(Row(f"{method}, {value:g}", method, {parameter: value}) for method in METHODS for value in values)
    return Table(f"figure-sensitivity-{parameter}", title, "disjoint-mnist", rows, columns, foreign, {}, seeds=3)


ALONG_ALPHA = along("alpha", ALPHAS, ("clean",), "Disjoint MNIST, 300 images' bytes: accuracy by method and α")
ALONG_BETA = along(
    "beta",
    BETAS,
    ("10%", "20%", "30%", "40%"),
    "Disjoint MNIST, 300 images' bytes: accuracy by method and β, and by share of foreign labels",
)
