"""``smart`` where nothing of it was chosen: on fresh seeds and on Fashion-MNIST, each run once, at the end."""

from __future__ import annotations

from smartcl.paper.experiments.paper_tables import BEYOND_SEEDS, JOINT, foreign, memory
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.run_table import Row, Table

#: Where the fresh seeds begin; those of the other tables are below.
FRESH_SEED = 20


class FreshTable(Table):
    """A table of seeds that no choice has seen."""

    def spec(self, row: Row, column: str, seed: int) -> RunSpec:
        return super().spec(row, column, FRESH_SEED + seed)


SETTINGS = {
    **{f"{images} images": memory(images) for images in ("100", "300")},
    **{f"300 images, {share} foreign": foreign(share) for share in ("30%", "50%")},
}

FRESH_TABLE = FreshTable(
    "fresh",
    f"Disjoint MNIST on the seeds {FRESH_SEED} to {FRESH_SEED + 9}, run when all choices had been made",
    "disjoint-mnist",
    (Row("smart", "smart"),),
    tuple(SETTINGS),
    SETTINGS.__getitem__,
    {},
    seeds=10,
)

CLOTHES = {
    **{f"{images} images": memory(images) for images in ("100", "300")},
    "300 images, 30% foreign": foreign("30%"),
}
ROWS = (Row("smart", "smart"), Row("ER", "er"), Row("DER++", "der++"), *JOINT)

FASHION_TABLE = Table(
    "fashion",
    "Fashion-MNIST, data that no setting was chosen on: pairs of classes, as in table1",
    "disjoint-fashion",
    ROWS,
    tuple(CLOTHES),
    CLOTHES.__getitem__,
    {},
    seeds=BEYOND_SEEDS,
)

FASHION_CLASSES_TABLE = Table(
    "fashion-classes",
    "Fashion-MNIST, data that no setting was chosen on: ten classes, two at a time, all 60,000 images",
    "class-fashion",
    (Row("adaptive", "adaptive"), *ROWS),
    ("300",),
    memory,
    {},
    seeds=BEYOND_SEEDS,
)

WRONG_CLOTHES = {"300, 40% foreign": {**memory("300"), "noise": "foreign:0.4"}}

WRONG_CLASSES_TABLE = Table(
    "fashion-classes-wrong",
    "Fashion-MNIST, ten classes, two at a time, all 60,000 images, wrong labels, by default",
    "class-fashion",
    (Row("adaptive", "adaptive"),),
    tuple(WRONG_CLOTHES),
    WRONG_CLOTHES.__getitem__,
    {},
    seeds=BEYOND_SEEDS,
)
