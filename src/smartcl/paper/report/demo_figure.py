"""A picture of two or more runs side by side: what they know after each task, and how much they hold."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from smartcl.paper.report.charts import Axis, Bar, Point, Series, bar_chart, line_chart, side_by_side
from smartcl.paper.report.page_figure import slug
from smartcl.paper.report.svg import Drawing, Key

COLOURS = ("slate", "red", "blue", "orange")


def draw_comparison(results: dict[str, dict[str, Any]]) -> Drawing:
    """Accuracy per task, mean accuracy along the stream, and samples held."""
    keys = {name: Key(slug(name), name, colour) for name, colour in zip(results, COLOURS, strict=False)}
    n_tasks = len(next(iter(results.values()))["accuracy_per_task"])
    bars = [
        Bar(Key(keys[name].name, f"{label}, {name}", keys[name].colour), value)
        for place, label in enumerate([*(f"task {number}" for number in range(1, n_tasks + 1)), "mean"])
        for name, result in results.items()
        for value in [[*result["accuracy_per_task"], result["accuracy"]][place]]
    ]
    along, held = [], []
    for name, result in results.items():
        means = [fmean(row[: learned + 1]) for learned, row in enumerate(result["accuracy_matrix"])]
        along.append(Series(keys[name], [Point(i, mean, says=f"{mean:.1f}") for i, mean in enumerate(means, start=1)]))
        history = result["memory_history"]
        looks = zip(history["batches"], history["samples"], strict=True)
        held.append(Series(keys[name], [Point(batches, samples) for batches, samples in looks]))
    tasks = Axis("tasks learned", 1, n_tasks, [(task, str(task)) for task in range(1, n_tasks + 1)])
    means = [point.y for each in along for point in each.points]
    batches, samples = ([getattr(point, axis) for each in held for point in each.points] for axis in "xy")
    return side_by_side(
        [
            bar_chart(bars, "accuracy after the last task, %", "Accuracy of each task after the last"),
            line_chart(along, tasks, Axis.around("mean accuracy on tasks seen, %", means), "Mean accuracy of tasks"),
            line_chart(
                held,
                Axis.around("batches learned", batches, low=0, high=batches[-1]),
                Axis.around("samples held in the same bytes", samples, low=0),
                "Samples held",
            ),
        ],
        "Runs side by side: accuracy per task, accuracy along the stream, samples held",
    )
