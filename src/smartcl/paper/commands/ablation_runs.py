"""Make the runs of an ablation for the command line: a line for each run, and one for each stream that is left out."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from smartcl.cli.one_line import note
from smartcl.paper.commands.sweep_progress import time_left
from smartcl.paper.experiments.ensemble_ablation import Ablation, AblationKey, AblationOutcome, AblationScores


def make_runs(ablation: Ablation, results: Path, seeds: int | None, workers: int | None) -> dict[str, str]:
    """Make what is missing. Returns the runs that failed, with their reasons."""
    start = time.monotonic()

    def finished(key: AblationKey, outcome: AblationOutcome, done: int, total: int) -> None:
        said = f"{outcome.accuracy:.2f} %" if isinstance(outcome, AblationScores) else f"failed: {outcome}"
        left = time_left(time.monotonic() - start, done, total)
        print(f"{done}/{total} {key}: {said}; {left}", file=sys.stderr, flush=True)

    problems = ablation.make(results, seeds, workers, finished)
    for stream, reason in problems.left_out.items():
        note(f"{stream} is left out: {reason}")
    return {str(key): reason for key, reason in problems.failed.items()}
