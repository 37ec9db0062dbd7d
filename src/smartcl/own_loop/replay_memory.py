"""Replay memory of a fixed number of bytes: batches are added, and samples are drawn to be learned again."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike

from smartcl.data.batch import Batch, Bools, Ints
from smartcl.data.spec import InputSpec
from smartcl.memory.budget import Budget
from smartcl.memory.export import stored_rows
from smartcl.memory.pool import Selector
from smartcl.memory.schematic_memory import SchematicMemory
from smartcl.memory.store import SampleStore
from smartcl.own_loop.beside import Forms, forms_of, split
from smartcl.own_loop.items import ItemForm, Items
from smartcl.own_loop.no_network import NoNetwork, check_needs_no_network
from smartcl.own_loop.remembered import Remembered
from smartcl.own_loop.tensors import arrays_of, tensors_of
from smartcl.saving.saved import Saved, generator_state
from smartcl.selection.fair_shares import Balanced
from smartcl.selection.reservoir import Reservoir
from smartcl.settings import setting

#: From items as they came and as they would be held to the loss of precision, where 1 is the most that is allowed.
CompareItems: TypeAlias = Callable[[Any, Any], float]


@dataclass(frozen=True)
class _Held:
    """What there is once the first samples are in: the memory, what they look like, and the features in use."""

    memory: SchematicMemory
    form: ItemForm
    beside: Forms
    alive: Bools


@dataclass(frozen=True)
class _Now:
    """All that a call changes, as one value: a call counts at the moment when this value is replaced."""

    rng: np.random.Generator
    held: _Held | None = None


class ReplayMemory:
    """Samples of a stream in at most ``memory`` bytes, all that is kept of them counted, after every call.

    Items are tensors or NumPy arrays of any shape, or rows of a SciPy CSR array; their shape and dtype come back as
    they went in, dense ones as tensors on the CPU. Each call completes or changes nothing; threads may share a memory.

    Parameters
    ----------
    memory
        A size such as ``"10MB"``, a number of bytes, or ``"300 samples"``: the bytes of that number of whole items.
    selector
        The policy that decides who stays, one that asks no network. Without one, every sample of the stream has the
        same chance (``Reservoir``).
    class_balanced
        Whether classes have equally many samples; not together with a ``selector``.
    precision
        ``"exact"``: in a code learned from the stream. ``"plain"``: each item in the smallest format for it. A number:
        at that number of levels. ``"auto"``: at the fewest levels that ``judge`` accepts.
    judge
        For ``"auto"``: a function of items as they came and as they would be held. It returns how much the difference
        matters, where 1 is the most that is accepted.
    seed
        The seed of all draws.

    Examples
    --------
    >>> memory = ReplayMemory("2 kB", seed=0)
    >>> images = torch.randint(0, 2, (500, 1, 8, 8), dtype=torch.uint8)
    >>> for x, y in zip(images.split(50), torch.arange(500).remainder(10).split(50)):
    ...     memory.add(x, y, seen=torch.arange(50))
    >>> x, y = memory.sample(32)
    >>> x.shape, x.dtype, y.dtype, memory.nbytes <= 2000
    (torch.Size([32, 1, 8, 8]), torch.uint8, torch.int64, True)
    >>> x, y, seen = memory.sample(32, "seen")
    >>> loader = torch.utils.data.DataLoader(memory.dataset(), batch_size=16, shuffle=True)
    """

    def __init__(
        self,
        memory: str | int,
        *,
        selector: Selector | None = None,
        class_balanced: bool = False,
        precision: str | int = "exact",
        judge: CompareItems | None = None,
        seed: int = 0,
    ) -> None:
        Budget.parse(memory, sample_nbytes=1)
        if class_balanced and selector is not None:
            raise ValueError("class_balanced is a selector of its own: give one of the two")
        self.memory = memory
        self.selector: Selector = selector or (Balanced() if class_balanced else Reservoir())
        check_needs_no_network(self.selector)
        self.precision: str | int = setting("precision", precision)
        if (self.precision == "auto") != (judge is not None):
            raise ValueError("precision 'auto' and a judge go together: a memory alone cannot tell what matters")
        self.judge = judge
        self._now = _Now(np.random.default_rng(seed))
        self._lock = Lock()

    def __len__(self) -> int:
        held = self._now.held
        return 0 if held is None else len(held.memory)

    def __repr__(self) -> str:
        held = self._now.held
        return f"0 samples, memory {self.memory!r}" if held is None else repr(held.memory)

    @property
    def nbytes(self) -> int:
        """The bytes of everything that is held of the samples."""
        held = self._now.held
        return 0 if held is None else held.memory.store.nbytes

    @property
    def targets(self) -> torch.Tensor:
        """The labels, or targets, of all samples."""
        return self._remembered(()).beside(slice(None))[0]

    def column(self, name: str) -> torch.Tensor:
        """What all samples have in this column."""
        return self._remembered((name,)).beside(slice(None))[1]

    def add(self, x: Items, y: Any, **columns: Any) -> None:
        """Offer samples: what is then held is what the selector chooses of these and of those before.

        ``y`` are class numbers from 0 on, or targets of any kind; ``columns`` are further numbers for each item, such
        as logits. They come back in the dtype they came in, classes as int64. What the first call brings, later ones
        must bring too.
        """
        with self._lock:
            now = self._now
            held, rng = now.held, deepcopy(now.rng)
            form = ItemForm.of(x) if held is None else held.form
            labels, extra = split(y, columns, None if held is None else held.beside)
            batch = Batch(form.rows(x), torch.from_numpy(labels.astype(np.int64)))
            if held is None:
                held = _Held(self._empty(form), form, forms_of(extra), np.ones(form.n_features, dtype=np.bool_))
                held.memory.check_room(batch, lambda _: extra)
            memory = copy(held.memory)
            candidates = memory.candidates(batch, held.alive, extra, self._judge_of(form))
            try:
                memory.select(candidates, lambda _: NoNetwork(self.selector), rng)
            except KeyError as missing:
                raise ValueError(
                    f"{type(self.selector).__name__} needs the column {missing} with every add"
                ) from missing
            self._now = _Now(rng, replace(held, memory=memory))

    def sample(self, count: int, *columns: str) -> tuple[Any, ...]:
        """``x, y`` and the columns of these names, of ``count`` random samples, none twice; all, if there are fewer."""
        with self._lock:
            remembered = self._remembered(columns)
            positions = self._drawn(len(remembered), count)
        return remembered.read(positions)

    def take(self, index: ArrayLike, *columns: str) -> tuple[Any, ...]:
        """The same of the samples at these positions, which the next ``add`` may change."""
        return self._remembered(columns).read(np.asarray(index))

    def dataset(self, *columns: str) -> Remembered:
        """The samples held now as a dataset of torch, for a ``DataLoader``: ``x, y`` and the columns of these names."""
        return self._remembered(columns)

    def forget_features(self, mask: ArrayLike | torch.Tensor) -> None:
        """Allow that the features where ``mask`` is True are forgotten: the network no longer uses them.

        ``mask`` is of an item's shape, or one that broadcasts to it, and replaces the one told before. They go with the
        next ``add`` that finds room short, if more samples fit for it, and then read zero. A feature that is in use
        again stays zero in the samples that lost it.
        """
        told = np.asarray(mask.cpu() if isinstance(mask, torch.Tensor) else mask)
        with self._lock:
            held = self._held()
            try:
                dead = np.broadcast_to(told, held.form.shape).reshape(-1)
            except ValueError:
                dead = np.zeros(0)
            if told.dtype != np.bool_ or not len(dead):
                shape = held.form.shape
                raise ValueError(f"mask must be bools of the shape {shape}, got {told.dtype} of shape {told.shape}")
            self._now = replace(self._now, held=replace(held, alive=~dead))

    def state_dict(self) -> dict[str, Any]:
        """Everything held, as tensors and plain values: fit for ``torch.save``, and for ``weights_only`` loading."""
        with self._lock:
            now = deepcopy(self._now.rng.bit_generator.state), self._now.held
        rng, held = now
        if held is None:
            return {"rng": rng, "held": None}
        parts = {"form": held.form.state_dict(), "alive": held.alive, "memory": held.memory.state_dict()}
        return {"rng": rng, "held": tensors_of(parts)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over the state of a memory of the same settings, or raise a ``StateError`` and stay as it is."""
        saved = Saved.of(arrays_of(state), "memory")
        rng = np.random.default_rng(0)
        rng.bit_generator.state = generator_state(saved.part("rng"))
        part = saved.optional("held")
        held = None if part is None else self._loaded(part)
        with self._lock:
            self._now = _Now(rng, held)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def _loaded(self, saved: Saved) -> _Held:
        form = ItemForm.from_state(saved.part("form"))
        alive = np.array(saved.array("alive", (form.n_features,), "bool"))
        memory = self._empty(form)
        memory.load_state_dict(saved.part("memory"))
        extra = {name: column for name, column in memory.store.extra.items() if name != "score"}
        return _Held(memory, form, forms_of(extra), alive)

    def _empty(self, form: ItemForm) -> SchematicMemory:
        spec = InputSpec(form.n_features, 1, form.numpy_dtype, form.sparse)
        return SchematicMemory(spec, self.memory, self.selector, whole=False, patience=1, precision=self.precision)

    def _judge_of(self, form: ItemForm) -> Callable[[SampleStore, SampleStore], float] | None:
        judge = self.judge
        if judge is None:
            return None

        def asked(samples: SampleStore, coarse: SampleStore) -> float:
            index = np.arange(len(samples))
            return float(judge(*(form.items(stored_rows(store, index)) for store in (samples, coarse))))

        return asked

    def _drawn(self, among: int, count: int) -> Ints:
        if count < 0:
            raise ValueError(f"count must be at least 0, got {count}")
        return self._now.rng.choice(among, min(count, among), replace=False)

    def _held(self) -> _Held:
        held = self._now.held
        if held is None:
            raise ValueError("the memory is empty: nothing has been added yet")
        return held

    def _remembered(self, columns: tuple[str, ...]) -> Remembered:
        held = self._held()
        return Remembered(held.memory.store, held.form, columns)
