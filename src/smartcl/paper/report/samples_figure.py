"""Samples held along the stream, and the bytes they take: a row of two panels per data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smartcl.memory import format_bytes
from smartcl.paper.experiments.paper_tables import SMART_EXACT
from smartcl.paper.experiments.samples_held import MEMORY, WHOLE, HeldSamples
from smartcl.paper.report.pictures import new_picture, save_numbers, save_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"smart": "#b3263b", SMART_EXACT.label: "#d98a1f", "smart-paper": "#1f6f9f", WHOLE: "#6b7680"}
STEM = "figure-samples"
#: The least distance between two labels at the end of curves, as a share of the panel's height.
LABEL_GAP = 0.1
#: Two methods often hold the same: the dashes of one let the other be seen.
DASHES = {"smart-paper": (0, (4, 2))}


def write_samples(curves: Sequence[HeldSamples], folder: Path) -> list[Path]:
    """``figure-samples.csv``, ``.svg`` and ``.png``; nothing while there are no runs."""
    if not curves:
        return []
    return [save_numbers(folder / STEM, sample_lines(curves)), *save_picture(draw_samples(curves), folder / STEM)]


def sample_lines(curves: Sequence[HeldSamples]) -> list[tuple[object, ...]]:
    """One line per data set, method and look at the memory."""
    whole = {curve.dataset: curve.samples for curve in curves if curve.method == WHOLE}
    columns = ("dataset", "stream", "method", "seeds", "batches", "samples", "bytes", "budget_bytes")
    lines: list[tuple[object, ...]] = [(*columns, "percent_of_whole_storage")]
    for curve in curves:
        beside = whole.get(curve.dataset)
        for look, batches in enumerate(curve.batches):
            held, size = float(curve.samples[look]), float(curve.bytes[look])
            percent = "" if beside is None else f"{100 * held / beside[look]:.1f}"
            named = (curve.dataset, curve.stream, curve.method, curve.seeds, int(batches))
            lines.append((*named, f"{held:g}", f"{size:.10g}", curve.budget, percent))
    return lines


def draw_samples(curves: Sequence[HeldSamples]) -> Figure:
    """Left the counts with what they are of whole storage, right the bytes under the budget."""
    datasets = list(dict.fromkeys(curve.dataset for curve in curves))
    figure = new_picture(10.5, 0.7 + 2.3 * len(datasets))
    grid = figure.subplots(len(datasets), 2, squeeze=False)
    for dataset, (counts, sizes) in zip(datasets, grid, strict=True):
        own = [curve for curve in curves if curve.dataset == dataset]
        _draw_counts(counts, own)
        _draw_bytes(sizes, own)
        counts.set_title(own[0].stream, loc="left", fontsize=10, weight="bold")
        for axes in (counts, sizes):
            axes.set_xlabel("batches learned", fontsize=9)
            axes.tick_params(labelsize=8)
            axes.spines[["top", "right"]].set_visible(False)
            axes.set_xlim(0, own[0].batches[-1])
    title = f"The bytes of {MEMORY}: how many samples are held in them, in percent of whole storage, and what they take"
    figure.suptitle(title, x=0.01, ha="left", fontsize=10.5)
    return figure


def _draw_counts(axes: Axes, curves: Sequence[HeldSamples]) -> None:
    whole = next((curve.samples[-1] for curve in curves if curve.method == WHOLE), None)
    ends = {}
    for curve in curves:
        axes.plot(curve.batches, curve.samples, lw=2, **_line(curve.method))
        percent = "" if whole is None or curve.method == WHOLE else f" ({100 * curve.samples[-1] / whole:.0f}%)"
        ends[f"{curve.method}: {curve.samples[-1]:,.0f}{percent}"] = (float(curve.samples[-1]), curve.method)
    axes.set_ylim(0, 1.1 * max(curve.samples.max() for curve in curves))
    axes.set_ylabel("samples held", fontsize=9)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    _label_ends(axes, ends)


def _draw_bytes(axes: Axes, curves: Sequence[HeldSamples]) -> None:
    budget = curves[0].budget
    ends = {}
    for curve in curves:
        axes.plot(curve.batches, curve.bytes / 1000, lw=2, **_line(curve.method))
        share = f"{100 * curve.bytes[-1] / budget:.0f}% of the budget"
        ends[f"{curve.method}: {share}"] = (float(curve.bytes[-1]) / 1000, curve.method)
    axes.axhline(budget / 1000, color="black", lw=1, ls=":")
    text = f"budget {format_bytes(budget)}"
    axes.annotate(text, (0, budget / 1000), (3, 3), textcoords="offset points", fontsize=8)
    axes.set_ylim(0, 1.18 * budget / 1000)
    axes.set_ylabel("kB", fontsize=9)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    _label_ends(axes, ends)


def _line(method: str) -> dict[str, Any]:
    return {"color": COLOURS[method], "linestyle": DASHES.get(method, "solid")}


def _label_ends(axes: Axes, ends: dict[str, tuple[float, str]]) -> None:
    """A curve's name at its right end, outside the panel."""
    height = axes.get_ylim()[1]
    ordered = sorted(ends.items(), key=lambda item: item[1][0])
    places = spread([value / height for _, (value, _) in ordered], LABEL_GAP)
    for (text, (_, method)), place in zip(ordered, places, strict=True):
        axes.text(1.02, place, text, transform=axes.transAxes, color=COLOURS[method], fontsize=8.5, va="center")


def spread(places: Sequence[float], gap: float, top: float = 0.97) -> list[float]:
    """Rising places moved apart to at least ``gap``: upwards, and down again from ``top`` where they would pass it.

    >>> [round(place, 2) for place in spread([0.2, 0.22, 0.9, 0.95], gap=0.1)]
    [0.2, 0.3, 0.87, 0.97]
    """
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    return [min(place, top - gap * above) for above, place in zip(reversed(range(len(moved))), moved, strict=True)]
