"""Which schemas are still in use, and which of them each row was stored under."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smartcl.memory.codecs import Bytes
from smartcl.memory.schema import Schema
from smartcl.streams.batch import Bools


def live(schemas: Sequence[Schema], versions: Bytes) -> tuple[tuple[Schema, ...], Bytes | None]:
    """The schemas that have rows, each once and the current (last) one last, and the rows renumbered to match.

    A single schema needs no numbers.

    >>> wide, narrow = Schema.full(3), Schema.of(np.array([True, False, False]))
    >>> schemas, versions = live([narrow, narrow, wide], np.array([1, 2, 0], dtype=np.uint8))
    >>> schemas == (narrow, wide), versions
    (True, array([0, 1, 0], dtype=uint8))
    >>> live([narrow, wide], np.array([1], dtype=np.uint8))[1] is None
    True
    """
    current = schemas[-1]
    used = [schemas[version] for version in np.flatnonzero(np.bincount(versions)).tolist()]
    kept = (*(schema for schema in dict.fromkeys(used) if schema != current), current)
    if len(kept) == 1:
        return kept, None
    number = {schema: place for place, schema in enumerate(kept)}
    return kept, np.array([number.get(schema, 0) for schema in schemas], dtype=np.uint8)[versions]


def lacking(schemas: tuple[Schema, ...], versions: Bytes | None) -> Bools | None:
    """For each row, which features of the current schema it does not know; None if it knows all in every row."""
    if versions is None or (versions == len(schemas) - 1).all():
        return None
    features = schemas[-1].features
    return np.stack([~schema.mask[features] for schema in schemas])[versions]
