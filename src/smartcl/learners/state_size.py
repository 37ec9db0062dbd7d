"""The bytes of a whole learner, by part."""

from __future__ import annotations

from smartcl.memory.budget import format_bytes


class StateSize(dict[str, int]):
    """Bytes by the name of a part: the memory, and what stands beside it.

    >>> size = StateSize({"memory": 1000, "ridge": 3000, "neighbours": 0})
    >>> size, size.total
    (4 kB: memory 1 kB, ridge 3 kB, 4000)
    """

    @property
    def total(self) -> int:
        """The bytes of all parts together."""
        return sum(self.values())

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {format_bytes(size)}" for name, size in self.items() if size)
        return f"{format_bytes(self.total)}: {parts}"
