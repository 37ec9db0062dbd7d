"""Samples held along the stream, and the bytes they take: a row of two panels per data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from smartcl.memory import format_bytes
from smartcl.paper.experiments.paper_tables import SMART_EXACT
from smartcl.paper.experiments.samples_held import MEMORY, WHOLE, HeldSamples
from smartcl.paper.report.charts import Axis, Point, Series, line_chart
from smartcl.paper.report.page_figure import PageFigure, slug
from smartcl.paper.report.pictures import save_drawings, save_numbers
from smartcl.paper.report.svg import Drawing, Key

COLOURS = {"smart": "red", SMART_EXACT.label: "orange", "smart-paper": "blue", WHOLE: "slate"}
STEM = "figure-samples"


def write_samples(curves: Sequence[HeldSamples], folder: Path) -> list[Path]:
    """``figure-samples.csv``, and two drawings for each data set; nothing while there are no runs."""
    if not curves:
        return []
    return [save_numbers(folder / STEM, sample_lines(curves)), *save_drawings(draw_samples(curves).files, folder)]


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


def draw_samples(curves: Sequence[HeldSamples]) -> PageFigure:
    """The counts with what they are of whole storage, and the bytes under the budget."""
    panels = []
    for dataset in dict.fromkeys(curve.dataset for curve in curves):
        own = [curve for curve in curves if curve.dataset == dataset]
        panels += [(own[0].stream, _draw_counts(own)), (f"{own[0].stream}, bytes", _draw_bytes(own))]
    title = f"The bytes of {MEMORY}: how many samples are held in them, in percent of whole storage, and what they take"
    return PageFigure(STEM, title, panels=tuple(panels))


def _draw_counts(curves: Sequence[HeldSamples]) -> Drawing:
    whole = next((curve.samples[-1] for curve in curves if curve.method == WHOLE), None)
    series = []
    for curve in curves:
        percent = "" if whole is None or curve.method == WHOLE else f" ({100 * curve.samples[-1] / whole:.0f}%)"
        label = f"{curve.method}: {curve.samples[-1]:,.0f}{percent}"
        series.append(_series(curve, label, [float(value) for value in curve.samples]))
    return _chart(series, "samples held")


def _draw_bytes(curves: Sequence[HeldSamples]) -> Drawing:
    budget, last = curves[0].budget, float(curves[0].batches[-1])
    series = []
    for curve in curves:
        label = f"{curve.method}: {100 * curve.bytes[-1] / budget:.0f}% of the budget"
        series.append(_series(curve, label, [float(value) / 1000 for value in curve.bytes]))
    ends = [Point(0, budget / 1000), Point(last, budget / 1000)]
    limit = Series(Key("budget", f"budget {format_bytes(budget)}", "muted", dashed=True), ends, width=1)
    return _chart([*series, limit], "kB")


def _series(curve: HeldSamples, label: str, values: list[float]) -> Series:
    """Two methods often hold the same: the dashes of one let the other be seen."""
    key = Key(slug(curve.method), label, COLOURS[curve.method], dashed=curve.method == "smart-paper")
    return Series(key, [Point(float(x), y) for x, y in zip(curve.batches, values, strict=True)])


def _chart(series: Sequence[Series], name: str) -> Drawing:
    points = [point for each in series for point in each.points]
    last = max(point.x for point in points)
    return line_chart(
        series,
        Axis.around("batches learned", [last], low=0, high=last),
        Axis.around(name, [point.y for point in points], low=0),
        f"{name} along the stream: {', '.join(each.key.label for each in series)}",
    )
