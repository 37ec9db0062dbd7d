"""The paper's evaluation by name: the tables of runs each part is made of, and the data that are made of them.

A new figure is one ``Artefact`` in ``FIGURES``: the runs it needs as tables, further data, and what kinds of files the
report writes of them under its name there (``report/renderings.py``). Nothing here draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smartcl.paper.experiments.default_tables import CLASSES_TABLE, DEFAULT_TABLE
from smartcl.paper.experiments.encoder_tables import ENCODER_TABLES
from smartcl.paper.experiments.keywords import KEYWORD_RUNS, keyword_data
from smartcl.paper.experiments.own_tables import OWN_TABLES
from smartcl.paper.experiments.paper_tables import PAPER_TABLES
from smartcl.paper.experiments.precision_runs import BYTES_RUNS, PRECISION_TABLE, bytes_data
from smartcl.paper.experiments.real_stream_tables import IN_FIFTIES, REAL_STREAM_TABLES, ROW_BY_ROW, real_streams_data
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_table import Counted, Table, paired_differences, results_of
from smartcl.paper.experiments.samples_held import HELD_RUNS, samples_data
from smartcl.paper.experiments.sensitivity import ALONG_ALPHA, ALONG_BETA, sensitivity_data
from smartcl.paper.experiments.streams import STREAM_RUNS, streams_data
from smartcl.paper.experiments.theory import THEORY_RUNS, theory_data
from smartcl.paper.experiments.total_runs import TOTAL_RUNS, total_data
from smartcl.paper.experiments.tuning import STEP_RUNS, STRENGTH_RUNS, step_data, strength_data
from smartcl.paper.experiments.unseen_tables import (
    FASHION_CLASSES_TABLE,
    FASHION_TABLE,
    FRESH_TABLE,
    WRONG_CLASSES_TABLE,
)

if TYPE_CHECKING:
    from smartcl.paper.experiments.ensemble_ablation import Ablation

TABLES: dict[str, Table] = {
    **PAPER_TABLES,
    **OWN_TABLES,
    DEFAULT_TABLE.name: DEFAULT_TABLE,
    CLASSES_TABLE.name: CLASSES_TABLE,
    FRESH_TABLE.name: FRESH_TABLE,
    FASHION_TABLE.name: FASHION_TABLE,
    FASHION_CLASSES_TABLE.name: FASHION_CLASSES_TABLE,
    WRONG_CLASSES_TABLE.name: WRONG_CLASSES_TABLE,
    **ENCODER_TABLES,
    PRECISION_TABLE.name: PRECISION_TABLE,
    STREAM_RUNS.name: STREAM_RUNS,
    **REAL_STREAM_TABLES,
}


@dataclass(frozen=True)
class Artefact:
    """``data`` is made of the results of the tables; ``files`` are the endings of what is written of it.

    ``routine`` artefacts belong to ``all``. An ``ablation`` makes runs of its own, that are in no table.
    """

    tables: tuple[Table, ...]
    data: Callable[[Counted, ResultFolder], dict[str, Any]] | None = None
    files: tuple[str, ...] = ()
    routine: bool = True
    ablation: Callable[[], Ablation] | None = None


def ensemble_ablation() -> Ablation:
    """The runs of all variants; the learner and its variants are imported when they are asked for."""
    from smartcl.paper.experiments.ensemble_ablation import Ablation

    return Ablation()


PICTURE = ("csv", "svg")

FIGURES: dict[str, Artefact] = {
    "keywords": Artefact((KEYWORD_RUNS,), keyword_data, PICTURE),
    "figure-samples": Artefact((HELD_RUNS,), samples_data, PICTURE),
    "figure-bytes": Artefact((BYTES_RUNS,), bytes_data, PICTURE),
    "total-bytes": Artefact((TOTAL_RUNS,), total_data, PICTURE),
    "figure-sensitivity": Artefact((ALONG_ALPHA, ALONG_BETA), sensitivity_data, PICTURE),
    "theory": Artefact((THEORY_RUNS,), theory_data, PICTURE),
    "streams": Artefact((STREAM_RUNS,), streams_data, PICTURE, routine=False),
    "real-streams": Artefact((ROW_BY_ROW, IN_FIFTIES), real_streams_data, PICTURE, routine=False),
    "table3-tuning": Artefact((STRENGTH_RUNS,), strength_data, ("json",), routine=False),
    "events-tuning": Artefact((STEP_RUNS,), step_data, routine=False),
    "ablation-ensemble": Artefact((), routine=False, ablation=ensemble_ablation),
}


def known_artefacts() -> dict[str, Artefact]:
    """All that can be reproduced, by name."""
    return {**{name: Artefact((table,)) for name, table in TABLES.items()}, **FIGURES}


def known_names() -> list[str]:
    """Their names, and the name of all of them."""
    return [*known_artefacts(), "all"]


def find_artefacts(name: str) -> dict[str, Artefact]:
    """The artefact of this name, or all of them, by name.

    >>> list(find_artefacts("table1"))
    ['table1']
    """
    known = known_artefacts()
    if name == "all":
        return {each: artefact for each, artefact in known.items() if artefact.routine}
    if name not in known:
        raise ValueError(f"unknown table or figure {name!r}: known are {', '.join(known_names())}")
    return {name: known[name]}


def artefact_data(name: str, artefact: Artefact, seeds: int | None, results: ResultFolder) -> dict[str, Any]:
    """All that the result files say of it, as plain values; of a table of the paper, paired differences too."""
    counted = [(table, seeds or table.seeds) for table in artefact.tables]
    tables = [table_data(table, count, results) for table, count in counted]
    if artefact.ablation is not None:
        return {"figure": name, "tables": tables, **artefact.ablation().data(results.folder, seeds)}
    if artefact.data is None:
        [(table, count)] = counted
        return {**tables[0], "paired": paired_differences(table, count, results)}
    return {"figure": name, "tables": tables, **artefact.data(counted, results)}


def table_data(table: Table, seeds: int, results: ResultFolder) -> dict[str, Any]:
    """Rows, columns, cells, and the streams the runs were made on, as they name themselves."""
    found = results_of([(table, seeds)], results)
    return {
        "table": table.name,
        "title": table.title,
        "rows": [row.label for row in table.rows],
        "columns": list(table.columns),
        "cells": table.cells(seeds, results),
        "streams": sorted({result["stream"] for _, result in found if "stream" in result}),
    }


def quick(table: Table) -> Table:
    """Two rows and two columns, one seed: plain replay and SMART (else the first rows) at the first and third column.

    >>> small = quick(TABLES["table1"])
    >>> [row.method for row in small.rows], small.columns, small.seeds
    (['smart', 'er'], ('100', '300'), 1)
    """
    first = {row.method: row for row in reversed(table.rows)}
    rows = tuple(row for row in table.rows if row.method in ("er", "smart") and row is first[row.method])
    return replace(table, rows=rows or table.rows[:2], columns=table.columns[:3:2], seeds=1)
