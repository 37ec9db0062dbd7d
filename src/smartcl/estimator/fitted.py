"""State of a fitted estimator as one value: its learner, the labels it knows, and how it was built.

It is replaced as a whole, and saved and loaded as a whole: a folder, a pickle and a deep copy hold the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from smartcl.account.account import Account
from smartcl.columns.column_schema import ColumnSchema
from smartcl.columns.gaps import FIRST_ROWS, Gaps, means
from smartcl.columns.renewal import Renewal
from smartcl.columns.row_encoder import RowEncoder
from smartcl.columns.values import is_missing
from smartcl.data.batch import Ints, Rows
from smartcl.data.spec import InputSpec
from smartcl.estimator.encoding import Encoding
from smartcl.learners.factory import Factory, Method
from smartcl.learners.forgetting import relearn
from smartcl.learners.learner_state import MOST_CLASSES
from smartcl.learners.methods import check_registered, method_of, registered_name
from smartcl.learners.stream_learner import StreamLearner
from smartcl.memory.export import stored_rows
from smartcl.saving.references import saved_code
from smartcl.saving.saved import Saved
from smartcl.settings import as_given, shown

Labels = NDArray[Any]

#: By the kind of their NumPy dtype, labels that can be told apart from each other.
FAMILIES = {"b": "truth values", "i": "numbers", "u": "numbers", "f": "numbers", "U": "text", "M": "dates"}


@dataclass(frozen=True)
class Built:
    """What a learner was made from: it can be made again. ``method`` is a name, or what a user gave in its place."""

    method: str | Method | Factory
    memory: str | int
    parameters: Mapping[str, Any]
    spec: InputSpec
    #: The bytes that the whole state may take; None: only the memory is bounded.
    total: str | int | None = None

    @classmethod
    def of(
        cls,
        method: str | Method | Factory,
        memory: str | int | np.integer[Any],
        parameters: Mapping[str, Any],
        spec: InputSpec,
        total: str | int | np.integer[Any] | None = None,
    ) -> Built:
        """With the parameters checked and put in their own types, for a stream that never says that a task ends."""
        found = method_of(method)
        if found.task_aware:
            raise ValueError(
                f"method {shown(method)} must be told which task each batch is of, which an estimator cannot: "
                "use smartcl.extend.build_learner and Batch(x, y, task)"
            )
        plain = int(memory) if isinstance(memory, np.integer) else memory
        bound = int(total) if isinstance(total, np.integer) else total
        return cls(method, plain, found.coerce(found.without_task_ends(parameters)), spec, bound)

    @property
    def settings(self) -> dict[str, Any]:
        """Every parameter of the method, defaults included."""
        return {**method_of(self.method).parameters, **self.parameters}

    def check_same(self, asked: Built) -> None:
        """Refuse to go on with a learner whose settings are not those asked for now."""
        mine, theirs = ({"method": b.method, "memory": b.memory, "total": b.total, **b.settings} for b in (self, asked))
        for name in (*mine, *theirs):
            before, now = mine.get(name), theirs.get(name)
            if before != now:
                raise ValueError(
                    f"{name} was {shown(before)} when learning began and is {shown(now)} now: "
                    "set it back to go on, or call fit to begin anew"
                )

    def learner(self, seed: int = 0) -> StreamLearner:
        return method_of(self.method).learner(self.spec, self.memory, seed, total=self.total, **self.parameters)

    def registered(self) -> Built:
        """The same under names that another process finds, also for code of the user's own, or a ``ValueError``."""
        parameters = {name: saved_code(name, value) for name, value in self.parameters.items()}
        return replace(self, method=registered_name(self.method), parameters=parameters)

    @property
    def own(self) -> Method | Factory | None:
        """What a user gave in the place of a method's name."""
        return None if isinstance(self.method, str) else self.method

    def state_dict(self) -> dict[str, Any]:
        """Plain values; what is there in the place of a name must be brought back beside them."""
        name = self.method if isinstance(self.method, str) else None
        bound = {} if self.total is None else {"total": self.total}
        return {"method": name, "memory": self.memory, **bound, "parameters": self.settings, "spec": asdict(self.spec)}

    @classmethod
    def from_state(cls, saved: Saved, own: Method | Factory | None = None) -> Built:
        method = check_registered(saved.text("method")) if own is None else own
        found = method_of(method)
        parameters = {name: as_given(value) for name, value in saved.entries("parameters").items()}
        if not set(found.parameters) <= set(parameters):
            saved.refuse("parameters", f"must be those of {shown(method)}, each once")
        spec = saved.part("spec")
        if spec.flag("sparse") and spec.number("offset"):
            spec.refuse("offset", "must be 0 for a sparse stream")
        return cls(
            method,
            saved.one_of("memory", int, str),
            found.coerce(parameters),
            InputSpec(
                n_features=spec.whole("n_features", 1, 2**31),
                n_classes=spec.whole("n_classes", 1, MOST_CLASSES),
                dtype=spec.choice("dtype", "uint8", "float32"),
                sparse=spec.flag("sparse"),
                offset=spec.number("offset"),
                scale=spec.number("scale"),
                learned=spec.flag("learned"),
                shape=_saved_shape(spec),
                momentary=_saved_momentary(spec),
            ),
            saved.one_of("total", int, str) if "total" in set(saved) else None,
        )


