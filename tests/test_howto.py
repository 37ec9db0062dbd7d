"""The pages that show how to do something do it."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from smartcl import METHODS

PAGES = sorted((Path(__file__).parents[1] / "docs" / "howto").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_runs(page: Path) -> None:
    before = set(METHODS)
    try:
        failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    finally:
        for name in set(METHODS) - before:
            del METHODS[name]
    assert tried > 5
    assert not failed
