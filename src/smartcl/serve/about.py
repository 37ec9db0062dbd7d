"""Description of a served model: for ``/model``, ``/doubts``, the page and its events."""

from __future__ import annotations

import time
from dataclasses import asdict
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

from smartcl.files.summary import remembered, strongest
from smartcl.files.table_model import TableModel
from smartcl.memory.export import stored_rows
from smartcl.serve.answer_scores import AnswerScores
from smartcl.serve.served_model import ServedModel

#: Columns that the page's form asks for.
FIELDS = 100
#: Doubts that are told.
DOUBTS = 50


def service_state(served: ServedModel) -> dict[str, Any]:
    """How the service stands, without a look into the model: cheap, and from any thread."""
    pending = served.pending
    return {
        "version": served.version,
        "time": time.time(),
        "up_seconds": time.time() - served.opened_at,
        "queued_rows": served.queued,
        "rows_per_second": served.pace.at(served.counts.learned),
        "counts": asdict(served.counts),
        "pending": {
            "rows": len(pending),
            "bytes": pending.nbytes,
            "budget_bytes": pending.budget,
            "expired": pending.expired,
            "crowded_out": pending.crowded_out,
        },
        "known_ids": len(served.known),
        "journal_bytes": served.journal.nbytes,
        "saved_versions": served.versions.there(),
        "shadow": None if served.shadow is None else served.shadow.as_dict(),
        "troubles": dict(served.troubles),
    }


def scores(served: ServedModel) -> dict[str, Any]:
    """Scores of what was answered at the time, and of every row before it was learned. On the learner's thread."""
    return {"answered": served.answered.as_dict(), "before_learning": before_learning(served)}


def before_learning(served: ServedModel) -> dict[str, Any]:
    """The account of the model (``TableModel.scores_``) in the form of ``AnswerScores.as_dict``."""
    if served.model is None or not served.model.progress.rows:
        return AnswerScores().as_dict()
    account = served.model.scores_
    overall = account.overall
    return {
        "rows": overall.rows,
        "accuracy": overall.accuracy,
        "log_loss": overall.log_loss,
        "over_time": [
            {"rows": at["row"], "model": at["accuracy"], "majority": at["commonest"], "last_label": at["last"]}
            for at in account.over_time
        ],
        "calibration": [{"rows": at["rows"], "sure": at["said"], "right": at["true"]} for at in account.calibration],
        "mistakes": list(served.mistakes)[::-1],
    }


def everything(served: ServedModel) -> dict[str, Any]:
    """What the model remembers and how the service stands. On the learner's thread."""
    model = served.model
    about = None if model is None or not model.progress.rows else remembered(model)
    columns = [] if model is None else [{"name": column.name, "kind": column.kind} for column in model.schema.used]
    return {"model": about, "service": service_state(served), "scores": scores(served), "columns": columns[:FIELDS]}


def all_of_it(served: ServedModel) -> dict[str, Any]:
    """The same and the features that answers depend on, which takes some hundred milliseconds."""
    found, model = everything(served), served.model
    if model is not None and found["model"] is not None:
        found["model"]["strongest_features"] = strongest(model)
    return found


def doubts(served: ServedModel) -> dict[str, Any]:
    """Remembered rows whose label is probably wrong, the most doubtful first (``TableModel.doubts``)."""
    model = served.model
    if model is None or not model.progress.rows:
        return {"doubts": [], "asked": 0, "doubted": 0}
    store = model.classifier.memory_.store
    shares_ids = model.schema.id is not None
    found = model.doubts()
    told = [
        {
            "label": str(doubt.given),
            "likely": str(doubt.suggested),
            "label_has": doubt.given_probability,
            "likely_has": doubt.probability,
            "id": str(doubt.row) if shares_ids else None,
            "row": None if shares_ids else _named(model, stored_rows(store, np.array([doubt.row]))),
        }
        for doubt in islice(found, DOUBTS)
    ]
    return {"doubts": told, "asked": len(store), "doubted": len(found)}


def _named(model: TableModel, row: Any) -> dict[str, float]:
    """The features of one row that are not zero, by name."""
    found = sparse.csr_array(row)
    pairs = zip(found.indices.tolist(), found.data.tolist(), strict=True)
    return {model.encoder.name(feature): round(float(value), 4) for feature, value in pairs}
