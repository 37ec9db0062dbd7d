"""Which schemas are still in use, and which of them each row was stored under."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smartcl.data.batch import Bools
from smartcl.memory.codecs import Bytes
from smartcl.memory.formats import mask_nbytes
from smartcl.memory.schema import Schema
from smartcl.saved import Saved

#: Live versions of the schema; past it, rows of the two oldest are brought under one.
MAX_VERSIONS = 8


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


def saved_versions(saved: Saved, n_rows: int, one_only: bool) -> tuple[Bools, Bytes]:
    """The masks of a saved store's schemas and each row's version, if ``live`` can have left them so."""
    n_features = saved.whole("n_features", low=1)
    bits = np.unpackbits(saved.array("schemas", (None, mask_nbytes(n_features)), "uint8"), axis=1).view(np.bool_)
    if not 1 <= len(bits) <= (1 if one_only else MAX_VERSIONS):
        saved.refuse("schemas", f"must be 1 to {MAX_VERSIONS}, and 1 for sparse or whole rows; there are {len(bits)}")
    masks = bits[:, :n_features]
    if bits[:, n_features:].any() or (masks > masks[-1]).any() or len({mask.tobytes() for mask in masks}) < len(masks):
        saved.refuse("schemas", "must differ, and have features of the last only")
    versions = saved.array("versions", (n_rows,), "uint8")
    if not np.isin(np.arange(len(masks) - 1), versions).all() or versions.max(initial=0) >= len(masks):
        saved.refuse("versions", f"must be numbers of the {len(masks)} schemas, and leave out none but the last")
    return masks, versions
