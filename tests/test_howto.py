"""The pages that show how to do something do it: examples in Python and commands, in the order they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages import run_page
from smartcl.extend import METHODS
from test_tutorials import MADE

DOCS = Path(__file__).parents[1] / "docs"
TUTORIALS = [page for page in sorted((DOCS / "tutorials").glob("*.md")) if page.stem not in MADE]
PAGES = [DOCS / "start.md", *TUTORIALS, *sorted((DOCS / "howto").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = set(METHODS)
    try:
        tried = run_page(page)
    finally:
        for name in set(METHODS) - before:
            del METHODS[name]
    blocks = "```python" in page.read_text(encoding="utf-8")
    assert not blocks or tried > 4  # what needs the other libraries is run by make compat
