"""What is told of a served model: for ``/model``, ``/doubts``, the page and its events."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import sparse

from smartcl.files.summary import remembered, strongest
from smartcl.files.table_model import TableModel
from smartcl.memory.export import stored_rows
from smartcl.serve.served_model import ServedModel

#: Stored rows that are asked about for doubts at once: a tenth of a second.
ASKED = 2_000
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
    """Scores of what was answered at the time, and of every row before it was learned."""
    return {"answered": served.answered.as_dict(), "before_learning": served.before.as_dict()}


def everything(served: ServedModel) -> dict[str, Any]:
    """What the model remembers and how the service stands. On the learner's thread."""
    model = served.model
    about = None if model is None or not model.progress.rows else remembered(model)
    columns = [] if model is None else [{"name": column.name, "kind": column.kind} for column in model.schema.used]
    return {"model": about, "service": service_state(served), "scores": scores(served), "columns": columns[:FIELDS]}


def all_of_it(served: ServedModel) -> dict[str, Any]:
    """The same and the features that answers hang on, which takes some hundred milliseconds."""
    found, model = everything(served), served.model
    if model is not None and found["model"] is not None:
        found["model"]["strongest_features"] = strongest(model)
    return found


def doubts(served: ServedModel) -> dict[str, Any]:
    """Stored rows whose label the model contradicts most, and what it would be. On the learner's thread."""
    model = served.model
    if model is None or not model.progress.rows:
        return {"doubts": [], "asked": 0}
    return stored_doubts(model)


def stored_doubts(model: TableModel) -> dict[str, Any]:
    """The same of a model: of ``ASKED`` stored rows, those where another label is more likely than their own."""
    learner, classes = model.classifier.learner_, model.classes
    store = learner.memory.store
    asked = np.arange(len(store)) if len(store) <= ASKED else np.random.default_rng(0).choice(len(store), ASKED, False)
    asked.sort()
    if not len(asked):
        return {"doubts": [], "asked": 0}
    x = stored_rows(store, asked)
    chances = learner.predict_proba(x).double().numpy()
    labels = store.labels[asked].astype(np.int64)
    own, best = chances[np.arange(len(asked)), labels], chances.argmax(axis=1)
    order = np.argsort(own - chances.max(axis=1), kind="stable")
    found = [
        {
            "label": classes[labels[place]],
            "likely": classes[best[place]],
            "label_has": float(own[place]),
            "likely_has": float(chances[place, best[place]]),
            "row": _named(model, x[[place]]),
        }
        for place in order[:DOUBTS].tolist()
        if best[place] != labels[place]
    ]
    return {"doubts": found, "asked": len(asked)}


def _named(model: TableModel, row: Any) -> dict[str, float]:
    """The features of one row that are not zero, by name."""
    found = sparse.csr_array(row)
    pairs = zip(found.indices.tolist(), found.data.tolist(), strict=True)
    return {model.encoder.name(feature): round(float(value), 4) for feature, value in pairs}
