"""Table models merged: their classifiers, what they know of names, and how far each has read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import fields, replace
from typing import TypeVar

from smartcl.columns.row_encoder import Odd, RowEncoder
from smartcl.estimator import SmartClassifier
from smartcl.files.progress import MOST_STRANGERS, Ages, Progress
from smartcl.files.table_model import TableModel, load
from smartcl.scale.merging import merge_classifiers, subtract_classifier

#: Folders that are loaded at a time, where models have a base: what was merged of some is merged with the others. Of a
#: table, a model takes about 5 MB (``python -m benchmarks shards --parts bytes``).
MOST_AT_ONCE = 32
#: A model, or the folder of one.
AnyModel = SmartClassifier | TableModel | str | os.PathLike[str]
Model = TypeVar("Model", SmartClassifier, TableModel)


def merge(
    models: Iterable[AnyModel],
    memory: str | int | None = None,
    *,
    base: AnyModel | None = None,
    in_turn: bool = False,
    steps: int | None = None,
    trust: Sequence[str] | str = (),
) -> SmartClassifier | TableModel:
    """One model from several that learned apart; those stay as they are.

    With a ``base`` that all went on from, sums add up exactly. Without one, each model has its own scale, and all sums
    are made anew from the samples of all.

    Parameters
    ----------
    models
        Models, or their folders, all of arrays or all of tables.
    memory
        The size of the new model's memory; by default, that of the largest.
    base
        The model that all of them went on from, if they did: its rows would otherwise count once for each.
    in_turn
        Whether the models are of one period after the other: then the newest samples are those of the last. By default
        they are those of all, as if their rows had come in turns.
    steps
        Stored samples that a network among the members then learns at most, if it has not learned as many rows as
        all; by default, each stored sample once.
    trust
        The modules that may be imported for code of your own that folders name.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> apart = [SmartClassifier(memory="2kB", random_state=k).partial_fit(X[k::2], y[k::2]) for k in range(2)]
    >>> merge(apart, memory="1kB").memory_
    50 samples in 1 kB of 1 kB, 4 of 4 features kept, values exact
    """
    asked = list(models)
    start = None if base is None else model_of(base, trust)
    while start is not None and len(asked) > MOST_AT_ONCE:  # without a base, sums would be made anew for each group
        groups = [asked[first : first + MOST_AT_ONCE] for first in range(0, len(asked), MOST_AT_ONCE)]
        asked = [merge(group, memory, base=start, in_turn=in_turn, steps=0, trust=trust) for group in groups]
    given = [model_of(model, trust) for model in asked]
    together = [*given, *([] if start is None else [start])]
    tables: list[TableModel] = [model for model in together if not isinstance(model, SmartClassifier)]
    if not tables:
        arrays = [model for model in given if isinstance(model, SmartClassifier)]
        return merge_classifiers(arrays, memory, start if isinstance(start, SmartClassifier) else None, in_turn, steps)
    if len(tables) < len(together):
        raise ValueError("models of tables and models of arrays cannot be merged: their rows are not the same features")
    own, begun = tables[: len(given)], tables[-1] if base is not None else None
    classifier = merge_classifiers(
        [model.classifier for model in own], memory, None if begun is None else begun.classifier, in_turn, steps
    )
    progress = _added([model.progress for model in own], None if begun is None else begun.progress, len(own) - 1)
    return TableModel(classifier, _encoder(classifier), progress, Ages(held=None))


def subtract(
    model: AnyModel, part: AnyModel, *, base: AnyModel | None = None, trust: Sequence[str] | str = ()
) -> SmartClassifier | TableModel:
    """The model without a part that was merged into it: a shard, or a period; both stay as they are.

    Samples, counts and sums of the whole past are then those of the other parts, exactly. Sums that forget keep what
    they hold until it fades; a network and logistic weights keep what they were taught, and trees are fitted anew.

    Parameters
    ----------
    model
        The model, or its folder.
    part
        What is taken out, as it was when it was merged.
    base
        What the part went on from, if it did: its rows stay.
    trust
        The modules that may be imported for code of your own that folders name.

    Examples
    --------
    >>> from smartcl import shard_of
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> base = SmartClassifier(memory="2kB", random_state=0).partial_fit(X[::3], y[::3])
    >>> one, two = (shard_of(base, k).partial_fit(X[k::3], y[k::3]) for k in (1, 2))
    >>> subtract(merge([one, two], base=base), two, base=base).learner_.counts.total
    100
    """
    whole, gone = model_of(model, trust), model_of(part, trust)
    start = None if base is None else model_of(base, trust)
    if isinstance(whole, SmartClassifier) and isinstance(gone, SmartClassifier) and not isinstance(start, TableModel):
        return subtract_classifier(whole, gone, start)
    tables: list[TableModel] = [each for each in (whole, gone) if not isinstance(each, SmartClassifier)]
    if len(tables) < 2 or isinstance(start, SmartClassifier):
        raise ValueError("a model of a table and a model of arrays have no rows in common: both must be of one kind")
    own, other = (table.classifier for table in tables)
    classifier = subtract_classifier(own, other, None if start is None else start.classifier)
    kept = tables[0].progress
    progress = _added([kept, *([] if start is None else [start.progress])], tables[1].progress, 1)
    return TableModel(classifier, _encoder(classifier), replace(progress, marks=dict(kept.marks)), Ages(held=None))


def model_of(given: AnyModel, trust: Sequence[str] | str = ()) -> SmartClassifier | TableModel:
    """The model itself, or that of a folder; rows that wait for a batch or for their labels are learned."""
    if not isinstance(given, SmartClassifier | TableModel | str | os.PathLike):
        raise ValueError(f"a model must be a SmartClassifier, a TableModel or a folder, got {type(given).__name__}")
    model = given if isinstance(given, SmartClassifier | TableModel) else load(given, trust)
    if not isinstance(model, SmartClassifier) and (model.waiting or model.classifier.learner_.waiting):
        model = deepcopy(model)
        model.catch_up()
    return model


def _encoder(classifier: SmartClassifier) -> RowEncoder:
    """What the classifier knows of the columns of a table."""
    found = classifier.columns_
    if found is None:
        raise ValueError("the models of a table must know its columns: these were trained on arrays")
    return found


def _added(parts: Sequence[Progress], less: Progress | None, times: int) -> Progress:
    """The counts of all parts, less ``times`` those of ``less``."""

    def added(name: str) -> int:
        total: int = sum(getattr(part, name) for part in parts) - times * (getattr(less, name) if less else 0)
        return max(0, total)

    whole = Progress()
    whole.rows = added("rows")
    for part in parts:
        _count_up(whole.skipped, part.skipped, 1)
        whole.odd.add(part.odd)
        for name, row in part.strangers.items():
            if len(whole.strangers) < MOST_STRANGERS:
                whole.strangers[name] = min(row, whole.strangers.get(name, row))
        for name, row in part.late_classes.items():
            whole.late_classes[name] = min(row, whole.late_classes.get(name, row))
        for name, mark in part.marks.items():
            here = whole.marks.get(name, mark)
            whole.marks[name] = max(here, mark, key=lambda each: (each.place, each.records))
        whole.beginnings.update(part.beginnings)
        whole.moved.update(part.moved)
    if less is not None:
        _count_up(whole.skipped, less.skipped, -times)
        for each in fields(Odd):
            _count_up(getattr(whole.odd, each.name), getattr(less.odd, each.name), -times)
    return whole


def _count_up(counts: dict[str, int], more: dict[str, int], times: int) -> None:
    for name, count in more.items():
        left = counts.get(name, 0) + times * count
        if left > 0:
            counts[name] = left
        else:
            counts.pop(name, None)
