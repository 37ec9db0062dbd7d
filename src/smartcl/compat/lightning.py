"""Lightning: a callback that fills a memory and mixes what it remembers into each training step.

Tested with Lightning 2.6 by ``make compat``.
"""

from __future__ import annotations

from typing import Any

import torch

from smartcl.own_loop import ReplayMemory

try:
    from lightning.pytorch.callbacks import Callback
except ModuleNotFoundError:
    raise ModuleNotFoundError("smartcl.compat.lightning needs Lightning: pip install lightning") from None


class ReplayCallback(Callback):  # type: ignore[misc]
    """``Trainer(callbacks=[ReplayCallback("1MB")])``: the training step gets more rows, and needs no change for it.

    Each batch, a list of inputs and labels as a ``DataLoader`` makes it of pairs, gets ``count`` samples of the memory
    behind its own, by default as many as it has; then its own are offered to the memory, in the first epoch of a
    ``fit`` only. The memory is part of Lightning's checkpoints. Further arguments are ``ReplayMemory``'s.
    """

    def __init__(self, memory: str | int, count: int | None = None, **settings: Any) -> None:
        self.memory = ReplayMemory(memory, **settings)
        self.count = count
        self._epoch = 0
        self._arrived: tuple[torch.Tensor, torch.Tensor] | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._epoch = trainer.current_epoch

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Put samples of the memory behind those of the batch, in its place."""
        if not isinstance(batch, list) or len(batch) != 2:
            raise ValueError(
                f"a batch must be a list of inputs and labels for ReplayCallback, got {type(batch).__name__}"
            )
        x, y = self._arrived = batch[0], batch[1]
        if len(self.memory):
            old_x, old_y = self.memory.sample(len(y) if self.count is None else self.count)
            batch[:] = torch.cat([x, old_x.to(x.device)]), torch.cat([y, old_y.to(y.device, y.dtype)])

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Offer the batch's own samples to the memory."""
        if self._arrived is not None and trainer.current_epoch == self._epoch:
            self.memory.add(*self._arrived)
        self._arrived = None

    def state_dict(self) -> dict[str, Any]:
        return self.memory.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.memory.load_state_dict(state_dict)