class Taken(NamedTuple):
    """Rows and labels that were looked at and can be learned: the shape that rows had, and what encoded them."""

    rows: Rows
    labels: Labels
    shape: tuple[int, ...] | None
    encoding: Encoding | None
    gaps: Gaps | None = None


@dataclass(frozen=True)
class Fitted:
    """A learner, the label of each of its outputs, and whether there may be more of them.

    ``companions`` are what others keep in the same folder, such as an event model's calibration: carried along.
    ``encoding`` is the encoder in front, if there is one; ``columns`` makes rows of tables, ``gaps`` fills in what is
    missing from arrays. ``account`` says how good answers were that were given before their rows were learned.
    """

    learner: StreamLearner
    names: Labels
    fixed: bool
    built: Built
    companions: Mapping[str, Any] = field(default_factory=dict)
    encoding: Encoding | None = None
    columns: RowEncoder | None = None
    gaps: Gaps | None = None
    account: Account = field(kw_only=True)

    @property
    def n_columns(self) -> int:
        """How many columns the rows have that an estimator is given."""
        if self.columns is not None:
            return len(self.columns.schema.columns)
        return self.built.spec.n_features - (0 if self.gaps is None else len(self.gaps.says))

    @property
    def bytes_by_part(self) -> dict[str, int]:
        """Of the learner, and of what is known of the columns of tables."""
        parts = {**self.learner.bytes_by_part, "scores": self.account.nbytes}
        return parts if self.columns is None else {**parts, "names and words": self.columns.nbytes}

    def registered(self) -> Fitted:
        """The same, to be found again by another process, or a ``ValueError``."""
        encoding = None if self.encoding is None else self.encoding.registered()
        return replace(self, built=self.built.registered(), encoding=encoding)

    def refuse_strangers(self, strangers: Labels) -> None:
        """Refuse labels beyond those that were said to be all."""
        if len(strangers) and self.fixed:
            known = self.names.tolist()
            raise ValueError(f"y contains labels outside classes: {shown(strangers.tolist())} not in {shown(known)}")

    def relearned(self, batch_size: int, seed: int) -> Fitted:
        """A learner that has seen nothing but what the memory holds; weights of classes are set again.

        Classes of which no sample is left go, unless they were given as all there will ever be. Rows are what they
        would be, encoded by what is known of the stored ones alone.
        """
        memory = self.learner.memory
        waiting = np.zeros(0, np.int64) if memory.waiting is None else memory.waiting.y.numpy()
        held = np.unique(np.concatenate([memory.store.labels.astype(np.int64), waiting]))
        left = np.arange(len(self.names)) if self.fixed or not len(held) else held
        built = replace(self.built, spec=replace(self.built.spec, n_classes=len(left)))
        learner, told = built.learner(seed), self.learner.class_weight
        learner.class_weight = tuple(told[label] for label in left) if isinstance(told, tuple) else told
        again, changed = self._encoded_anew(self._held_rows())
        relearn(learner, memory, batch_size, left, changed)
        account = Account.knowing(learner.counts.widened(len(left)).seen)
        return replace(again, learner=learner, names=_as_short(self.names[left]), built=built, account=account)

    def _held_rows(self) -> Rows:
        """All rows that are stored, and those that wait to be."""
        memory = self.learner.memory
        stored = stored_rows(memory.store, np.arange(len(memory.store)))
        if memory.waiting is None:
            return stored
        waiting = memory.waiting.x
        if isinstance(stored, torch.Tensor) and isinstance(waiting, torch.Tensor):
            return torch.cat([stored.float(), waiting.float()])
        both: list[Any] = [stored, waiting]
        return sparse.csr_array(sparse.vstack(both, format="csr"))

    def _encoded_anew(self, stored: Rows) -> tuple[Fitted, Callable[[Rows], Rows]]:
        """With an encoder that knows the stored rows alone; and what changes rows to those that it would make."""
        if self.columns is not None:
            renewal = Renewal.of(self.columns, stored)
            return replace(self, columns=renewal.after), renewal.rows
        if self.gaps is not None and isinstance(stored, torch.Tensor):
            before = self.gaps
            after = replace(before, fill=means(before.opened(stored.numpy().astype(np.float32))))
            return replace(self, gaps=after), lambda rows: torch.from_numpy(
                after.filled(before.opened(np.asarray(rows, dtype=np.float32)))
            )
        return self, lambda rows: rows

    def without_lost(self) -> Fitted:
        """Without values of single rows in what is known of columns; no name of a number that no stored row has."""
        if self.columns is None:
            return self
        columns = self.columns.without_values()
        if columns.schema.sparse:
            rows = self._held_rows()
            columns.book.keep([] if isinstance(rows, torch.Tensor) else np.unique(rows.indices).tolist())
        return replace(self, columns=columns)

    def without_gaps(self, X: Any) -> Any:
        """Rows of an array with what stands for missing values; in a column that never had one, the stored mean."""
        if not isinstance(X, np.ndarray):
            return X
        if self.gaps is not None:
            return self.gaps.filled(X)
        if X.dtype.kind != "f" or not np.isnan(X).any():
            return X
        store = self.learner.memory.store
        rows = stored_rows(store, np.arange(max(0, len(store) - FIRST_ROWS), len(store)))
        known = rows.numpy().astype(np.float32) if isinstance(rows, torch.Tensor) else rows.toarray()
        fill = means(known) if len(store) else np.zeros(X.shape[1], np.float32)
        return Gaps(fill, np.zeros(0, np.int64)).filled(X)

    @property
    def classes(self) -> Labels:
        """The labels by column of the probabilities; names may be ahead of them while classes are being added."""
        with self.learner.finished() as learner:
            return self.names[: learner.spec.n_classes]

    def state_dict(self) -> dict[str, Any]:
        is_date = self.names.dtype.kind == "M"
        return {
            "built": self.built.state_dict(),
            "classes": self.names.astype(np.int64).tolist() if is_date else self.names.tolist(),
            "classes_dtype": self.names.dtype.str,
            "fixed_classes": self.fixed,
            "learner": self.learner.state_dict(),
            "companions": dict(self.companions),
            "encoding": None if self.encoding is None else self.encoding.state_dict(),
            "account": self.account.state_dict(),
            "columns": None if self.columns is None else _columns_state(self.columns),
            "gaps": None if self.gaps is None else self.gaps.state_dict(),
        }

    @classmethod
    def from_state(cls, saved: Saved, own: Method | Factory | None = None) -> Fitted:
        """The same again, or a ``ValueError`` that says what is wrong with the state."""
        built = Built.from_state(saved.part("built"), own)
        store = saved.part("learner").part("memory").part("store")
        held = store.whole("n_features", 1)
        if held != built.spec.n_features:  # before anything is made so wide
            store.refuse("n_features", f"must be {built.spec.n_features}, as the learner's, is {held}")
        learner = built.learner()
        learner.load_state_dict(saved.entries("learner"))
        names = _saved_labels(saved)
        if len(names) != learner.spec.n_classes:
            saved.refuse("classes", f"must be {learner.spec.n_classes} labels, are {len(names)}")
        encoding = Encoding.from_state(saved.part("encoding")) if saved.has("encoding") else None
        account, fixed = Account.from_state(saved.part("account"), len(names)), saved.flag("fixed_classes")
        companions = saved.entries("companions")
        columns = _saved_columns(saved.part("columns"), built) if saved.has("columns") else None
        gaps = Gaps.from_state(saved.part("gaps"), built.spec.n_features) if saved.has("gaps") else None
        return cls(learner, names, fixed, built, companions, encoding, columns, gaps, account=account)


