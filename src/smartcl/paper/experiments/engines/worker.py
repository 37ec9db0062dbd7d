"""Set-up of a worker process: one thread, ctrl-C ignored, ended when its parent ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process, resource_tracker
from threading import Thread

import torch
from threadpoolctl import threadpool_limits


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Inside, new processes ignore ctrl-C from their start; in this process it waits until the block is left."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # started with the first process, it would restore the handler
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def quiet_worker() -> None:
    """What a worker process does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl-C is the parent's to handle
    one_thread()
    Thread(target=_leave_with_parent, daemon=True).start()


def one_thread() -> None:
    """The matrices are small, and threads on a busy machine wait for each other."""
    torch.set_num_threads(1)
    threadpool_limits(1)


def _leave_with_parent() -> None:
    """End with the parent: one killed with SIGKILL cannot stop its workers, which would go on."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
