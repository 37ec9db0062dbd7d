"""Avalanche: a storage policy for its replay strategies, and a replay plugin that needs no experiences to end.

Tested with Avalanche 0.6 by ``make compat``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from smartcl.own_loop import ReplayMemory
from smartcl.selection.fair_shares import TaskShares

try:
    from avalanche.benchmarks.utils import _make_taskaware_tensor_classification_dataset as tensor_dataset
    from avalanche.core import SupervisedPlugin
    from avalanche.training.storage_policy import ExemplarsBuffer
except ModuleNotFoundError:
    raise ModuleNotFoundError("smartcl.compat.avalanche needs Avalanche: pip install avalanche-lib") from None

#: The most items of an experience, and the most bytes of them, that are read and offered at a time, ...
MOST_ITEMS, MOST_BYTES = 3000, 2**25
#: ... and at most this multiple of the share of the memory that each experience will have.
SHARES = 1.1


class ByteStorage(ExemplarsBuffer):  # type: ignore[misc]
    """A storage policy of Avalanche's that holds samples as bytes: ``ReplayPlugin(mem_size, storage_policy=...)``.

    ``memory`` is the budget, such as ``"1MB"``; without it, that of ``max_size`` whole items. Further arguments are
    ``ReplayMemory``'s. By default the experiences so far have equal shares, as with Avalanche's own policy, and of each
    only as many items are read as its share may hold. Items are kept as the ``eval`` transforms give them, so that no
    random change of one is kept, and replayed through ``transform``, if there is one.

    Avalanche's loader asks for items one by one, so while an experience is learned, those to replay are there decoded;
    between experiences only the bytes are. ``ByteReplay`` decodes no more than a batch.
    """

    def __init__(
        self,
        max_size: int = 200,
        memory: str | int | None = None,
        transform: Callable[[torch.Tensor], torch.Tensor] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(max_size)
        shared = not {"selector", "class_balanced"} & set(settings)
        self.whole_experiences = not shared
        if shared:
            settings = {"selector": TaskShares(), **settings}
        self.memory = ReplayMemory(f"{max_size} samples" if memory is None else memory, **settings)
        self.transform = transform
        self.experiences = 0
        self._rng = np.random.default_rng([settings.get("seed", 0), 1])

    @property
    def buffer(self) -> Any:
        """What is held, decoded, as a dataset of Avalanche's."""
        if not len(self.memory):
            return self._buffer
        x, y, tasks = self.memory.take(np.arange(len(self.memory)), "task_label")
        return tensor_dataset(x, y, transform=self.transform, task_labels=tasks.tolist())

    def post_adapt(self, agent_state: Any, exp: Any) -> None:
        """Offer the experience's items, in random order: all of them, or as many as its share may hold."""
        data = exp.dataset.eval()
        order = self._rng.permutation(len(data))
        step = self._step(data[0][0])
        for first in range(0, len(order), step):
            x, y, tasks = data.collate_fn([data[int(index)] for index in order[first : first + step]])
            number = torch.full((len(y),), self.experiences, dtype=torch.int16)
            self.memory.add(x, y, task=number, task_label=tasks.to(torch.int16))
            if not self.whole_experiences and self._held() < first + len(y):
                break
        self.experiences += 1

    def resize(self, strategy: Any, new_size: int) -> None:
        raise NotImplementedError("a memory of bytes keeps its size: make one of the size wanted")

    def _step(self, item: torch.Tensor) -> int:
        """How many items to offer at a time: more than are taken of them cost time for nothing."""
        most = min(MOST_ITEMS, MOST_BYTES // (item.numel() * item.element_size()))
        share = SHARES * len(self.memory) / (self.experiences + 1)
        return max(1, most if self.whole_experiences or not self.experiences else min(most, round(share)))

    def _held(self) -> int:
        """The samples held of the experience at hand."""
        tasks = self.memory.column("task")
        return int((tasks == self.experiences).sum())


class ByteReplay(SupervisedPlugin):  # type: ignore[misc]
    """A replay plugin: a minibatch is learned together with ``batch_size_mem`` samples of a memory, then offered to it.

    Nothing has to end for it: it serves streams without experiences too. What the loader gives is what is kept, once:
    in further epochs over an experience nothing new is offered. ``memory`` and all further arguments are
    ``ReplayMemory``'s.
    """

    def __init__(self, memory: str | int, batch_size_mem: int | None = None, **settings: Any) -> None:
        super().__init__()
        self.memory = ReplayMemory(memory, **settings)
        self.batch_size_mem = batch_size_mem
        self._arrived: list[torch.Tensor] = []

    def before_training_iteration(self, strategy: Any, **kwargs: Any) -> None:
        """Put samples of the memory behind those that have just arrived."""
        self._arrived = list(strategy.mbatch)
        if not len(self.memory):
            return
        count = strategy.train_mb_size if self.batch_size_mem is None else self.batch_size_mem
        replayed = self.memory.sample(count, "task_label")
        pairs = zip(self._arrived, replayed, strict=True)
        strategy.mbatch = [torch.cat([new, old.to(new.device, new.dtype)]) for new, old in pairs]

    def after_training_iteration(self, strategy: Any, **kwargs: Any) -> None:
        """Offer what has arrived, if it is for the first time."""
        if strategy.clock.train_exp_epochs == 0:
            x, y, tasks = self._arrived
            self.memory.add(x, y, task_label=tasks.to(torch.int16))
        self._arrived = []
