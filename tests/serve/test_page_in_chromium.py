"""The page in a real browser, driven by clicks, at two widths, light and dark; it loads nothing from elsewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from served_http import running
from served_rows import items, labelled_rows, learn

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")


def test_the_page_shows_and_asks(tmp_path: Path) -> None:
    rows = labelled_rows(300)
    with (
        running(tmp_path / "model") as service,
        playwright.sync_playwright() as play,
        service.models.use(None) as served,
    ):
        served.call = service.models.call  # type: ignore[attr-defined]
        learn(served, items(rows[:200]))
        service.models.call(served.save).result(10)
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width, scheme in ((1200, "light"), (400, "dark")):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            asked, errors = list[str](), list[str]()
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
            page.on("console", lambda line, errors=errors: errors.append(line.text) if line.type == "error" else None)
            page.goto(service.url)
            page.wait_for_selector("#accuracy polyline")
            assert "rows learned" in page.inner_text("#tiles")
            assert page.locator("#by-class .bar").count() == 2
            page.fill("[name=size]", "3")
            page.fill("[name=colour]", "red")
            page.click("#predict")
            page.wait_for_selector("#answer b")
            assert page.inner_text("#answer b") in ("yes", "no")
            before = served.counts.accepted
            page.click("#answer .choice button >> nth=0")
            page.wait_for_selector("text=learned as")
            assert served.counts.accepted == before + 1
            page.click("#show-answered")
            assert page.get_attribute("#show-answered", "aria-pressed") == "true"
            page.wait_for_selector("#accuracy .legend")
            page.click("#ask-doubts")
            page.wait_for_selector("#doubts p")
            page.click("#versions button")
            assert "Really" in page.inner_text("#versions button")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert all(url.startswith(service.url) or url.startswith("data:") for url in asked)
            assert errors == []
            page.close()
        browser.close()
