"""Tables of our own: the parts of ``smart``, other kinds of wrong labels, words, networks of a user."""

from __future__ import annotations

from typing import Any

from smartcl.learners.methods import METHODS
from smartcl.paper.datasets.protocols import SEASONS
from smartcl.paper.experiments.measures import SCORES
from smartcl.paper.experiments.paper_tables import BEYOND_SEEDS, SMART_EXACT
from smartcl.paper.experiments.run_table import EXACT_VALUES, Row, Table

#: The paper's training, for SMART's memory: nothing of ours but the store.
PAPERS_RECIPE: dict[str, Any] = {
    **{name: METHODS["er"].parameters[name] for name in ("lr", "iterations", "replay", "average", "smoothing")},
    **{"dropout": 0.0, "robust": 0.0, "distill": 0.0, "trust": False},
}
#: As much of ``smart``'s training as plain replay has.
OUR_RECIPE = {
    name: METHODS["smart"].parameters[name] for name in ("lr", "iterations", "replay", "average", "smoothing")
}


def exactly(label: str, parameters: dict[str, Any]) -> Row:
    """``smart`` with these parameters, and values kept exactly."""
    return Row(label, "smart", {**EXACT_VALUES, **parameters})


PARTS = (
    Row("smart", "smart"),
    SMART_EXACT,
    exactly("whole images, all else as smart", {"whole": True}),
    exactly("smart's memory, the paper's recipe", PAPERS_RECIPE),
    Row("plain replay, smart's recipe", "er", OUR_RECIPE),
    Row("plain replay", "er"),
    exactly("no group lasso", {"alpha": 0.0}),
    exactly("no distrust of stored labels", {"trust": False}),
    exactly("no robust loss", {"robust": 0.0}),
    exactly("no teacher", {"distill": 0.0}),
    exactly("no input dropout", {"dropout": 0.0}),
    exactly("no averaged weights", {"average": 0.0}),
    exactly("no label smoothing", {"smoothing": 0.0}),
    exactly("with NCC, β = 1", {"beta": 1.0}),
)

SETTINGS = {
    "100 images, clean": {"memory": "100 samples"},
    **{
        f"300 images, {share}% foreign": {"memory": "300 samples", "noise": f"foreign:0.{share // 10}"}
        for share in (30, 50)
    },
}
NOISES = {name: {"memory": "300 samples", "noise": f"{name}:0.3"} for name in ("foreign", "uniform", "flip")}

#: Every method of others that remembers samples in the bytes it is given, and ours.
LEFT_OUT = (
    "smart-quick",
    "finetune",
    "randumb",
    "l2",
    "ewc",
    "ewc-online",
    "si",
    "mas",
    "ncc",
    "joint",
    "er-smart",
    "der++-smart",
    "joint-smart",
)
#: What users of a sparse stream store: a row's words and their values, less than a CSR row takes.
SPARSE_ROWS = (
    Row("ER, sparse rows", "er", {"whole": False}),
    Row("DER++, sparse rows", "der++", {"whole": False}),
)
REPLAYING = (SMART_EXACT, *(Row(name, name) for name in METHODS if name not in LEFT_OUT), *SPARSE_ROWS)
WORDS = {
    **{f"flu-{years}": {"dataset": f"flu-{years}", "memory": "300 samples"} for years in SEASONS},
    "newsgroups": {"dataset": "newsgroups", "memory": "256kB"},
}

#: Joint training keeps every message, whatever the memory; only what is not zero of it, or it would fill gigabytes.
TEXT = (
    Row("smart", "smart"),
    SMART_EXACT,
    Row("ER", "er"),
    *SPARSE_ROWS,
    Row("joint training", "joint", {"whole": False}, at={"memory": "1MB"}),
    Row("joint training, smart's training", "joint-smart", at={"memory": "1MB"}),
)

#: A network of the user's own, two convolutions and two linear layers, with an augmentation. A stream of twelve hundred
#: batches needs fewer steps for each than one of a hundred.
CONVOLUTION = {
    "network": "smartcl.paper.networks:small_convolution",
    "augment": "smartcl.paper.networks:shifted",
    **{"precision": "auto", "dropout": 0.0, "lr": 1e-3, "iterations": 20, "replay": 300},
}
SHORT_STEPS = {"iterations": 6, "replay": 150}

OWN_TABLES = {
    table.name: table
    for table in (
        Table(
            "ablation",
            "What each part of smart buys, on Disjoint MNIST, all rows of parts with values exact",
            "disjoint-mnist",
            PARTS,
            tuple(SETTINGS),
            SETTINGS.__getitem__,
            {},
            seeds=BEYOND_SEEDS,
        ),
        Table(
            "noise-models",
            "Disjoint MNIST, 300 images' bytes, 30% wrong labels of three kinds",
            "disjoint-mnist",
            (Row("smart", "smart"), SMART_EXACT, Row("ER", "er")),
            tuple(NOISES),
            NOISES.__getitem__,
            {},
        ),
        Table(
            "words",
            "Every method with a memory on flu (300 samples' bytes) and 20 Newsgroups (256 kB)",
            None,
            REPLAYING,
            tuple(WORDS),
            WORDS.__getitem__,
            {},
            seeds=BEYOND_SEEDS,
            metrics=tuple(SCORES),
        ),
        Table(
            "own-network",
            "A convolutional network of one's own on Disjoint MNIST",
            "disjoint-mnist",
            (Row("smart, two convolutions", "smart", CONVOLUTION),),
            ("100",),
            lambda column: {"memory": f"{column} samples"},
            {},
            seeds=3,
        ),
        Table(
            "own-network-classes",
            "A convolutional network of one's own on ten classes of MNIST, two at a time",
            "class-mnist",
            (Row("smart, two convolutions", "smart", {**CONVOLUTION, **SHORT_STEPS}),),
            ("200",),
            lambda column: {"memory": f"{column} samples"},
            {},
            seeds=3,
        ),
        Table(
            "newsgroups",
            "20 Newsgroups: accuracy by memory",
            "newsgroups",
            TEXT,
            ("256kB", "1MB", "300 samples"),
            lambda column: {"memory": column},
            {},
            seeds=BEYOND_SEEDS,
        ),
    )
}
