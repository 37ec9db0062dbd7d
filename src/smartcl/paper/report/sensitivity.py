"""How much the two strengths matter: accuracy along α and β, everything else as it is by default."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import Any

from smartcl.learners.methods import find_method
from smartcl.paper.report.charts import Axis, Point, Series, line_chart
from smartcl.paper.report.figure import Figure, slug
from smartcl.paper.report.runs import Result, Runs, mean_and_spread, numbers
from smartcl.paper.report.svg import Drawing, Key

#: Accuracies by value, by method and stream.
Curves = dict[tuple[str, str], dict[float, list[float]]]

STRENGTHS = {"alpha": "α (group lasso)", "beta": "β (neural correlation)"}
METHODS = ("smart", "smart-paper")
COLOURS = ("red", "blue", "green", "violet", "orange", "teal", "pink", "olive")


def sensitivity(runs: Runs) -> Figure:
    """One panel per strength that was varied."""
    title = "Sensitivity to the two strengths"
    varied = {
        label: {key: points for key, points in _curves(runs.all, name).items() if len(points) > 1}
        for name, label in STRENGTHS.items()
    }
    streams = sorted({stream for curves in varied.values() for _, stream in curves})
    if not streams:
        return Figure("sensitivity", title, missing="smartcl reproduce figure-sensitivity")
    panels = [(label, _drawing(curves, label, streams)) for label, curves in varied.items() if curves]
    counts = [len(values) for curves in varied.values() for points in curves.values() for values in points.values()]
    caption = (
        f"Accuracy while one strength varies and the rest stays at the method's default, 300 whole samples' bytes: "
        f"{numbers(counts)} a point, the band is one standard deviation; values are evenly spaced, not to scale."
    )
    return Figure("sensitivity", title, caption, tuple(panels))


def _curves(results: list[Result], name: str) -> Curves:
    """Accuracies by value of the strength, for each method and stream."""
    curves: Curves = defaultdict(lambda: defaultdict(list))
    for result in results:
        spec = result["spec"]
        if spec["method"] in METHODS and spec["memory"] == "300 samples" and changed(spec) <= {name}:
            stream = spec["dataset"] if spec["noise"] == "none" else f"{spec['dataset']} {spec['noise']}"
            curves[spec["method"], stream][result["settings"][name]].append(result["accuracy"])
    return curves


def changed(spec: dict[str, Any]) -> set[str]:
    """The parameters that differ from the method's own; naming a default changes nothing."""
    defaults = find_method(spec["method"]).parameters
    return {name for name, value in spec["parameters"].items() if json.dumps(value) != json.dumps(defaults[name])}


def _drawing(curves: Curves, label: str, streams: list[str]) -> Drawing:
    """A colour for each stream, the same in every panel; the paper's settings dashed."""
    values = sorted({value for points in curves.values() for value in points})
    series = []
    for (method, stream), points in sorted(curves.items()):
        key = Key(slug(f"{method} {stream}"), f"{method}, {stream}", COLOURS[streams.index(stream) % len(COLOURS)])
        line = []
        for value in sorted(points):
            mean, spread = mean_and_spread(points[value])
            says = f"{key.label}, {value:g}: {mean:.2f} (n = {len(points[value])})"
            line.append(Point(values.index(value), mean, spread, says))
        series.append(Series(replace(key, dashed=method != "smart"), line))
    heights = [p.y + sign * p.spread for each in series for p in each.points for sign in (1, -1)]
    ticks = [(i, f"{value:g}") for i, value in enumerate(values)]
    return line_chart(
        series,
        Axis(label, -0.3, len(values) - 0.7, ticks),
        Axis.around("accuracy, %", heights),
        f"Accuracy against {label}: {', '.join(each.key.label for each in series)}",
    )
