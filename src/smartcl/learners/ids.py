"""A user's ids beside stored samples, where given: eight bytes each, charged like all else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from smartcl.data.batch import Batch, Ints
from smartcl.memory.schematic_memory import ExtraColumns
from smartcl.saved import Saved

if TYPE_CHECKING:
    from smartcl.learners.stream_learner import StreamLearner

#: The name and type of the column.
COLUMN, DTYPE = "id", "int64"


def id_of(value: Any) -> int:
    """An id in eight bytes: a whole number from 0 on stands for itself, anything else is hashed.

    >>> id_of(17), id_of("17"), id_of(17.0), id_of("mail-17") < 0
    (17, 17, 17, True)
    """
    text = str(int(value)) if isinstance(value, float | np.floating) and value == int(value) else str(value).strip()
    if text.isascii() and text.isdecimal() and len(text) < 19 and (text == "0" or text[0] != "0"):
        return int(text)
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") - 2**64 | -(2**63)


def ids_of(values: ArrayLike | Iterable[Any]) -> Ints:
    """Ids as they are stored."""
    return np.array([id_of(value) for value in values], dtype=np.int64)  # type: ignore[union-attr]


def kept_ids(learner: StreamLearner, ids: ArrayLike | None) -> Ints | None:
    """The ids that come with rows, checked; a learner stores them from the first time they are given."""
    if ids is None:
        if learner.keeps_ids and len(learner.memory):
            raise ValueError("ids must be given with all rows, as before: samples without could never be forgotten")
        learner.keeps_ids = False
        return None
    given = np.asarray(ids)
    if given.ndim != 1:
        raise ValueError(f"ids must be one a row, got the shape {given.shape}")
    if not learner.keeps_ids and len(learner.memory):
        raise ValueError("ids must be given from the first row on: the memory holds samples without")
    learner.keeps_ids = True
    return given if given.dtype == np.int64 else ids_of(given.tolist())


def id_column(learner: StreamLearner, batch: Batch) -> ExtraColumns:
    """What is stored of a batch's ids."""
    return {COLUMN: batch.ids} if learner.keeps_ids and batch.ids is not None else {}


def id_dtype(learner: StreamLearner) -> dict[str, str]:
    return {COLUMN: DTYPE} if learner.keeps_ids else {}


def saved_with_ids(saved: Saved) -> bool:
    """Whether a saved learner's samples have ids."""
    return COLUMN in saved.part("memory").part("store").part("extra")
