"""A user's ids beside stored samples, where given: eight bytes each, charged like all else."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Set
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from numpy.typing import ArrayLike

from smartcl.data.batch import Batch, Ints
from smartcl.memory.schematic_memory import ExtraColumns
from smartcl.saving.saved import Saved

if TYPE_CHECKING:
    from smartcl.learners.stream_learner import StreamLearner

#: The name and type of the column.
COLUMN, DTYPE = "id", "int64"
#: Ids from 0 up to here are stored as they are.
LARGEST = 2**63 - 1
#: A whole number of more digits is larger than ``LARGEST``; Python refuses to read numbers of thousands of digits.
MOST_DIGITS = len(str(LARGEST))
#: What is one id and not several.
SINGLE = (str, bytes, int, float, np.generic, date, Decimal, Fraction, UUID)


def id_of(value: Any) -> int:
    """What is stored for an id: a whole number from 0 to 2⁶³ - 1 itself, for anything else a negative hash of its text.

    Equal ids are stored alike, whatever type they come in; ``ids_of`` is the same for many.

    >>> id_of(17), id_of("17"), id_of(17.0), id_of("mail-17") < 0
    (17, 17, 17, True)
    """
    text = _text_of(value).strip()
    if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS and (text == "0" or text[0] != "0"):
        number = int(text)
        if number <= LARGEST:
            return number
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") - 2**64 | -(2**63)


def ids_of(values: ArrayLike | Iterable[Any]) -> Ints:
    """What is stored for each of these ids, or for the one id that this is.

    >>> ids_of(np.array([3, 5], dtype=np.uint8)), ids_of("17")
    (array([3, 5]), array([17]))
    """
    if isinstance(values, SINGLE):
        return np.array([id_of(values)], dtype=np.int64)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and _all_stored_as_they_are(values):
        return values.astype(np.int64)
    # not np.asarray: a list with an id above 2**63 and a negative one would become floats, "a\0" would become "a"
    is_dates = isinstance(values, np.ndarray) and values.dtype.kind == "M"  # whose tolist() depends on the unit
    listed = values.tolist() if hasattr(values, "tolist") and not is_dates else values
    try:
        return np.array([id_of(value) for value in listed], dtype=np.int64)  # type: ignore[union-attr]
    except TypeError:
        raise ValueError(f"ids must be a list or an array, got {values!r:.60}") from None


def _all_stored_as_they_are(values: np.ndarray[Any, Any]) -> bool:
    return not values.size or (int(values.min()) >= 0 and int(values.max()) <= LARGEST)


def _text_of(value: Any) -> str:
    """The text of an id; numbers that are equal have one text, and so have dates."""
    if isinstance(value, np.floating):
        value = int(value) if value.is_integer() else float(value)  # a longdouble may hold more digits than a float
    elif isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        value = value.item()
    match value:
        case str():
            return value
        case bytes():
            return value.decode("utf-8", "surrogateescape")
        case bool() | int():
            return _digits(int(value))
        case float() | Decimal() | Fraction() if math.isfinite(value):
            return _digits(int(value)) if value == int(value) else str(value)
        case UUID():
            return str(value)
        case datetime() if value.tzinfo is not None:
            return value.isoformat()
        case date() | np.datetime64() if value == value:  # NaT is not equal to itself
            return str(np.datetime_as_string(np.datetime64(value), unit="auto"))
    raise ValueError(f"ids must be whole numbers, texts or dates, got {value!r:.60}")


def _digits(number: int) -> str:
    """A number's text; one that Python would not write in digits is written in hexadecimal."""
    return str(number) if number.bit_length() < 10_000 else hex(number)


def kept_ids(learner: StreamLearner, ids: ArrayLike | None) -> Ints | None:
    """The ids that come with rows, checked; a learner stores them from the first time they are given."""
    if ids is None:
        if learner.keeps_ids and (len(learner.memory) or learner.waiting):
            raise ValueError("ids must be given with all rows, as before: samples without could never be forgotten")
        learner.keeps_ids = False
        return None
    if isinstance(ids, (*SINGLE, Set, Mapping)):
        raise ValueError(f"ids must be one a row, in the order of the rows, got {ids!r:.60}")
    shape = getattr(ids, "shape", (0,))
    if len(shape) != 1:
        raise ValueError(f"ids must be one a row, got the shape {tuple(shape)}")
    if not learner.keeps_ids and (len(learner.memory) or learner.waiting):
        raise ValueError("ids must be given from the first row on: the memory holds samples without")
    stored = ids_of(ids)
    learner.keeps_ids = True
    return stored


def id_column(learner: StreamLearner, batch: Batch) -> ExtraColumns:
    """What is stored of a batch's ids."""
    return {COLUMN: batch.ids} if learner.keeps_ids and batch.ids is not None else {}


def id_dtype(learner: StreamLearner) -> dict[str, str]:
    return {COLUMN: DTYPE} if learner.keeps_ids else {}


def saved_with_ids(saved: Saved) -> bool:
    """Whether a saved learner's samples have ids."""
    memory = saved.part("memory")
    waiting = memory.optional("waiting")
    return COLUMN in memory.part("store").part("extra") or (waiting is not None and waiting.has("ids"))
