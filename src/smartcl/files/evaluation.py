"""Scores of a model on rows with labels: test, then train, on a copy; or frozen, as it is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from smartcl.columns.row_encoder import Odd
from smartcl.files.sources import Source
from smartcl.files.steps import steps
from smartcl.files.stream_scores import StreamScores
from smartcl.files.table_model import TableModel


@dataclass
class Evaluation:
    """The scores, and what was left out."""

    scores: StreamScores = field(default_factory=StreamScores)
    odd: Odd = field(default_factory=Odd)
    skipped: dict[str, int] = field(default_factory=dict)


def evaluate(model: TableModel, source: Source, frozen: bool) -> Evaluation:
    """Predict each batch and compare; unless ``frozen``, learn it then. The folder of the model is not touched."""
    found = Evaluation()
    for step in steps(source.blocks({}), model.encoder, model.classifier.batch_size):
        for why, count in step.bad.items():
            found.skipped[why] = found.skipped.get(why, 0) + count
        if not len(step.rows):
            continue
        table = model.rows(step.rows, found.odd, found.scores.rows if frozen else 0)
        labels = [str(label) for label in step.rows.labels]
        found.scores.add(labels, model.classes, model.classifier.predict_proba(table))
        if not frozen:
            model.classifier.partial_fit(table, np.array(labels), ids=step.rows.ids)
    if not found.scores.rows:
        raise ValueError(f"no row of {', '.join(source.inputs)} has a label {model.schema.label!r} to compare with")
    return found
