"""Samples held along the stream, and the bytes they take: a row of two panels per data set."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from smartcl.experiments.results import ResultFolder
from smartcl.experiments.samples_held import (
    DATASETS,
    MEMORY,
    METHODS,
    WHOLE,
    HeldSamples,
    held_samples,
    samples_specs,
)
from smartcl.experiments.spec import RunSpec
from smartcl.experiments.sweep import Finished, sweep
from smartcl.memory import format_bytes
from smartcl.report.figures import save_figure

COLOURS = {"smart": "#b3263b", "smart-paper": "#1f6f9f", "er": "#6b7680"}
STEM = "figure-samples"
#: The least distance between two labels at the end of curves, as a share of the panel's height.
LABEL_GAP = 0.11


def make_samples_figure(
    results_dir: Path,
    out_dir: Path,
    datasets: Sequence[str] = DATASETS,
    seeds: int = 1,
    memory: str = MEMORY,
    data_dir: Path | None = None,
    workers: int | None = None,
    finished: Finished = lambda spec, reason: None,
) -> dict[RunSpec, str]:
    """Make the missing runs; write ``figure-samples.csv``, ``.svg`` and ``.png``. Returns the runs that failed."""
    results = ResultFolder(results_dir)
    failures = sweep(samples_specs(tuple(datasets), seeds, memory), results, finished, workers, data_dir)
    found = [held_samples(dataset, method, seeds, memory, results) for dataset in datasets for method in METHODS]
    curves = [curve for curve in found if curve is not None]
    if curves:
        out_dir.mkdir(parents=True, exist_ok=True)
        write_samples(curves, out_dir / f"{STEM}.csv")
        save_figure(draw_samples(curves, memory), out_dir / STEM)
    return failures


def write_samples(curves: Sequence[HeldSamples], path: Path) -> None:
    """One line per data set, method and look at the memory."""
    whole = {curve.dataset: curve.samples for curve in curves if curve.method == WHOLE}
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        columns = ["dataset", "stream", "method", "seeds", "batches", "samples", "bytes", "budget_bytes"]
        table.writerow([*columns, "percent_of_whole_storage"])
        for curve in curves:
            beside = whole.get(curve.dataset)
            for look, batches in enumerate(curve.batches):
                held, size = float(curve.samples[look]), float(curve.bytes[look])
                percent = "" if beside is None else f"{100 * held / beside[look]:.1f}"
                row = [curve.dataset, curve.stream, curve.method, curve.seeds, int(batches)]
                table.writerow([*row, f"{held:g}", f"{size:.10g}", curve.budget, percent])


def draw_samples(curves: Sequence[HeldSamples], memory: str) -> Figure:
    """Left the counts with what they are of whole storage, right the bytes under the budget."""
    datasets = list(dict.fromkeys(curve.dataset for curve in curves))
    figure = Figure(figsize=(10.5, 0.6 + 2.5 * len(datasets)), layout="constrained")
    grid = figure.subplots(len(datasets), 2, squeeze=False)
    for dataset, (counts, sizes) in zip(datasets, grid, strict=True):
        own = [curve for curve in curves if curve.dataset == dataset]
        _draw_counts(counts, own)
        _draw_bytes(sizes, own)
        counts.set_title(f"{own[0].stream}: samples held", loc="left", fontsize=10)
        sizes.set_title("bytes they take", loc="left", fontsize=10)
        for axes in (counts, sizes):
            axes.set_xlabel("batches learned", fontsize=9)
            axes.tick_params(labelsize=8)
            axes.spines[["top", "right"]].set_visible(False)
            axes.set_xlim(0, own[0].batches[-1])
    figure.suptitle(f"What a memory of {memory}, counted in bytes, holds", x=0.01, ha="left", fontsize=12)
    return figure


def _draw_counts(axes: Axes, curves: Sequence[HeldSamples]) -> None:
    whole = next((curve.samples[-1] for curve in curves if curve.method == WHOLE), None)
    labels = {}
    for curve in curves:
        axes.plot(curve.batches, curve.samples, color=COLOURS[curve.method], lw=2)
        percent = "" if whole is None or curve.method == WHOLE else f" ({100 * curve.samples[-1] / whole:.0f}%)"
        labels[f"{METHODS[curve.method]}: {curve.samples[-1]:,.0f}{percent}"] = curve
    axes.set_ylim(0, 1.1 * max(curve.samples.max() for curve in curves))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    _label_ends(axes, {text: (float(curve.samples[-1]), COLOURS[curve.method]) for text, curve in labels.items()})


def _draw_bytes(axes: Axes, curves: Sequence[HeldSamples]) -> None:
    budget = curves[0].budget
    ends = {}
    for curve in curves:
        axes.plot(curve.batches, curve.bytes / 1000, color=COLOURS[curve.method], lw=2)
        share = f"{100 * curve.bytes[-1] / budget:.0f}% of the budget"
        ends[f"{METHODS[curve.method]}: {share}"] = (float(curve.bytes[-1]) / 1000, COLOURS[curve.method])
    axes.axhline(budget / 1000, color="black", lw=1, ls="--")
    axes.annotate(f"budget {format_bytes(budget)}", (0, budget / 1000), (2, 3), textcoords="offset points", fontsize=8)
    axes.set_ylim(0, 1.18 * budget / 1000)
    axes.set_ylabel("kB", fontsize=9)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    _label_ends(axes, ends)


def _label_ends(axes: Axes, ends: dict[str, tuple[float, str]]) -> None:
    """A curve's name at its right end, outside the panel; names that would overlap are moved apart."""
    low, high = axes.get_ylim()
    gap, last = LABEL_GAP * (high - low), float("-inf")
    for text, (value, colour) in sorted(ends.items(), key=lambda item: item[1][0]):
        last = max(value, last + gap)
        place = (1.02, (last - low) / (high - low))
        axes.text(*place, text, transform=axes.transAxes, color=colour, fontsize=8.5, va="center")
