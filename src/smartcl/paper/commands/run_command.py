"""The work of ``smartcl run``: one method on one stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from smartcl.cli.screen import bar_for, live_bars, screen, tell
from smartcl.cli.usage import arguments_checked, assignments, json_text, one_thread
from smartcl.memory import format_bytes
from smartcl.paper.datasets.dataset_registry import DATASETS
from smartcl.paper.experiments.keywords import KeywordStudy
from smartcl.paper.experiments.measures import SCORES, format_value
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.task_run import prepare_run
from smartcl.saving.atomic import check_writable

#: More tasks than this are summed up.
MANY_TASKS = 15


def run(
    method: str,
    dataset: str,
    memory: str,
    noise: str,
    seed: int,
    settings: list[str] | None,
    data: Path | None,
    as_json: bool,
    keywords: Path | None,
) -> None:
    """Learn the stream, print the result, write what was asked for."""
    with arguments_checked():
        spec = RunSpec.of(
            assignments(settings or []), dataset=dataset, method=method, memory=memory, noise=noise, seed=seed
        )
        if keywords is not None:
            check_writable(keywords)
        prepared = prepare_run(spec, data)
        if keywords is not None and not prepared.stream.spec.sparse:
            raise ValueError(f"--keywords is for streams of keywords, and {dataset} has none")
    one_thread()
    with live_bars() as bars:
        result = prepared.run(bar_for(bars, method))
    if as_json:
        print(json_text(result))
    else:
        _show(result)
    if keywords is not None:
        _show_keywords(result, keywords / f"keywords-{dataset}", as_json)


def _show_keywords(result: dict[str, Any], stem: Path, as_json: bool) -> None:
    from smartcl.paper.report.keywords_figure import keyword_grid, write_keywords  # a run alone needs no report

    study = KeywordStudy.of(result)
    if not as_json:
        screen().print(keyword_grid(study))
    written = write_keywords(study, stem)
    if not as_json:
        tell(f"written: {', '.join(map(str, written))}")


def _show(result: dict[str, Any]) -> None:
    console, spec = screen(), result["spec"]
    scores = Table(title=f"{spec['method']} on {result['stream']}", title_justify="left")
    for heading in ("after the last task", *SCORES.values()):
        scores.add_column(heading, justify="left" if heading == "after the last task" else "right")
    for label, row in _task_rows(result).items():
        scores.add_row(label, *_cells(row))
    scores.add_section()
    scores.add_row("mean of tasks", *_cells(result), style="bold")
    for name, line in result.get("references", {}).items():
        scores.add_row(f"  {name.replace('_', ' ')}", *_cells(line))
    console.print(scores)
    facts = Table(show_header=False)
    facts.add_column()
    facts.add_column(justify="right")
    facts.add_row("forgetting", f"{result['forgetting']:.2f} points")
    facts.add_row("samples held", f"{result['samples_held']:,}")
    facts.add_row("memory", f"{format_bytes(result['memory_bytes'])} of {format_bytes(result['budget_bytes'])}")
    facts.add_row("features kept", f"{result['features_kept']:,}")
    facts.add_row("label noise", spec["noise"])
    facts.add_row("seconds", f"{result['seconds']:.1f} ({result['cpu_seconds']:.1f} CPU)")
    console.print(facts)
    if note := DATASETS[spec["dataset"]].note:
        console.print(note)


def _task_rows(result: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    """The scores of every task; of many tasks, each score's lowest and highest."""
    columns = {metric: result[f"{metric}_per_task"] for metric in SCORES}
    count = len(columns["accuracy"])
    names = result["task_names"] or [f"task {number}" for number in range(1, count + 1)]
    if count <= MANY_TASKS:
        return {name: {metric: column[i] for metric, column in columns.items()} for i, name in enumerate(names)}
    return {
        f"{word} of {count} tasks": {
            metric: None if None in column else extreme(column) for metric, column in columns.items()
        }
        for word, extreme in (("lowest", min), ("highest", max))
    }


def _cells(scores: dict[str, Any]) -> list[str]:
    return [format_value(metric, scores[metric]) for metric in SCORES]
