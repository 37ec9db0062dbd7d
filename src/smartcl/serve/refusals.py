"""Refusals of a service: a status of HTTP and one sentence."""

from __future__ import annotations


class RefusedError(Exception):
    """A request that is not done, and changes nothing: its status, why, and after how many seconds to try again."""

    def __init__(self, status: int, why: str, retry_after: float | None = None) -> None:
        super().__init__(why)
        self.status, self.why, self.retry_after = status, why, retry_after
