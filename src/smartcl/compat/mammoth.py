"""A buffer with the calls of Mammoth's (``utils/buffer.py``): a model of Mammoth's replays from bytes.

In Mammoth, ``from smartcl.compat.mammoth import Buffer`` in place of ``from utils.buffer import Buffer``. Nothing of
Mammoth is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import torch

from smartcl.data.batch import Ints
from smartcl.own_loop import ReplayMemory

#: From one example to what the network is given of it.
Transform: TypeAlias = Callable[[torch.Tensor], torch.Tensor]

#: What may be stored beside the examples, in the order in which Mammoth returns it, and the dtype it then has.
ATTRIBUTES = {"labels": torch.int64, "logits": torch.float32, "task_labels": torch.int64}


class Buffer:
    """Reservoir of ``buffer_size`` whole examples' bytes, or of a size in bytes, such as ``"1MB"``.

    So an int means the bytes it means in Mammoth, and more examples: as many as fit those of that number of whole ones,
    in the dtype they come in. Further arguments are ``ReplayMemory``'s.

    >>> buffer = Buffer(100)
    >>> buffer.is_empty()
    True
    >>> buffer.add_data(examples=torch.eye(30).reshape(30, 1, 5, 6), labels=torch.arange(30), logits=torch.randn(30, 3))
    >>> x, y, logits = buffer.get_data(8)
    >>> x.shape, y.shape, logits.shape, len(buffer)
    (torch.Size([8, 1, 5, 6]), torch.Size([8]), torch.Size([8, 3]), 30)
    """

    def __init__(self, buffer_size: int | str, device: str | torch.device = "cpu", **settings: Any) -> None:
        self.buffer_size, self.device, self.settings = buffer_size, device, settings
        self.empty()

    def __len__(self) -> int:
        return len(self.memory)

    @property
    def used_attributes(self) -> list[str]:
        """What is stored of each example, itself included."""
        return ["examples", *self._stored] if self.num_seen_examples else []

    def to(self, device: str | torch.device) -> Buffer:
        """Return what is asked for on this device from now on; what is held stays as it is."""
        self.device = device
        return self

    def is_empty(self) -> bool:
        return self.num_seen_examples == 0

    def empty(self) -> None:
        """Let go of everything."""
        size = f"{self.buffer_size} samples" if isinstance(self.buffer_size, int) else self.buffer_size
        self.memory = ReplayMemory(size, **self.settings)
        self.num_seen_examples = 0
        self._stored: list[str] = []
        self._rng = np.random.default_rng(self.settings.get("seed", 0))

    def add_data(
        self,
        examples: torch.Tensor,
        labels: torch.Tensor | None = None,
        logits: torch.Tensor | None = None,
        task_labels: torch.Tensor | None = None,
    ) -> None:
        """Offer examples; what is given beside them the first time must be given every time."""
        given = {"labels": labels, "logits": logits, "task_labels": task_labels}
        beside = {name: values for name, values in given.items() if values is not None}
        y = beside.get("labels", torch.zeros(len(examples), dtype=torch.int64))
        columns = {name: values.to(ATTRIBUTES[name]) for name, values in beside.items() if name != "labels"}
        self.memory.add(examples, y, **columns)
        self._stored = list(beside)
        self.num_seen_examples += len(examples)

    def get_data(
        self,
        size: int,
        transform: Transform | None = None,
        return_index: bool = False,
        device: str | torch.device | None = None,
        mask_task_out: int | None = None,
        cpt: int | None = None,
    ) -> tuple[torch.Tensor, ...]:
        """At most ``size`` random examples and what is stored beside them.

        With ``return_index``, their positions come first. ``mask_task_out`` leaves out the examples of that task, by
        their task labels or ``cpt`` classes a task.
        """
        among = self._others(mask_task_out, cpt)
        chosen = self._rng.choice(among, min(size, len(among)), replace=False)
        found = self.get_data_by_index(chosen, transform, device)
        return (torch.from_numpy(chosen).to(found[0].device), *found) if return_index else found

    def get_data_by_index(
        self, indexes: Any, transform: Transform | None = None, device: str | torch.device | None = None
    ) -> tuple[torch.Tensor, ...]:
        """The examples at these positions and what is stored beside them."""
        columns = [name for name in self._stored if name != "labels"]
        examples, labels, *others = self.memory.take(np.asarray(indexes), *columns)
        if transform is not None:
            examples = torch.stack([transform(example) for example in examples])
        found = (examples, *([labels] if "labels" in self._stored else []), *others)
        return tuple(part.to(self.device if device is None else device) for part in found)

    def get_all_data(
        self, transform: Transform | None = None, device: str | torch.device | None = None
    ) -> tuple[torch.Tensor, ...]:
        """All examples and what is stored beside them."""
        return self.get_data_by_index(np.arange(len(self)), transform, device)

    def _others(self, task: int | None, cpt: int | None) -> Ints:
        """The positions of all examples, or of those that are not of the task."""
        if task is None:
            return np.arange(len(self))
        if "task_labels" in self._stored:
            tasks = self.memory.column("task_labels")
        elif cpt is not None and "labels" in self._stored:
            tasks = self.memory.targets // cpt
        else:
            raise ValueError(
                "mask_task_out needs task labels in the buffer, or labels there and cpt, the classes a task"
            )
        return np.flatnonzero(tasks.numpy() != task)
