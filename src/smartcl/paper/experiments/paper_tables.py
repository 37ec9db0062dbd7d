"""The paper's tables as grids of runs, with the published cells beside ours."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

from smartcl.learners.methods import find_method
from smartcl.paper.datasets.protocols import COUNTRIES, SEASONS
from smartcl.paper.experiments.measures import HOLDINGS, SCORES
from smartcl.paper.experiments.published import TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5, TABLE_5_CIVIL
from smartcl.paper.experiments.run_table import EXACT_VALUES, Row, Table


def memory(column: str) -> dict[str, str]:
    return {"memory": f"{column} samples"}


def foreign(column: str, kind: str = "foreign") -> dict[str, str]:
    return {"memory": "300 samples", "noise": "none" if column == "clean" else f"{kind}:0.{column[0]}"}


def events(noise: str, column: str) -> dict[str, str]:
    return {"dataset": column, "memory": "300 samples", "noise": noise}


#: As many as the paper has, and what is enough for rows beyond it.
PAPER_SEEDS, BEYOND_SEEDS = 10, 5

PAPER_SELECTORS = tuple(
    Row(name, name.lower(), printed=name) for name in ("GSS-Clust", "FSS-Clust", "GSS-IQP", "GSS-Greedy")
)
FSS_ON_LOGITS = Row("FSS-Clust on logits", "fss-clust", {"layer": "logits"}, printed="FSS-Clust", seeds=BEYOND_SEEDS)
FSS_MEMORY_FIRST = Row(
    "FSS-Clust, memory first", "fss-clust", {"memory_first": True}, printed="FSS-Clust", seeds=BEYOND_SEEDS
)
SMART_EXACT = Row("smart, values exact", "smart", EXACT_VALUES, seeds=BEYOND_SEEDS)
SMART_ROWS = (Row("SMART, paper's settings", "smart-paper", printed="SMART"), Row("smart", "smart"), SMART_EXACT)
#: The memories of others, learned from as ``smart`` learns: what its memory buys, apart from its training.
AS_SMART_LEARNS = (
    Row("ER with smart's training", "er-smart", seeds=BEYOND_SEEDS),
    Row("DER++ with smart's training", "der++-smart", seeds=BEYOND_SEEDS),
)
#: Joint training keeps every sample, whatever the memory: one run serves all sizes.
JOINT = (
    Row("joint training", "joint", at={"memory": "300 samples"}, seeds=BEYOND_SEEDS),
    Row("joint training, smart's training", "joint-smart", at={"memory": "300 samples"}, seeds=BEYOND_SEEDS),
)
#: The critic of memories: random features and sums, no sample; one run serves all sizes of memory.
RANDUMB = Row("RanDumb", "randumb", at={"memory": "300 samples"}, seeds=3)
#: What ``SmartClassifier`` is by default.
BY_DEFAULT = Row("default", "adaptive", seeds=3)
BEYOND = (
    BY_DEFAULT,
    RANDUMB,
    *(Row(name, name.lower(), seeds=BEYOND_SEEDS) for name in ("ER", "GDumb", "DER++")),
    *AS_SMART_LEARNS,
    *JOINT,
)

#: Table 3 repeats each task four times: one step a batch, with the coefficients of Hsu et al. 2018.
REGULARISERS = (
    Row("Vanilla", "finetune", {"iterations": 1, "lr": 1e-3, "init": "fan-in"}, printed="Vanilla"),
    *(Row(name, name.lower(), printed=name) for name in ("EWC", "SI", "L2", "MAS", "NCC")),
    Row("online EWC", "ewc-online", seeds=BEYOND_SEEDS),
)

CIVIL = tuple(f"civil-{country.lower()}" for country in COUNTRIES)
FLU = tuple(f"flu-{years}" for years in SEASONS)

#: Read out of the runs of ``smart``, which carry them.
REFERENCE_ROWS = tuple(
    Row(label, "smart", EXACT_VALUES, reference=name)
    for name, label in {
        "majority": "majority",
        "base_rate": "city base rate",
        "logistic_regression": "logistic regression, offline",
    }.items()
)


#: Steps a batch that suit event streams, as ``smartcl reproduce events-tuning`` finds on training days.
EVENT_STEPS = 2
FEW_STEPS = Row(
    f"{SMART_EXACT.label}, {EVENT_STEPS} steps a batch", "smart", {**EXACT_VALUES, "iterations": EVENT_STEPS}
)


def storage_rows(memory: str, learner: Row) -> tuple[Row, Row]:
    """Schematic storage against whole samples, in the same bytes and learned in the same way."""
    smart = replace(learner, label=f"{learner.label}, {memory}", at={"memory": memory})
    whole = replace(smart, label=smart.label.replace("smart", "whole"), parameters={**smart.parameters, "whole": True})
    return replace(smart, versus=whole), whole


STORAGE_ROWS = tuple(
    row
    for learner in (SMART_EXACT, FEW_STEPS)
    for memory in ("30 samples", "100 samples", "300 samples")
    for row in storage_rows(memory, learner)
)


def table_4(share: str) -> Table:
    """Civil unrest at one share of flipped labels; with clean ones also flu, the control with real signal."""
    clean = share == "clean"
    return Table(
        "table4" if clean else f"table4-{share.strip('%')}",
        f"{'Civil unrest and flu' if clean else 'Civil unrest'}, 300 samples' bytes, "
        f"{'clean labels' if clean else f'{share} of labels flipped'}",
        None,
        (
            *PAPER_SELECTORS,
            *SMART_ROWS,
            *([FEW_STEPS] if clean else []),
            Row("ER", "er"),
            *JOINT,
            *REFERENCE_ROWS,
        ),
        (*CIVIL, *FLU) if clean else CIVIL,
        partial(events, "none" if clean else f"flip:0.{share[0]}"),
        TABLE_4[share],
        seeds=BEYOND_SEEDS,
        metrics=tuple(SCORES),
    )


#: The strengths that ``tuning.py`` chose.
STRENGTHS = Path(__file__).with_name("strengths.json")


def tuned_rows(path: Path) -> tuple[Row, ...]:
    """The regularisers again, with the strengths of this file; none while there is no such file.

    A strength that is the usual one is left out, so that the row shows the same runs.
    """
    strengths = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    chosen = [
        (row, {} if usual == strengths[row.method] else {"strength": strengths[row.method]})
        for row in REGULARISERS
        if row.method in strengths
        for usual in [find_method(row.method).parameters["strength"]]
    ]
    return tuple(replace(row, label=f"{row.label}, tuned", parameters=strength) for row, strength in chosen)


PAPER_TABLES = {
    table.name: table
    for table in (
        Table(
            "table1",
            "Disjoint MNIST: accuracy by memory (in whole images' bytes)",
            "disjoint-mnist",
            (*PAPER_SELECTORS, FSS_MEMORY_FIRST, FSS_ON_LOGITS, *SMART_ROWS, *BEYOND),
            ("100", "200", "300", "400", "500"),
            memory,
            TABLE_1,
            seeds=PAPER_SEEDS,
        ),
        Table(
            "table2",
            "Disjoint MNIST, 300 images' bytes: accuracy by share of foreign labels",
            "disjoint-mnist",
            (*PAPER_SELECTORS, *SMART_ROWS, *BEYOND),
            ("clean", "10%", "20%", "30%", "40%", "50%"),
            foreign,
            TABLE_2,
            seeds=PAPER_SEEDS,
        ),
        Table(
            "table2-skewed",
            "The same with labels drawn as the paper's public code draws them: never a 9, and sometimes the right one",
            "disjoint-mnist",
            (*PAPER_SELECTORS, *SMART_ROWS),
            ("10%", "20%", "30%", "40%", "50%"),
            partial(foreign, kind="foreign-skewed"),
            {name: cells[1:] for name, cells in TABLE_2.items()},
            seeds=3,
        ),
        Table(
            "table3",
            "Split MNIST without memory: accuracy by share of foreign labels",
            "split-mnist",
            (*REGULARISERS, *tuned_rows(STRENGTHS)),
            ("clean", "10%", "30%", "50%", "70%"),
            foreign,
            TABLE_3,
            seeds=PAPER_SEEDS,
        ),
        *(table_4(share) for share in TABLE_4),
        Table(
            "samples",
            "Schematic storage against whole samples in the same bytes",
            None,
            STORAGE_ROWS,
            CIVIL,
            partial(events, "none"),
            {},
            metrics=(*HOLDINGS, "balanced_accuracy", "auc"),
        ),
        Table(
            "table5",
            "Task-aware methods: Disjoint MNIST, 300 images' bytes",
            "disjoint-mnist",
            (
                Row("iCaRL", "icarl", printed="iCaRL"),
                Row("iCaRL on raw outputs", "icarl", {"layer": "logits"}, printed="iCaRL"),
                Row("GEM", "gem", printed="GEM"),
                Row("A-GEM", "a-gem", seeds=BEYOND_SEEDS),
                BY_DEFAULT,
                RANDUMB,
                *SMART_ROWS,
            ),
            ("300",),
            memory,
            TABLE_5,
            seeds=PAPER_SEEDS,
        ),
        Table(
            "table5-civil",
            "Task-aware methods: civil unrest, 300 samples' bytes",
            None,
            (Row("iCaRL", "icarl", printed="iCaRL"), Row("GEM", "gem", printed="GEM"), *SMART_ROWS, *REFERENCE_ROWS),
            CIVIL,
            partial(events, "none"),
            TABLE_5_CIVIL,
            seeds=BEYOND_SEEDS,
            metrics=tuple(SCORES),
        ),
    )
}
