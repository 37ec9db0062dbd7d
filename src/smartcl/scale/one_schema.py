"""Models of tables whose columns differ, put under one schema before they are merged."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.columns.united_columns import MovedColumns, own_places, united_schema
from smartcl.estimator import SmartClassifier
from smartcl.estimator.fitted import check_family, positions
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.learners.ensemble.frame import Frame
from smartcl.memory.export import stored_rows
from smartcl.memory.store import SampleStore
from smartcl.network.scaling import InputScale


def under_one_schema(models: Sequence[SmartClassifier]) -> list[SmartClassifier]:
    """The same models, each with all columns of all and what it never had missing; they stay as they are.

    Only samples, counts, scores and what is known of names go with them: sums and members are of other features.
    """
    encoders = [columns for model in models if (columns := model._fitted.columns) is not None]
    if len(encoders) < len(models):
        return list(models)
    for model in models[1:]:
        check_family(model._fitted.names, models[0]._fitted.names, "the classes of the first model do")
    known: NDArray[Any] = np.unique(np.concatenate([model._fitted.names for model in models]))
    at = [positions(known, model._fitted.names) for model in models]
    first = encoders[0].schema.without_notes()
    alike = all(encoder.schema.without_notes() == first for encoder in encoders)
    in_order = all(np.array_equal(places, np.arange(len(places))) for places in at)
    if alike and in_order:
        return list(models)
    schema = united_schema(encoders, len(known))
    places = own_places(encoders, schema)
    moved = [MovedColumns(encoder, schema, places, own) for encoder, own in zip(encoders, at, strict=True)]
    return [_moved(model, each) for model, each in zip(models, moved, strict=True)]


def _moved(model: SmartClassifier, columns: MovedColumns) -> SmartClassifier:
    fitted, old, encoder = model._fitted, model.learner_, columns.encoder()
    assert isinstance(old, Ensemble)
    width = encoder.schema.n_features
    built = replace(fitted.built, spec=replace(old.spec, n_features=width))
    learner = built.learner()
    assert isinstance(learner, Ensemble)
    store = old.memory.store
    rows = columns.rows(np.asarray(stored_rows(store, np.arange(len(store))), dtype=np.float32))
    kept = SampleStore.empty(width, sparse=False).pack(torch.from_numpy(rows), store.labels, **store.extra)
    learner.memory.store = kept
    for name in ("counts", "evidence", "batches", "weighted", "weight_unit", "keeps_ids", "class_weight"):
        vars(learner)[name] = vars(old)[name]
    learner.rng = deepcopy(old.rng)
    learner.scale = InputScale.fresh(width, sparse=False).updated(torch.from_numpy(rows))
    learner.frame = Frame.of(learner.scale, old.frame.rows)
    made = SmartClassifier(**model.get_params(deep=False))
    made._fitted = replace(fitted, learner=learner, built=built, columns=encoder)
    made.n_features_in_ = len(encoder.schema.columns)
    if hasattr(model, "feature_names_in_"):
        made.feature_names_in_ = np.array([column.name for column in encoder.schema.columns], dtype=object)
    return made
