"""The libraries that ``smartcl.compat`` is for, where they are installed: ``make compat`` installs them."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(("name", "version"), [("avalanche", "0.6"), ("lightning", "2."), ("river", "0.2")])
def test_the_library_is_of_the_version_that_is_meant(name: str, version: str) -> None:
    library = pytest.importorskip(name)
    assert library.__version__.startswith(version)
