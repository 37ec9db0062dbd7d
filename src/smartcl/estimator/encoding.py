"""A frozen encoder in front of a classifier: from raw items to vectors, and how it is known again.

The encoder is a function of the user's own, or one of smartcl's by name (``encoders/``). What a file can hold of it is
its name. That another process finds the same encoder under this name, its answers tell:
to a few items made up for it, of the kind it was first given. Nothing of the user's own is kept for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from smartcl.encoders.named import NamedEncoder, is_named, named_encoder
from smartcl.learners.transaction import gradients_as_before
from smartcl.saving.references import Code, import_reference, reference_of
from smartcl.saving.saved import Saved

#: From items, such as texts or images, to an array or tensor of one row for each.
Encode: TypeAlias = Callable[[Any], Any]

SENTENCES = ["", "The quick brown fox jumps over the lazy dog.", "naïve café, 123 %", "no yes no yes " * 40]
#: Answers further apart than this share of their largest value are another encoder's; processors differ by less.
TOLERANCE = 1e-3

#: The numbers that an answer of any width comes down to.
WAVES = 8

#: What items are, so that others like them can be made up: ``"text"``, or the container, shape and dtype of arrays.
ItemKind: TypeAlias = Mapping[str, Any]


def kind_of(items: Any) -> ItemKind | None:
    """The kind of some items; None if nothing like them can be made up.

    >>> kind_of(["a text"]), kind_of(np.zeros((5, 2), np.float32))
    ({'items': 'text'}, {'items': 'array', 'shape': [2], 'dtype': 'float32'})
    """
    if isinstance(items, np.ndarray | torch.Tensor) and items.ndim > 1:
        container = "tensor" if isinstance(items, torch.Tensor) else "array"
        return _arrays(container, items.numpy(force=True) if isinstance(items, torch.Tensor) else items)
    first = next(iter(items), None)
    if isinstance(first, str):
        return {"items": "text"}
    return _arrays("list", first[None]) if isinstance(first, np.ndarray) else None


def _arrays(container: str, values: NDArray[Any]) -> ItemKind | None:
    if values.dtype.kind not in "buif":
        return None
    return {"items": container, "shape": list(values.shape[1:]), "dtype": values.dtype.name}


def made_up(kind: ItemKind) -> Any:
    """A few items of this kind, always the same."""
    if kind["items"] == "text":
        return list(SENTENCES)
    dtype, rng = np.dtype(kind["dtype"]), np.random.default_rng(0)
    shape = (len(SENTENCES), *kind["shape"])
    values = (
        rng.standard_normal(shape) if dtype.kind == "f" else rng.integers(0, 2 if dtype.kind == "b" else 100, shape)
    )
    rows = values.astype(dtype)
    return {"array": rows, "tensor": torch.from_numpy(rows), "list": list(rows)}[kind["items"]]


def find_encoder(asked: Encode | str | None) -> Encode | None:
    """The encoder that was asked for: one of smartcl's own by its name, a user's own, or none."""
    found: Encode | None = named_encoder(asked) if is_named(asked) else Code()(asked)
    return found


@dataclass(frozen=True)
class Encoding:
    """An encoder, the kind of items it was first given, and its answers to such items made up.

    >>> lengths = lambda texts: np.array([[len(text), 1.0] for text in texts])
    >>> Encoding.of(lengths, ["some", "texts"]).answers.shape
    (4, 8)
    """

    encoder: Encode | str
    kind: ItemKind | None
    answers: NDArray[np.float32] | None

    @classmethod
    def of(cls, named: Encode | str, items: Any) -> Encoding:
        """Ask it; one that answers the same items in two ways is not frozen, and refused."""
        encoder = find_encoder(named)
        assert encoder is not None
        kind = kind_of(items)
        if kind is None:
            return cls(encoder, None, None)
        try:
            answers, again = (fingerprint(vectors(encoder, made_up(kind))) for _ in range(2))
        except Exception:  # it may be made for items of a narrower kind
            return cls(encoder, None, None)
        if not alike(answers, again):
            raise ValueError("encoder must answer the same items alike, and does not: is it in training mode?")
        return cls(encoder, kind, answers)

    def check_same(self, encoder: Encode) -> None:
        """Refuse an encoder that does not answer as this one did."""
        if encoder is self.encoder or self.kind is None or self.answers is None:
            return
        if not alike(fingerprint(vectors(encoder, made_up(self.kind))), self.answers):
            raise ValueError("encoder answers otherwise than the one this model has learned with: it is another")

    def registered(self) -> Encoding:
        """With a name that another process finds, or a ``ValueError``."""
        if isinstance(self.encoder, NamedEncoder):
            return replace(self, encoder=self.encoder.name)
        encoder = self.encoder if isinstance(self.encoder, str) else reference_of(self.encoder, "encoder")
        return replace(self, encoder=encoder)

    def state_dict(self) -> dict[str, Any]:
        return {
            "encoder": self.encoder,
            "kind": None if self.kind is None else dict(self.kind),
            "answers": self.answers,
        }

    @classmethod
    def from_state(cls, saved: Saved) -> Encoding:
        """The encoder of this name, if it still answers as it did."""
        found, kind = saved.value("encoder"), saved.optional("kind")
        if kind is None:
            known: Encoding = cls(found, None, None)
        else:
            known = cls(found, _checked(kind), saved.array("answers", (len(SENTENCES), WAVES), "float32"))
        if not isinstance(found, str):
            return known
        encoder: Encode = named_encoder(found) if is_named(found) else import_reference(found)
        known.check_same(encoder)
        return replace(known, encoder=encoder)


def encoded(encoding: Encoding | None, encoder: Encode | str | None, items: Any) -> Any:
    """Items as vectors where there is an encoder, which must be the one that learning began with; else as they are."""
    asked = find_encoder(encoder)
    if (encoding is None) != (asked is None):
        raise ValueError("encoder must be there from the first call on or never: call fit to begin anew")
    if encoding is None or asked is None:
        return items
    encoding.check_same(asked)
    return vectors(asked, items)


def _checked(kind: Saved) -> ItemKind:
    if kind.choice("items", "text", "array", "tensor", "list") == "text":
        return {"items": "text"}
    shape = [size for size in kind.items("shape") if type(size) is int and 0 < size < 2**20]
    if len(shape) < len(kind.items("shape")) or np.prod(shape, dtype=np.float64) > 2**28:
        kind.refuse("shape", "must be that of one item")
    try:
        dtype = np.dtype(kind.text("dtype"))
    except TypeError:
        kind.refuse("dtype", "must be one of NumPy's")
    if dtype.kind not in "buif":
        kind.refuse("dtype", "must be that of numbers")
    return {"items": kind.text("items"), "shape": shape, "dtype": dtype.name}


def vectors(encoder: Encode, items: Any) -> Any:
    """What an encoder makes of some items: one row of numbers for each, dense or sparse, or a ``ValueError``."""
    with gradients_as_before(), torch.no_grad():
        made = encoder(items)
    if isinstance(made, torch.Tensor):
        made = made.detach().cpu().numpy()
    rows: Any = made if sparse.issparse(made) else np.asarray(made)
    if rows.ndim < 2 or rows.dtype.kind not in "buif":
        raise ValueError(f"encoder must give one row of numbers for each item, gave {rows.dtype} {rows.shape}")
    n_items = items.shape[0] if hasattr(items, "shape") else len(items)
    if rows.shape[0] != n_items:
        raise ValueError(f"encoder must give one row for each of {n_items} items, gave {rows.shape[0]}")
    return rows.astype(np.float32)


def fingerprint(rows: Any) -> NDArray[np.float32]:
    """Each row as a few sums over all its values, of waves of different length: other values, other sums."""
    flat: Any = sparse.csr_array(rows.reshape(len(rows), -1) if isinstance(rows, np.ndarray) else rows)
    waves = np.cos(np.outer(flat.indices + 1.0, np.arange(1, WAVES + 1)))
    summed = sparse.csr_array((flat.data, np.arange(flat.nnz), flat.indptr), shape=(flat.shape[0], flat.nnz)) @ waves
    return summed.astype(np.float32)


def alike(answers: NDArray[np.float32], others: NDArray[np.float32]) -> bool:
    """Whether two sets of answers are one encoder's, as far as processors agree."""
    if answers.shape != others.shape:
        return False
    largest = float(np.abs(others).max(initial=0.0))
    return bool((np.abs(answers - others) <= TOLERANCE * max(largest, 1e-30)).all())
