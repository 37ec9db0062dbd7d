"""Schema: the input features in use, the version under which each row was stored, and features that are long dead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Bools, Ints
from smartcl.saving.saved import Saved

Bytes: TypeAlias = NDArray[np.uint8]

#: Live versions of the schema; past it, rows of the two oldest are brought under one.
MAX_VERSIONS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """A set of input features: all ``n_features`` (``packed`` is None), or those set in a packed bit mask.

    Schemas are equal when they hold the same features of the same width.

    >>> schema = Schema.of(np.array([True, False, True, True]))
    >>> schema.features, len(schema), schema.nbytes
    (array([0, 2, 3]), 3, 1)
    >>> Schema.of(np.ones(4, dtype=bool)) == Schema.full(4)
    True
    """

    n_features: int
    packed: NDArray[np.uint8] | None = None

    @classmethod
    def full(cls, n_features: int) -> Schema:
        """Every feature."""
        return cls(n_features)

    @classmethod
    def of(cls, mask: Bools) -> Schema:
        """The features that are True in ``mask``."""
        if mask.all():
            return cls(len(mask))
        packed = np.packbits(mask)
        packed.flags.writeable = False
        return cls(len(mask), packed)

    @property
    def is_full(self) -> bool:
        return self.packed is None

    @property
    def mask(self) -> Bools:
        """One bool per feature: True if it is in use."""
        if self.packed is None:
            return np.ones(self.n_features, dtype=np.bool_)
        return np.unpackbits(self.packed, count=self.n_features).view(np.bool_)

    @property
    def features(self) -> Ints:
        """The ids of the features that are in, sorted."""
        return np.arange(self.n_features) if self.is_full else np.flatnonzero(self.mask)

    @property
    def nbytes(self) -> int:
        return 0 if self.packed is None else self.packed.nbytes

    def __len__(self) -> int:
        return self.n_features if self.packed is None else int(np.count_nonzero(self.mask))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def _content(self) -> tuple[int, bytes | None]:
        return self.n_features, None if self.packed is None else self.packed.tobytes()

    def intersect(self, other: Schema) -> Schema:
        """The features that are in both."""
        return Schema.of(self.mask & other.mask)

    def union(self, other: Schema) -> Schema:
        """The features that are in either."""
        return Schema.of(self.mask | other.mask)

    def widen(self, n_features: int) -> Schema:
        """The same features and all new ones, of a stream that has become wider."""
        return self.pad(n_features, new=True)

    def pad(self, n_features: int, new: bool) -> Schema:
        """The same features of a wider stream, whose new ones are all in or all out."""
        if n_features < self.n_features:
            raise ValueError(f"n_features can only grow: it is {self.n_features}, got {n_features}")
        return Schema.of(np.concatenate([self.mask, np.full(n_features - self.n_features, new)]))


@dataclass(frozen=True, slots=True, eq=False)
class FeatureWatch:
    """For how many consolidations in a row each feature has been dead; the count stops at 255.

    >>> watch = FeatureWatch.fresh(3)
    >>> for alive in ([True, False, False], [True, False, True], [True, False, False]):
    ...     watch = watch.update(np.array(alive))
    >>> watch.forgettable(patience=3)
    array([False,  True, False])
    """

    dead_for: NDArray[np.uint8]

    @classmethod
    def fresh(cls, n_features: int) -> FeatureWatch:
        """Nothing has been dead yet."""
        return cls(np.zeros(n_features, dtype=np.uint8))

    def update(self, alive: Bools) -> FeatureWatch:
        """The watch after a consolidation that left these features alive and the others dead."""
        if alive.shape != self.dead_for.shape:
            raise ValueError(f"alive must be one bool for each of {len(self.dead_for)} features, got {alive.shape}")
        longer = self.dead_for + (self.dead_for < 255)
        return FeatureWatch(np.where(alive, np.uint8(0), longer.astype(np.uint8)))

    def forgettable(self, patience: int) -> Bools:
        """Which features have been dead for at least ``patience`` consolidations in a row."""
        if not 1 <= patience <= 255:
            raise ValueError(f"patience must be from 1 to 255 consolidations, got {patience}")
        return self.dead_for >= patience

    def widen(self, n_features: int) -> FeatureWatch:
        """The same counts and fresh ones for the new features."""
        fresh = np.zeros(n_features - len(self.dead_for), dtype=np.uint8)
        return FeatureWatch(np.concatenate([self.dead_for, fresh]))

    def state_dict(self) -> dict[str, Any]:
        return {"dead_for": self.dead_for}

    @classmethod
    def from_state(cls, state: dict[str, Any] | Saved, n_features: int | None = None) -> FeatureWatch:
        """The watch that ``state_dict`` described, over ``n_features`` where their number is known."""
        return cls(np.array(Saved.of(state, "watch").array("dead_for", (n_features,), "uint8")))


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


def mask_nbytes(n_features: int) -> int:
    """The bytes of one bit per feature."""
    return -(-n_features // 8)
