"""``smartcl reproduce ablation-ensemble``: the effect of each member and each rule of the default learner.

The default estimator learns development streams in 100 kB, a few of them in 20 kB, in batches of 50 that are predicted
and then learned. Each variant has one member or one rule off. The rule of decision, fixed before the first run:

    A part may go if its removal costs, in accuracy, less than one paired standard error over (stream, seed) in the
    mean, and no stream loses 0.5 points or more in the mean over its seeds. Else it stays.

A stream on which the learner has not got the part is no evidence for or against it, and is not run. All runs are in one
file, one line of JSON each. A run that is there is not made again: remove the file when the learner has changed.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from smartcl.data.spec import InputSpec
from smartcl.errors import UnavailableError
from smartcl.estimator import SmartClassifier
from smartcl.paper.datasets.development_streams import DEVELOPMENT_STREAMS, FIRST_SEED, DevelopmentStream
from smartcl.paper.experiments.engines.engine import reason_of
from smartcl.paper.experiments.engines.worker import interrupts_ignored, quiet_worker
from smartcl.paper.experiments.ensemble_variants import ALL, VARIANTS, numbers, replaced
from smartcl.paper.experiments.run_lines import Line, RunLines
from smartcl.paper.scores.prequential import BATCH_ROWS
from smartcl.paper.scores.probability_scores import stream_scores

#: The file of all runs, in the folder of results.
FILE = "ablation-ensemble.jsonl"
#: A stream that loses this many points of accuracy or more speaks for the part, whatever the mean says.
TOO_MUCH = 0.5
#: The seeds from ``FIRST_SEED`` on that are run if no number is given.
SEEDS = 3


class AblationKey(NamedTuple):
    """Which run: the stream, what is off, and the seed of the data and of the learner."""

    stream: str
    variant: str
    seed: int

    def __str__(self) -> str:
        off = "" if self.variant == ALL else " without"
        return f"{self.stream}{off} {self.variant}, seed {self.seed}"


@dataclass(frozen=True)
class AblationScores:
    """What a run reached. Accuracy is in percent, seconds are those of the CPU for predicting and learning."""

    accuracy: float
    log_loss: float
    calibration_error: float
    cpu_seconds: float

    def rounded(self) -> AblationScores:
        """As they are kept in the file: four digits after the point."""
        return AblationScores(*(round(getattr(self, each.name), 4) for each in fields(self)))


AblationRuns = dict[AblationKey, AblationScores]
#: Scores, or the reason why there are none.
AblationOutcome = AblationScores | str
#: Called after each run: which one, what came of it, how many are done, and of how many.
AblationFinished = Callable[[AblationKey, AblationOutcome, int, int], None]


# --- one run ----------------------------------------------------------------------------------------------------------


def run(key: AblationKey) -> AblationScores:
    """Learn a stream with a part off."""
    stream, variant = read_stream(key.stream, key.seed), VARIANTS[key.variant]
    with replaced(variant.names):
        arguments = variant.estimator_arguments(signature(stream))
        start = time.process_time()
        probabilities = answers(SmartClassifier(stream.memory, random_state=key.seed, **arguments), stream)
        seconds = time.process_time() - start
    found = stream_scores(probabilities, stream.y[len(stream.y) - len(probabilities) :])
    return AblationScores(found["accuracy"], found["log_loss"], found["calibration_error"], seconds).rounded()


def answers(model: SmartClassifier, stream: DevelopmentStream) -> Any:
    """The probabilities of all rows after the first batch, each given before the row was learned.

    If there are rows that are only answered, those of these rows, after the end.
    """

    def answered(X: Any) -> Any:
        found = np.zeros((X.shape[0], stream.classes))
        found[:, model.classes_] = model.predict_proba(X)
        return found

    after, found = stream.learned < len(stream.y), []
    for start in range(0, stream.learned, BATCH_ROWS):
        rows = slice(start, min(start + BATCH_ROWS, stream.learned))
        if start and not after:
            found.append(answered(stream.X[rows]))
        model.partial_fit(stream.X[rows], stream.taught[rows])
    return answered(stream.X[stream.learned :]) if after else np.concatenate(found)


@lru_cache(maxsize=2)
def read_stream(name: str, seed: int) -> DevelopmentStream:
    """The stream of this name; the runs of one stream follow each other, so it is read once."""
    return DEVELOPMENT_STREAMS[name](seed)


def signature(stream: DevelopmentStream) -> InputSpec:
    """What the learner knows of the rows before it sees them."""
    return InputSpec(n_features=stream.X.shape[1], n_classes=stream.classes, sparse=sparse.issparse(stream.X))


def attempt(key: AblationKey) -> AblationOutcome:
    """A run that fails stops no other."""
    try:
        return run(key)
    except Exception as error:
        return reason_of(error)


# --- all runs and their file ------------------------------------------------------------------------------------------


def run_file(folder: Path) -> RunLines[AblationKey]:
    """The file of all runs in the folder of results."""
    return RunLines(folder / FILE, key_of, lambda line: key_of(line) or ())


def key_of(line: Line) -> AblationKey | None:
    """Which run a line is of, if its entries are all there."""
    try:
        scores_of(line)
        return AblationKey(str(line["stream"]), str(line["variant"]), int(line["seed"]))
    except (ValueError, KeyError, TypeError):
        return None


def scores_of(line: Line) -> AblationScores:
    return AblationScores(*(float(line[each.name]) for each in fields(AblationScores)))


def read_runs(folder: Path) -> AblationRuns:
    """The runs that are there."""
    return {key: scores_of(line) for key, line in run_file(folder).read().items()}


def outcomes(keys: Sequence[AblationKey], workers: int | None) -> Iterator[tuple[AblationKey, AblationOutcome]]:
    """The runs as they finish. One worker is this process; more are processes of one thread each."""
    workers = min(workers or os.cpu_count() or 1, len(keys))
    if workers <= 1:
        for key in keys:
            with threadpool_limits(1):
                outcome = attempt(key)
            yield key, outcome
        return
    with interrupts_ignored():
        pool = ProcessPoolExecutor(workers, get_context("spawn"), quiet_worker)
        waiting = {pool.submit(attempt, key): key for key in keys}
    try:
        for future in as_completed(waiting):
            error = future.exception()
            yield waiting[future], future.result() if error is None else reason_of(error)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Problems(NamedTuple):
    """Streams whose data cannot be had here, and runs that failed, each with the reason."""

    left_out: dict[str, str]
    failed: dict[AblationKey, str]


@dataclass(frozen=True)
class Ablation:
    """Which parts are off in turn, on which streams, and with how many seeds."""

    variants: tuple[str, ...] = tuple(VARIANTS)
    streams: tuple[str, ...] = tuple(DEVELOPMENT_STREAMS)
    seeds: int = SEEDS

    def part(self, variants: Sequence[str], streams: Sequence[str], quick: bool) -> Ablation:
        """These parts and these streams only, all where none is named; the whole learner is always there.

        Quick are two parts on the two shortest streams, with one seed.
        """
        for kind, names, known in (("row", variants, self.variants), ("column", streams, self.streams)):
            unknown = next((name for name in names if name not in known), None)
            if unknown is not None:
                raise ValueError(f"ablation-ensemble has no {kind} {unknown!r}: it has {', '.join(known)}")
        made = self
        if quick:
            made = replace(self, variants=self.variants[:3], streams=("digits-by-class", "moons"), seeds=1)
        return replace(
            made,
            variants=tuple(name for name in made.variants if not variants or name in (ALL, *variants)),
            streams=tuple(name for name in made.streams if not streams or name in streams),
        )

    def asked(self, seeds: int | None = None) -> list[AblationKey]:
        """The runs that are asked for, those of one stream and seed together."""
        return [
            AblationKey(stream, variant, FIRST_SEED + seed)
            for seed in range(seeds or self.seeds)
            for stream in self.streams
            for variant in self.variants
        ]

    def make(self, folder: Path, seeds: int | None, workers: int | None, finished: AblationFinished) -> Problems:
        """Make the runs that are missing, each saved as it finishes."""
        file, problems = run_file(folder), Problems({}, {})
        runs = file.read()
        wanted = [key for key in self.asked(seeds) if key not in runs]
        specs: dict[str, InputSpec] = {}
        for stream in dict.fromkeys(key.stream for key in wanted):
            try:
                specs[stream] = signature(read_stream(stream, FIRST_SEED))
            except UnavailableError as error:
                problems.left_out[stream] = str(error)
        wanted = [key for key in wanted if key.stream in specs and VARIANTS[key.variant].concerns(specs[key.stream])]
        for done, (key, outcome) in enumerate(outcomes(wanted, workers), start=1):
            if isinstance(outcome, AblationScores):
                file.add({**key._asdict(), **asdict(outcome)})
            else:
                problems.failed[key] = outcome
            finished(key, outcome, done, len(wanted))
        return problems

    def data(self, folder: Path, seeds: int | None) -> dict[str, Any]:
        """What the runs that are there say, as plain values."""
        asked = set(self.asked(seeds))
        runs = {key: scores for key, scores in read_runs(folder).items() if key in asked}
        worths = [worth_of(variant, runs) for variant in self.variants if variant != ALL]
        return {
            "runs": len(runs),
            "numbers": len(numbers()),
            "streams": {name: whole_learner(name, runs) for name in self.streams},
            "variants": [asdict(worth) for worth in worths if worth is not None],
        }


# --- the decision -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Worth:
    """What taking a part away does, over all pairs of runs with it and without it.

    ``change`` is that of the accuracy in points, and ``error`` its paired standard error, if there is more than one
    pair. ``worst_stream`` is the one that loses most in the mean over its seeds, or gains least. In ``affected`` pairs
    the answers differ; where there are none, no stream has asked anything of the part.
    """

    variant: str
    pairs: int
    affected: int
    change: float
    error: float | None
    worst_stream: str
    worst_change: float
    log_loss_change: float
    cpu_ratio: float
    verdict: str


def worth_of(variant: str, runs: AblationRuns) -> Worth | None:
    """What a part is worth, if there is any run without it beside one of the whole learner."""
    pairs = {
        key: (runs[whole], without)
        for key, without in runs.items()
        if key.variant == variant and (whole := key._replace(variant=ALL)) in runs
    }
    if not pairs:
        return None
    changes = {key: without.accuracy - whole.accuracy for key, (whole, without) in pairs.items()}
    by_stream = {
        stream: fmean(change for key, change in changes.items() if key.stream == stream)
        for stream in dict.fromkeys(key.stream for key in changes)
    }
    worst = min(by_stream, key=lambda stream: by_stream[stream])
    mean, error = fmean(changes.values()), standard_error(list(changes.values()))
    return Worth(
        variant,
        len(pairs),
        sum((whole.accuracy, whole.log_loss) != (less.accuracy, less.log_loss) for whole, less in pairs.values()),
        mean,
        error,
        worst,
        by_stream[worst],
        fmean(without.log_loss - whole.log_loss for whole, without in pairs.values()),
        sum(without.cpu_seconds for _, without in pairs.values())
        / sum(whole.cpu_seconds for whole, _ in pairs.values()),
        "may go" if may_go(mean, error, by_stream[worst]) else "stays",
    )


def may_go(change: float, error: float | None, worst_change: float) -> bool:
    """The rule of decision; from a single pair of runs nothing is decided, and the part stays.

    >>> may_go(-0.1, 0.2, -0.4), may_go(-0.3, 0.2, -0.4), may_go(0.1, 0.2, -0.5), may_go(0.0, 0.0, 0.0)
    (True, False, False, True)
    """
    if error is None:
        return False
    return (change >= 0 or -change < error) and worst_change > -TOO_MUCH


def standard_error(values: Sequence[float]) -> float | None:
    """Of their mean; of a single value none."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None


def whole_learner(stream: str, runs: AblationRuns) -> dict[str, Any] | None:
    """The mean scores of the whole learner on this stream, and of how many seeds; None without a run."""
    found = [scores for key, scores in runs.items() if key.stream == stream and key.variant == ALL]
    if not found:
        return None
    means = {each.name: fmean(getattr(scores, each.name) for scores in found) for each in fields(AblationScores)}
    return {**means, "seeds": len(found)}