def check_labels(labels: Any) -> None:
    """Refuse what NumPy would make another label of: nothing among texts, and texts that end in the character NUL.

    >>> check_labels(["a", None])
    Traceback (most recent call last):
    ValueError: y must hold a label for each row, got None in row 1
    >>> check_labels(["a", "a\\0"])
    Traceback (most recent call last):
    ValueError: y must hold texts that do not end in the character NUL, got 'a\\x00'
    """
    if labels is None or getattr(getattr(labels, "dtype", None), "kind", "O") != "O":
        return  # numbers, or NumPy's texts: how they ended cannot be known any more
    held = np.ravel(np.asarray(labels, dtype=object))
    gone = next((row for row, label in enumerate(held) if not isinstance(label, str) and is_missing(label)), None)
    if gone is not None:
        raise ValueError(f"y must hold a label for each row, got {shown(held[gone])} in row {gone}")
    odd = next((label for label in held if isinstance(label, str) and label.endswith("\0")), None)
    if odd is not None:
        raise ValueError(f"y must hold texts that do not end in the character NUL, got {shown(odd)}")


def labels_of(y: Labels) -> Labels:
    """Labels in an array that can be compared and saved, or a ``ValueError``.

    >>> labels_of(np.array(["spam", "ham"], dtype=object))
    array(['spam', 'ham'], dtype='<U4')
    """
    if y.dtype.kind == "O" and all(isinstance(label, str) for label in y):
        y = y.astype(str)
    if y.dtype.kind not in FAMILIES:
        kinds = ", ".join(dict.fromkeys(FAMILIES.values()))
        raise ValueError(f"y must hold labels of one kind ({kinds}), got dtype {y.dtype}")
    return y


