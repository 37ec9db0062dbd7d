"""Scores of a model on rows with labels: test, then train, on a copy; or frozen, as it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from smartcl.account.account import Account
from smartcl.account.named_scores import NamedScores
from smartcl.columns.row_encoder import Odd
from smartcl.estimator.fitted import widened
from smartcl.files.blocks import Step, steps
from smartcl.files.progress import Progress
from smartcl.files.sources import Source
from smartcl.files.table_model import TableModel


@dataclass
class Evaluation:
    """The scores, and what was left out."""

    scores: NamedScores
    odd: Odd = field(default_factory=Odd)
    skipped: dict[str, int] = field(default_factory=dict)
    #: By the row of a change of the stream, what moved.
    moved: dict[str, list[str]] = field(default_factory=dict)


def evaluate(model: TableModel, source: Source, frozen: bool, delay: int = 0) -> Evaluation:
    """Answer each batch and compare; unless ``frozen``, learn it when its labels are known.

    A row's label is known when ``delay`` rows have been answered, itself included; with 0, when its batch has been.
    The folder of the model is not touched, but the model that is given is.
    """
    model.catch_up()
    model.classifier.begin_scores()
    model.progress, model.delay = Progress(rows=model.progress.rows), delay
    found = _frozen(model, source) if frozen else _learning(model, source)
    if not found.scores.overall.rows:
        raise ValueError(f"no row of {', '.join(source.inputs)} has a label {model.schema.label!r} to compare with")
    return found


def _learning(model: TableModel, source: Source) -> Evaluation:
    before = model.classifier.learner_.counts.total
    for step in steps(source.blocks({}), model.encoder, model.batch_rows):
        model.learn(step)
    model.catch_up()
    progress, scores = model.progress, model.scores_
    changes = tuple(replace(change, row=change.row - before) for change in scores.changes if change.row > before)
    moved = {str(int(row) - before): texts for row, texts in progress.moved.items()}
    return Evaluation(replace(scores, changes=changes), progress.odd, progress.skipped, moved)


def _frozen(model: TableModel, source: Source) -> Evaluation:
    scores, found = model.scores_, Progress()
    account, names, after = scores.account, list(scores.classes), 0
    for step in steps(source.blocks({}), model.encoder, model.batch_rows):
        found.pass_over(step)
        if len(step.rows):
            account = _compared(model, step, account, names, found, after)
            after += len(step.rows)
    return Evaluation(NamedScores(account, names), found.odd, found.skipped)


def _compared(
    model: TableModel, step: Step, account: Account, names: list[str], found: Progress, after: int
) -> Account:
    """The account with the answers to these rows; ``names`` gets those labels that the model does not know."""
    labels = [str(label) for label in step.rows.labels]
    names += sorted(set(labels) - set(names))
    said = model.classifier.predict_proba(model.rows(step.rows, found.odd, after))
    place = {name: number for number, name in enumerate(names)}
    y = np.array([place[label] for label in labels], dtype=np.int64)
    return account.widened(len(names)).after(y, widened(said, len(names)), known=False)


def as_plain(found: Evaluation) -> dict[str, Any]:
    """The scores as plain values; of each change of the stream, what moved."""
    scores = found.scores.as_dict()
    changes = [{**change, "moved": found.moved.get(str(change["row"]), [])} for change in scores["changes"]]
    return {**scores, "changes": changes}
