"""The runs of the keyword table: words that have names, and the paper's country."""

from __future__ import annotations

from smartcl.paper.experiments.table import Row, Table

#: A forgetting strong enough to be seen. At the default, nearly none, every word keeps its weights, and the largest
#: belong to words seen twice: the optimizer moves a rare word's weights as far as a common one's.
FORGETFUL = {"alpha": 0.003, "hidden": (100,), "iterations": 10}
MEMORY = {"newsgroups": "1MB", "civil-brazil": "300 samples"}

KEYWORDS = Table(
    "keywords",
    "The runs whose strongest features are shown",
    None,
    (Row("smart, forgetful", "smart", FORGETFUL),),
    tuple(MEMORY),
    lambda dataset: {"dataset": dataset, "memory": MEMORY[dataset]},
    {},
    seeds=1,
)