def check_family(labels: Labels, known: Labels, what: str) -> None:
    """Labels of another kind than those known would be new classes that mean the same."""
    if FAMILIES[labels.dtype.kind] != FAMILIES[known.dtype.kind]:
        wanted, got = FAMILIES[known.dtype.kind], FAMILIES[labels.dtype.kind]
        raise ValueError(f"y must hold {wanted}, as {what}, got {got}: {shown(labels[0])}")


def _as_short(names: Labels) -> Labels:
    """Texts in a type as wide as the longest of them: a wider one tells of a text that is gone."""
    return np.array(names.tolist()) if names.dtype.kind == "U" and len(names) else names


def positions(classes: Labels, labels: Labels) -> NDArray[np.int64]:
    """Where each label stands in ``classes``, which need not be sorted."""
    order = np.argsort(classes, kind="stable")
    found: NDArray[np.int64] = order[np.searchsorted(classes, labels, sorter=order)]
    return found


def _columns_state(columns: RowEncoder) -> dict[str, Any]:
    return {"schema": columns.schema.as_dict(), **columns.state_dict()}


def _saved_columns(saved: Saved, built: Built) -> RowEncoder:
    schema = ColumnSchema.from_state(saved.part("schema"))
    if schema.n_features != built.spec.n_features or schema.sparse != built.spec.sparse:
        saved.refuse("schema", f"must make {built.spec.n_features} features")
    columns = RowEncoder(schema)
    columns.load_state_dict(saved)
    return columns


def _saved_momentary(spec: Saved) -> tuple[int, ...]:
    found = spec.items("momentary")
    if not all(isinstance(feature, int) and 0 <= feature < spec.whole("n_features", 1) for feature in found):
        spec.refuse("momentary", "must be numbers of features")
    return tuple(found)


def _saved_shape(spec: Saved) -> tuple[int, ...] | None:
    shape = spec.optional_items("shape")
    if shape is None:
        return None
    if not all(type(size) is int and size > 0 for size in shape) or prod(shape) != spec.whole("n_features", 1):
        spec.refuse("shape", "must be that of a row of n_features values")
    return tuple(shape)


def _saved_labels(saved: Saved) -> Labels:
    labels = saved.items("classes")
    try:
        dtype = np.dtype(saved.text("classes_dtype"))
        names = np.array(labels, dtype="i8").astype(dtype) if dtype.kind == "M" else np.array(labels, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        saved.refuse("classes", "must be labels of the dtype classes_dtype")
    if names.ndim != 1 or names.dtype.kind not in FAMILIES or len(np.unique(names)) != len(names):
        saved.refuse("classes", "must be different labels")
    if dtype.kind != "M" and names.tolist() != labels:
        saved.refuse("classes", "must be labels of the dtype classes_dtype")
    if names.dtype.kind == "f" and not np.isfinite(names).all():
        saved.refuse("classes", "must be finite")
    return names


def counted(account: Account, learner: StreamLearner, y: Ints | None = None) -> Account:
    """The account with the batch that was just learned, ``y`` if the learner does not say; each row counts once.

    Rows that were counted when they came, because their answers were given before, are not counted again.
    """
    said = learner.said_before
    if said is None:
        return account if y is None else account.after(y, None)
    left = learner.counts.total - int(account.known.sum())
    if left <= 0:
        return account
    some = slice(max(0, len(said.y) - left), None)
    probabilities = None if said.probabilities is None else widened(said.probabilities[some], len(account.known))
    return account.after(said.y[some], probabilities, in_turn=said.in_turn)


def widened(probabilities: NDArray[np.float64], classes: int) -> NDArray[np.float64]:
    """Probabilities with columns for classes that were not known when they were given.

    >>> widened(np.array([[0.5, 0.5]]), 3)
    array([[0.5, 0.5, 0. ]])
    """
    return np.pad(probabilities, ((0, 0), (0, classes - probabilities.shape[1])))
