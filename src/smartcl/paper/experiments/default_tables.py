"""Tables of the default estimator, told its memory alone: on the paper's streams, and on one of 60,000 images."""

from __future__ import annotations

from smartcl.paper.experiments.measures import SCORES
from smartcl.paper.experiments.own_tables import WORDS
from smartcl.paper.experiments.paper_tables import foreign, memory
from smartcl.paper.experiments.run_table import Row, Table

SEEDS = 3

PAPERS_STREAMS = {
    **{f"{images} images": memory(images) for images in ("100", "300")},
    **{f"300 images, {share} foreign": foreign(share) for share in ("10%", "30%", "50%")},
    **WORDS,
}

DEFAULT_TABLE = Table(
    "default",
    "The paper's streams by default (adaptive), beside the method made for them: Disjoint MNIST, flu, 20 Newsgroups",
    "disjoint-mnist",
    (Row("adaptive", "adaptive"), Row("smart", "smart")),
    tuple(PAPERS_STREAMS),
    PAPERS_STREAMS.__getitem__,
    {},
    seeds=SEEDS,
    metrics=tuple(SCORES),
)

TEN_CLASSES = {
    **{f"{images} images": memory(images) for images in ("200", "500")},
    **{
        f"300 images, {share}% uniform": {**memory("300"), "noise": f"uniform:0.{share // 10}"}
        for share in (20, 40, 60)
    },
}

CLASSES_TABLE = Table(
    "classes",
    "Ten classes of MNIST, two at a time, all 60,000 images, by default",
    "class-mnist",
    (Row("adaptive", "adaptive"),),
    tuple(TEN_CLASSES),
    TEN_CLASSES.__getitem__,
    {},
    seeds=SEEDS,
)
