"""Tests run side by side on machines of any load: one thread each, and no deadline for an example."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings

settings.register_profile("smartcl", deadline=None, max_examples=40)
settings.load_profile("smartcl")


@pytest.fixture(autouse=True)
def wide_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Error lines are cut to the screen: what a test reads does not depend on whose it is."""
    monkeypatch.setenv("COLUMNS", "400")


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
