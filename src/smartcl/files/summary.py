"""Summary of a trained model as plain values: for the end of a training, and for ``smartcl inspect``."""

from __future__ import annotations

from typing import Any

import numpy as np

from smartcl.files.table_model import TableModel
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.learners.influence import influences
from smartcl.memory.store import SampleStore

STRONGEST = 20
#: Share of its bytes from which on a memory is full, but for the next samples.
NEARLY_FULL = 0.9


def passed_over(model: TableModel) -> dict[str, Any]:
    """What was skipped, missing or new on the way, and why."""
    progress = model.progress
    return {
        "skipped": dict(progress.skipped),
        "missing": dict(progress.odd.missing),
        "unreadable": dict(progress.odd.unreadable),
        "new_names": dict(progress.odd.unseen),
        "columns_not_in_the_schema": dict(progress.strangers),
        "classes_first_seen_later": dict(progress.late_classes),
        "ignored": {
            column.name: column.why or "as asked" for column in model.schema.columns if column.kind == "ignored"
        },
        "too_large_for_the_memory": model.classifier.memory_.skipped,
    }


def summary(model: TableModel) -> dict[str, Any]:
    """How far a training has come."""
    memory = model.classifier.memory_
    return {
        "rows": model.progress.rows,
        **overall(model),
        "classes": model.classes,
        "columns": len(model.schema.used),
        "features": model.schema.n_features,
        "samples_held": len(memory),
        "memory_bytes": memory.store.nbytes,
        "budget_bytes": memory.budget.nbytes,
        "room": room(memory.store, memory.budget.nbytes),
        "passed_over": passed_over(model),
    }


def overall(model: TableModel) -> dict[str, Any]:
    """How good the answers were, in short: all scores of all rows and of the last tenth, changes and warnings."""
    scores = model.scores_
    return {
        "accuracy": scores.overall.accuracy,
        "recent_accuracy": scores.last_tenth.accuracy,
        "scores": scores.overall.as_dict(),
        "last_tenth": scores.last_tenth.as_dict(),
        "delay": model.delay,
        "warnings": scores.warnings(),
        "changes": [
            {**change.state_dict(), "moved": model.progress.moved.get(str(change.row), [])} for change in scores.changes
        ],
    }


def inspection(model: TableModel) -> dict[str, Any]:
    """What a model remembers, listens to and doubts."""
    return {**remembered(model), "strongest_features": strongest(model)}


def remembered(model: TableModel) -> dict[str, Any]:
    """The same without what takes time to find out: a few milliseconds in the place of some hundreds."""
    learner = model.classifier.learner_
    store = learner.memory.store
    parts = dict(model.classifier.model_)
    parts["rows whose labels are not known yet"] = sum(batch.nbytes for batch in model.waiting)
    held = np.bincount(store.labels.astype(np.int64), minlength=len(model.classes))
    progress = model.progress
    return {
        **summary(model),
        "method": model.classifier.method,
        "bytes_per_sample": store.nbytes / len(store) if len(store) else None,
        "bytes_by_part": parts,
        "model_bytes": sum(parts.values()) - store.nbytes,
        "members": [standing.as_dict() for standing in getattr(learner, "members", ())],
        "precision": "exact" if store.code is None else str(store.code.levels),
        "features_kept": len(store.schema),
        "held_by_class": dict(zip(model.classes, held.tolist(), strict=True)),
        "held_by_age": model.ages.by_rows(progress.rows),
        "offered": learner.memory.offered,
        "doubt": getattr(learner, "doubt", None),
        "noise_estimate": learner.evidence.noise if isinstance(learner, Ensemble) else None,
        "drift": drift(model),
        "by_class": model.scores_.by_class,
        "accuracy_over_time": [
            {"rows": point["row"], "accuracy": point["accuracy"]} for point in model.scores_.over_time
        ],
        "taken": model.encoder.taken,
        "words": {name: words.strongest(STRONGEST) for name, words in model.encoder.words.items()},
        "read": {name: {"place": mark.place, "records": mark.records} for name, mark in progress.marks.items()},
    }


def room(store: SampleStore, budget: int) -> str:
    """Why a memory that was full takes fewer bytes than it may, if that is so."""
    if store.code is None or not len(store) or store.nbytes > NEARLY_FULL * budget:
        return ""
    more = int((budget - store.nbytes) * len(store) / store.nbytes)
    return (
        f"the memory was written anew in a shorter code, {store.nbytes / len(store):.0f} bytes a sample: "
        f"there is room for about {more:,} more"
    )


def drift(model: TableModel) -> float | None:
    """How far the accuracy of the last tenth of the rows lies below that of all rows; above it: less than 0."""
    scores = model.scores_
    all_rows, recent = scores.overall.accuracy, scores.last_tenth.accuracy
    return None if all_rows is None or recent is None else all_rows - recent


def strongest(model: TableModel) -> list[dict[str, Any]]:
    """The features that the answers depend on most, by name, and how far these move without their values."""
    found = influences(model.classifier.learner_, np.random.default_rng(0))
    best = sorted(found.items(), key=lambda pair: -pair[1])[:STRONGEST]
    return [{"feature": model.encoder.name(place), "moves": moved} for place, moved in best if moved]
