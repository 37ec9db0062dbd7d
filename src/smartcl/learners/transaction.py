"""Calls that count wholly or not at all, one thread at a time, while others read what was finished before.

What learning moves is copied before it is moved: the model and the memory that the last batch left stay as they are
until the next one is finished too. To undo a call is to take them back; to read during one is to look at them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from copy import copy, deepcopy
from itertools import zip_longest
from threading import RLock
from typing import Any, NamedTuple, Self, cast

import numpy as np
import torch

from smartcl.learners.model import Model
from smartcl.memory.schematic_memory import SchematicMemory
from smartcl.network.row_table.idle_rows import Journal
from smartcl.network.row_table.table import RowTable


class Undo(NamedTuple):
    """The state when a call began; ``journals`` are the row tables' own, once they take notes."""

    before: Transactional
    journals: tuple[Journal, ...]


@contextmanager
def gradients_as_before() -> Iterator[None]:
    """Torch records gradients after a failure as it did before: an interrupt may strike in its own way back to that."""
    recorded = torch.is_grad_enabled()
    try:
        yield
    except BaseException:
        torch.set_grad_enabled(recorded)
        raise


@contextmanager
def held(tables: Iterable[RowTable]) -> Iterator[None]:
    """Nothing else reads or changes these tables meanwhile."""
    with ExitStack() as locks:
        for table in tables:
            locks.enter_context(table.lock)
        yield


class Transactional:
    """Models, a memory and a generator that change together, and whatever immutable values a subclass adds."""

    #: The names of the attributes that hold models.
    model_names: tuple[str, ...] = ("model",)

    model: Model
    memory: SchematicMemory
    rng: np.random.Generator
    #: During a call: how to undo it, and how the last finished batch left things.
    _undo: Undo | None = None
    _finished: Transactional | None = None

    def __init__(self) -> None:
        self._lock = RLock()

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Inside, any number of batches: all of them count or, whatever is raised, none. One thread at a time."""
        with self._lock, gradients_as_before():
            if self._undo is not None:  # inside a longer call, which decides
                yield
                return
            before = self._finished = self._as_it_is()
            self._undo = Undo(before, journals=())
            try:
                for table in self._tables:
                    self._undo = self._undo._replace(journals=(*self._undo.journals, table.begin()))
                yield
                self._undo = None
            except BaseException:
                if self._undo is not None:
                    self._take_back(self._undo)
                raise
            finally:
                self._finished = None

    def begin_batch(self) -> None:
        """Copy what learning moves, inside ``all_or_nothing``."""
        for table in self._tables:
            table.start_batch()
        copies = {name: model.copy() for name, model in zip(self.model_names, self.models, strict=True)}
        vars(self).update(copies, memory=copy(self.memory))

    def finish_batch(self) -> None:
        """From here on, others see what has been done."""
        with self._reading():
            for table in self._tables:
                table.finish_batch()
            finished = self._as_it_is()
            finished._finished = None  # or each finished batch would hold on to the one before it
            self._finished = finished

    @contextmanager
    def finished(self) -> Iterator[Self]:
        """The learner as the last finished batch left it, whatever another thread is learning; to read only."""
        with self._reading(), gradients_as_before():
            view = self._as_it_is(to_read=True)
            yield view if view._finished is None else cast(Self, view._finished)

    @property
    def models(self) -> tuple[Model, ...]:
        """All that has weights."""
        return tuple(getattr(self, name) for name in self.model_names)

    @property
    def _tables(self) -> list[RowTable]:
        return [model.network.table for model in self.models if model.network.table is not None]

    def _reading(self) -> AbstractContextManager[None]:
        """Models are copied before they are moved, row tables are not: reading one blocks changes to it."""
        tables = self._tables
        return held(tables) if tables else nullcontext()

    def _as_it_is(self, to_read: bool = False) -> Self:
        """What is here now, out of reach of what is done next. One copy of a dict: no other thread comes between.

        Reading draws nothing and needs no generator of its own.
        """
        view: Self = object.__new__(type(self))
        vars(view).update(vars(self))
        if not to_read:
            view.rng = deepcopy(view.rng)
        return view

    def _take_back(self, undo: Undo) -> None:
        """Undo a call; a second interrupt does not stop it half-way."""
        while True:
            try:
                with self._reading():
                    for table, journal in zip_longest(self._tables, undo.journals):
                        table.rollback(journal)
                    self.rng.bit_generator.state = undo.before.rng.bit_generator.state
                    for name in vars(self).keys() - vars(undo.before).keys():  # what was first set in this call
                        del vars(self)[name]
                    vars(self).update(vars(undo.before), rng=self.rng, _finished=None, _undo=None)
                return
            except KeyboardInterrupt:
                continue

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {**vars(self), "_lock": None, "_finished": None, "_undo": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock())
