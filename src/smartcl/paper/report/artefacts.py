"""The paper's evaluation by name: the tables of runs each part is made of, and what else is made of them.

A new figure is one ``Artefact`` in ``FIGURES``: the runs it needs as tables (or none, if it makes what it needs on its
own), further data, further text, and the files it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from smartcl.paper.experiments import events_tuning, samples_held, theory, tuning
from smartcl.paper.experiments.keyword_runs import KEYWORDS
from smartcl.paper.experiments.keywords import KeywordStudy
from smartcl.paper.experiments.metrics import format_value
from smartcl.paper.experiments.paired import paired_differences
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.sensitivity import ALONG_ALPHA, ALONG_BETA
from smartcl.paper.experiments.table import Table
from smartcl.paper.experiments.tables import TABLES
from smartcl.paper.report.keywords_figure import write_keywords_figure
from smartcl.paper.report.keywords_table import keyword_grid
from smartcl.paper.report.samples_figure import write_samples_figure
from smartcl.paper.report.sensitivity_figure import write_sensitivity
from smartcl.paper.report.theory_figure import theory_text, write_theory

#: Tables with the number of seeds to read of each.
Counted = Sequence[tuple[Table, int]]


def nothing(*_: object) -> Any:
    return []


def no_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Artefact:
    """``data`` adds to what the tables' cells say; ``text`` and ``write`` take that whole.

    ``routine`` artefacts belong to ``all``.
    """

    tables: tuple[Table, ...]
    data: Callable[[Counted, ResultFolder], dict[str, Any]] = no_data
    text: Callable[[dict[str, Any]], list[RenderableType]] = nothing
    write: Callable[[dict[str, Any], Path], list[Path]] = nothing
    routine: bool = True


def theory_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    looks = [look for table, seeds in tables for look in theory.theory_looks(table, seeds, results)]
    return {"looks": looks, "lines": theory.theory_lines(looks), "counter_example": theory.counter_example()}


def tuning_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    found: dict[str, float] = {}
    for table, seeds in tables:
        found |= tuning.chosen(table, seeds, results)
    return {"chosen": found, "at_the_edge": tuning.at_the_edge(found)}


def tuning_text(data: dict[str, Any]) -> list[RenderableType]:
    edge = data["at_the_edge"]
    return [
        f"{method}: {strength:g}{' (at the edge of the grid)' if method in edge else ''}"
        for method, strength in data["chosen"].items()
    ]


def steps_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    [(table, seeds)] = tables
    means = events_tuning.mean_scores(table, seeds, results)
    return {"means": means, "chosen": events_tuning.best_steps(means)}


def steps_text(data: dict[str, Any]) -> list[RenderableType]:
    lines = [
        f"mean {metric}: "
        + ", ".join(f"{format_value(metric, value)} ({steps} steps)" for steps, value in found.items())
        for metric, found in data["means"].items()
    ]
    return [*lines, f"chosen by AUC: {data['chosen']} steps a batch"]


def samples_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    curves = [curve for table, seeds in tables for curve in samples_held.held_curves(table, seeds, results)]
    return {"curves": [curve.as_dict() for curve in curves]}


def write_samples(data: dict[str, Any], folder: Path) -> list[Path]:
    return write_samples_figure([samples_held.HeldSamples.of(curve) for curve in data["curves"]], folder)


def keywords_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    found = [results.load(spec) for table, seeds in tables for spec in table.specs(seeds)]
    parts = ("keywords", "spec", "stream")
    made = [result for result in found if result is not None and result.keys() >= set(parts)]
    return {"studies": [{part: result[part] for part in parts} for result in made]}


def keywords_text(data: dict[str, Any]) -> list[RenderableType]:
    return [keyword_grid(KeywordStudy.of(study)) for study in data["studies"]]


def write_keywords(data: dict[str, Any], folder: Path) -> list[Path]:
    stems = {folder / f"keywords-{study['spec']['dataset']}": study for study in data["studies"]}
    return [path for stem, study in stems.items() for path in write_keywords_figure(KeywordStudy.of(study), stem)]


FIGURES: dict[str, Artefact] = {
    "keywords": Artefact((KEYWORDS,), keywords_data, keywords_text, write_keywords),
    "figure-samples": Artefact((samples_held.HELD,), samples_data, write=write_samples),
    "figure-sensitivity": Artefact((ALONG_ALPHA, ALONG_BETA), write=write_sensitivity),
    "theory": Artefact((theory.RUNS,), theory_data, theory_text, write_theory),
    "table3-tuning": Artefact((tuning.TUNING,), tuning_data, tuning_text, tuning.write_strengths, routine=False),
    "events-tuning": Artefact((events_tuning.TUNING,), steps_data, steps_text, routine=False),
}


def artefact_data(name: str, artefact: Artefact, seeds: int | None, results: ResultFolder) -> dict[str, Any]:
    """All that the result files say of it, as plain values; of a table of the paper, paired differences too."""
    counted = [(table, seeds or table.seeds) for table in artefact.tables]
    tables = [table_data(table, count, results) for table, count in counted]
    if name in TABLES:
        [(table, count)] = counted
        return {**tables[0], "paired": paired_differences(table, count, results)}
    return {"figure": name, "tables": tables, **artefact.data(counted, results)}


def table_data(table: Table, seeds: int, results: ResultFolder) -> dict[str, Any]:
    """Rows, columns, cells, and the streams the runs were made on, as they name themselves."""
    found = (results.load(spec) for spec in table.specs(seeds))
    return {
        "table": table.name,
        "title": table.title,
        "rows": [row.label for row in table.rows],
        "columns": list(table.columns),
        "cells": table.cells(seeds, results),
        "streams": sorted({result["stream"] for result in found if result is not None and "stream" in result}),
    }


def known_names() -> list[str]:
    """All that can be reproduced."""
    return [*TABLES, *FIGURES, "all"]


def find_artefacts(name: str) -> dict[str, Artefact]:
    """The artefact of this name, or all of them, by name.

    >>> list(find_artefacts("table1"))
    ['table1']
    """
    known = {**{each: Artefact((table,)) for each, table in TABLES.items()}, **FIGURES}
    if name == "all":
        return {each: artefact for each, artefact in known.items() if artefact.routine}
    if name not in known:
        raise ValueError(f"unknown table or figure {name!r}: known are {', '.join(known_names())}")
    return {name: known[name]}


def quick(table: Table) -> Table:
    """Two rows and two columns, one seed: plain replay and SMART (else the first rows) at the first and third column.

    >>> small = quick(TABLES["table1"])
    >>> [row.method for row in small.rows], small.columns, small.seeds
    (['smart', 'er'], ('100', '300'), 1)
    """
    rows = tuple(row for row in table.rows if row.method in ("er", "smart"))
    return replace(table, rows=rows[:2] or table.rows[:2], columns=table.columns[:3:2], seeds=1)
