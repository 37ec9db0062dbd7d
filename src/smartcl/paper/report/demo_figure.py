"""A picture of two or more runs side by side: what they know after each task, and how much they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from smartcl.paper.report.pictures import new_picture

COLOURS = ("#9aa5b1", "#d1495b", "#2e86ab", "#edae49")


def draw_comparison(results: dict[str, dict[str, Any]], path: Path) -> None:
    """Accuracy per task, mean accuracy along the stream, and samples held, written as a PNG."""
    figure = new_picture(11, 3.6)
    final, along, held = figure.subplots(1, 3, width_ratios=[3, 2, 2])
    n_tasks = len(next(iter(results.values()))["accuracy_per_task"])
    width = 0.8 / len(results)
    for position, ((name, result), colour) in enumerate(zip(results.items(), COLOURS, strict=False)):
        places = np.arange(n_tasks + 1) + (position - (len(results) - 1) / 2) * width
        values = [*result["accuracy_per_task"], result["accuracy"]]
        bars = final.bar(places, values, width, color=colour, label=name)
        final.bar_label(bars, fmt="%.1f", fontsize=7, padding=1)
        seen = [np.mean(row[: i + 1]) for i, row in enumerate(result["accuracy_matrix"])]
        steps = np.arange(1, n_tasks + 1)
        along.plot(steps, seen, marker="o", color=colour, label=name)
        history = result["memory_history"]
        samples, batches = history["samples"], np.array(history["batches"])
        held.plot(batches / batches[-1] * n_tasks, samples, color=colour, label=name)
        held.annotate(f"{samples[-1]:,}", (n_tasks, samples[-1]), xytext=(0, 5), textcoords="offset points", ha="right")
    final.set(title="accuracy after the last task, %", ylim=(0, 108))
    final.set_xticks(range(n_tasks + 1), [*(f"task {i + 1}" for i in range(n_tasks)), "mean"])
    along.legend(loc="lower left", frameon=False)
    along.set(title="mean accuracy on tasks seen, %", xlabel="tasks learned", xticks=range(1, n_tasks + 1))
    held.set(
        title="samples held in the same bytes", xlabel="tasks learned", xticks=range(1, n_tasks + 1), ylim=(0, None)
    )
    held.margins(y=0.15)
    for axes in (final, along, held):
        axes.spines[["top", "right"]].set_visible(False)
        axes.title.set_fontsize(10)
    figure.savefig(path, dpi=150)
