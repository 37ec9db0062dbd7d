"""Renderings of the artefacts of the catalogue, by name: text for the terminal, and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from smartcl.paper.datasets.dataset_registry import DATASETS
from smartcl.paper.experiments.catalogue import Artefact
from smartcl.paper.experiments.keywords import KeywordStudy
from smartcl.paper.experiments.measures import format_value
from smartcl.paper.experiments.samples_held import HeldSamples
from smartcl.paper.experiments.tuning import write_strengths
from smartcl.paper.report.ablation_grid import ablation_grid
from smartcl.paper.report.bytes_figure import write_bytes
from smartcl.paper.report.keywords_figure import keyword_grid, write_keywords
from smartcl.paper.report.real_streams_figure import place_grids, write_real_streams
from smartcl.paper.report.samples_figure import write_samples
from smartcl.paper.report.sensitivity_figure import write_sensitivity
from smartcl.paper.report.stream_grids import stream_grids
from smartcl.paper.report.streams_figure import write_streams
from smartcl.paper.report.table_grids import column_grids, paired_grid
from smartcl.paper.report.theory_figure import theory_text, write_theory
from smartcl.paper.report.total_figure import write_totals

#: An artefact's data, as the catalogue makes them.
FigureData = dict[str, Any]


def nothing(*_: object) -> Any:
    return []


@dataclass(frozen=True)
class Rendering:
    """Beside the tables of its runs: what is printed, and what is written into a folder."""

    text: Callable[[FigureData], list[RenderableType]] = nothing
    write: Callable[[FigureData, Path], list[Path]] = nothing


def keywords_text(data: FigureData) -> list[RenderableType]:
    return [keyword_grid(KeywordStudy.of(study)) for study in data["studies"]]


def write_studies(data: FigureData, folder: Path) -> list[Path]:
    stems = {folder / f"keywords-{study['spec']['dataset']}": study for study in data["studies"]}
    return [path for stem, study in stems.items() for path in write_keywords(KeywordStudy.of(study), stem)]


def write_curves(data: FigureData, folder: Path) -> list[Path]:
    return write_samples([HeldSamples.of(curve) for curve in data["curves"]], folder)


def streams_text(data: FigureData) -> list[RenderableType]:
    return [grid.terminal() for grid in stream_grids(data)]


def real_streams_text(data: FigureData) -> list[RenderableType]:
    return [grid.terminal() for grid in place_grids(data)]


def strengths_text(data: FigureData) -> list[RenderableType]:
    edge = data["at_the_edge"]
    return [
        f"{method}: {strength:g}{' (at the edge of the grid)' if method in edge else ''}"
        for method, strength in data["chosen"].items()
    ]


def steps_text(data: FigureData) -> list[RenderableType]:
    lines = [
        f"mean {metric}: "
        + ", ".join(f"{format_value(metric, value)} ({steps} steps)" for steps, value in found.items())
        for metric, found in data["means"].items()
    ]
    return [*lines, f"chosen by AUC: {data['chosen']} steps a batch"]


def ablation_text(data: FigureData) -> list[RenderableType]:
    return [ablation_grid(data).terminal(), f"ensemble/settings.py has {data['numbers']} names of numbers."]


RENDERINGS: dict[str, Rendering] = {
    "keywords": Rendering(keywords_text, write_studies),
    "figure-samples": Rendering(write=write_curves),
    "figure-bytes": Rendering(write=write_bytes),
    "total-bytes": Rendering(write=write_totals),
    "figure-sensitivity": Rendering(write=write_sensitivity),
    "theory": Rendering(theory_text, write_theory),
    "streams": Rendering(streams_text, write_streams),
    "real-streams": Rendering(real_streams_text, write_real_streams),
    "table3-tuning": Rendering(strengths_text, write_strengths),
    "events-tuning": Rendering(steps_text),
    "ablation-ensemble": Rendering(ablation_text),
}


def shown(name: str, artefact: Artefact, data: FigureData, paired: bool) -> Iterator[RenderableType]:
    """For the terminal: the tables with what to know of their data, paired differences if asked for, its own text."""
    for table, said in zip(artefact.tables, data.get("tables", [data]), strict=True):
        for grid in column_grids(table, said["cells"]):
            yield grid.terminal()
        known = [DATASETS[spec.dataset] for spec in table.specs(1) if spec.dataset in DATASETS]
        yield from filter(None, dict.fromkeys(dataset.note for dataset in known))
        for stream in said["streams"]:
            if "could not be had" in stream:
                yield f"These runs are on {stream}."
        if paired and said.get("paired"):
            yield paired_grid(table, said["paired"]).terminal()
    yield from RENDERINGS.get(name, Rendering()).text(data)
