"""How much the two strengths matter: accuracy along α and β, everything else as it is by default."""

from __future__ import annotations

from collections import defaultdict

from smartcl.report.charts import Axis, Point, Series, line_chart
from smartcl.report.figure import Figure, slug
from smartcl.report.runs import Result, Runs, mean_and_spread, numbers
from smartcl.report.svg import Drawing, Key

STRENGTHS = {"alpha": "α (group lasso)", "beta": "β (neural correlation)"}
METHODS = ("smart", "smart-paper")
CYCLE = ("red", "blue", "green", "violet", "orange", "teal", "pink", "olive")


def sensitivity(runs: Runs) -> Figure:
    """One panel per strength that was varied."""
    title = "Sensitivity to the two strengths"
    panels, counts = [], []
    for name, label in STRENGTHS.items():
        curves = {key: points for key, points in _curves(runs.all, name).items() if len(points) > 1}
        if curves:
            panels.append((label, _drawing(curves, label)))
            counts += [len(values) for points in curves.values() for values in points.values()]
    if not panels:
        return Figure("sensitivity", title, missing="smartcl reproduce figure-sensitivity")
    caption = (
        f"Accuracy while one strength varies and the rest stays at the method's default, 300 whole samples' bytes: "
        f"{numbers(counts)} a point, the band is one standard deviation; values are evenly spaced, not to scale."
    )
    return Figure("sensitivity", title, caption, tuple(panels))


def _curves(results: list[Result], name: str) -> dict[str, dict[float, list[float]]]:
    """Accuracies by value of the strength, for each method, data set and noise."""
    curves: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        spec = result["spec"]
        if spec["method"] in METHODS and spec["memory"] == "300 samples" and set(spec["parameters"]) <= {name}:
            noise = "" if spec["noise"] == "none" else f", {spec['noise']}"
            curves[f"{spec['method']}, {spec['dataset']}{noise}"][result["settings"][name]].append(result["accuracy"])
    return curves


def _drawing(curves: dict[str, dict[float, list[float]]], label: str) -> Drawing:
    values = sorted({value for points in curves.values() for value in points})
    series = []
    for (name, points), colour in zip(sorted(curves.items()), CYCLE * len(curves), strict=False):
        line = []
        for value in sorted(points):
            mean, spread = mean_and_spread(points[value])
            says = f"{name}, {value:g}: {mean:.2f} (n = {len(points[value])})"
            line.append(Point(values.index(value), mean, spread, says))
        series.append(Series(Key(slug(name), name, colour), line))
    heights = [p.y + sign * p.spread for each in series for p in each.points for sign in (1, -1)]
    ticks = [(i, f"{value:g}") for i, value in enumerate(values)]
    return line_chart(
        series,
        Axis(label, -0.3, len(values) - 0.7, ticks),
        Axis.around("accuracy, %", heights),
        f"Accuracy against {label}: {', '.join(sorted(curves))}",
    )
