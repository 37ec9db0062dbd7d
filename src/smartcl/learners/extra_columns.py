"""The columns that methods store beside each sample, in the types they are charged in."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Batch, Ints
from smartcl.memory import SampleStore
from smartcl.saving.saved import StateError

#: Task numbers are stored in two bytes.
MAX_TASK = 2**16 - 1

#: Stored logits are float16; what lies beyond its range is cut to it.
LARGEST_LOGIT = float(np.finfo(np.float16).max)


def task_column(batch: Batch) -> NDArray[np.uint16]:
    """The batch's task for each of its samples, or a ``ValueError`` if it has none.

    >>> task_column(Batch(torch.zeros(2, 3), torch.tensor([0, 1]), task=4))
    array([4, 4], dtype=uint16)
    """
    return np.full(len(batch), check_task(batch), dtype=np.uint16)


def check_task(batch: Batch) -> int:
    """The batch's task, or a ``ValueError`` if it has none that can be stored."""
    if batch.task is None:
        raise ValueError("task must be given with every batch for a task-aware method, got None")
    if not 0 <= batch.task <= MAX_TASK:
        raise ValueError(f"task must lie in 0..{MAX_TASK}, got {batch.task}")
    return batch.task


def logits_column(logits: torch.Tensor, n_classes: int) -> NDArray[np.float16]:
    """A network's answers at half precision, with room for ``n_classes``: one not known yet has the logit −∞.

    >>> logits_column(torch.tensor([[0.5, 1e9]]), n_classes=3).tolist()
    [[0.5, 65504.0, -inf]]
    """
    finite = logits.detach().clamp(-LARGEST_LOGIT, LARGEST_LOGIT).half().numpy()
    return _widened(finite, n_classes)


def widen_logits(store: SampleStore, n_classes: int) -> SampleStore:
    """The same samples with room for classes known since."""
    if not len(store) or store.extra["logits"].shape[1] == n_classes:
        return store
    return store.with_extra(logits=_widened(store.extra["logits"], n_classes))


def check_logits(store: SampleStore, n_outputs: int) -> None:
    """Refuse stored logits of more classes than a network has outputs."""
    logits = store.extra.get("logits")
    if logits is not None and (logits.ndim != 2 or logits.shape[1] > n_outputs):
        raise StateError("memory.store.extra.logits", f"must be {n_outputs} numbers a sample, has {logits.shape[1:]}")


def _widened(logits: NDArray[np.float16], n_classes: int) -> NDArray[np.float16]:
    return np.pad(logits, ((0, 0), (0, n_classes - logits.shape[1])), constant_values=-np.inf)


def of_other_tasks(store: SampleStore, task: int | None) -> Ints:
    """The positions of the stored samples that belong to another task than this one."""
    return np.flatnonzero(store.extra["task"] != task) if len(store) else np.zeros(0, dtype=np.int64)
