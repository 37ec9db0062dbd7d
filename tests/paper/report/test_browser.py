"""The page in a real browser: no console error, every figure drawn, tables that sort, a phone's width, both themes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest
from made_results import fill

from smartcl.paper.report.html_page import write_report

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")

LOOK = """
const found = {};
for (const name of ["desk", "phone"]) {
  const page = document.getElementById(name).contentDocument, view = page.defaultView;
  const size = element => { const box = element.getBoundingClientRect(); return [box.width, box.height]; };
  const ground = () => view.getComputedStyle(page.body).backgroundColor;
  const column = (table, index) => [...table.tBodies[0].rows].map(row => row.cells[index].dataset.value ?? null);
  const table = page.getElementById("table1"), heads = [...table.tHead.rows[0].cells];
  const press = index => {
    heads[index].querySelector("button").click();
    return [heads.map(head => head.getAttribute("aria-sort")), column(table, index)];
  };
  const text = page.querySelector("#accuracy-bytes .panel svg text");
  found[name] = {
    figures: Object.fromEntries([...page.querySelectorAll("figure")].map(
      each => [each.id, [...each.querySelectorAll(".panel svg")].map(size)])),
    sideways: page.documentElement.scrollWidth - page.documentElement.clientWidth,
    letters: text.getBoundingClientRect().height,
    before: column(table, 2), largest: press(2), smallest: press(2), names: press(0),
    ground: ground(),
  };
  page.getElementById("theme").click();
  found[name].other = ground();
  const entry = page.querySelector("#accuracy-bytes .legend button");
  entry.click();
  found[name].forward = [...page.querySelectorAll("#accuracy-bytes .series.on")].map(each => each.dataset.series);
  found[name].entry = entry.dataset.key;
}
const result = document.createElement("pre");
result.id = "found";
result.textContent = JSON.stringify(found);
document.body.append(result);
"""


def browse(html: str, folder: Path) -> tuple[str, list[str]]:
    """The document after its scripts have run, and what was written to the console; a dark system."""
    page = folder / "browsed.html"
    page.write_text(html)
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
            "--window-size=1300,900", "--blink-settings=preferredColorScheme=0", "--enable-logging=stderr",
            "--virtual-time-budget=2000", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def browsed(tmp_path_factory) -> tuple[dict[str, Any], list[str]]:
    folder = tmp_path_factory.mktemp("browser")
    fill(folder / "results")
    write_report(folder / "results", folder / "report", folder / "nothing-timed.json")
    page = escape((folder / "report" / "index.html").read_text())
    frames = "".join(
        f'<iframe id="{name}" style="border:0;width:{width}px;height:800px" srcdoc="{page}"></iframe>'
        for name, width in (("desk", 1200), ("phone", 390))
    )
    script = f'<script>addEventListener("load", () => {{ {LOOK} }})</script>'
    dom, console = browse(f"<!doctype html><meta charset=utf-8><body>{frames}{script}", folder)
    found = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
    assert found, f"the page could not be looked at: {console}"
    return json.loads(unescape(found[1])), console


def test_nothing_is_complained_about(browsed):
    assert browsed[1] == []


def test_a_complaint_would_be_seen(tmp_path):
    assert any(
        "no such thing" in line for line in browse("<script>console.error('no such thing')</script>", tmp_path)[1]
    )


@pytest.mark.parametrize("screen", ["desk", "phone"])
def test_every_figure_is_drawn_and_fits(browsed, screen):
    found = browsed[0][screen]
    assert set(found["figures"]) == {
        "glance", "accuracy-log-bytes", "accuracy-bytes", "accuracy-noise-table2", "accuracy-noise-table3", "matrix",
        "memory", "purity", "constraint", "sensitivity", "cost",
    }  # fmt: skip
    sizes = [size for panels in found["figures"].values() for size in panels]
    assert len(sizes) == 15
    assert min(width for width, _ in sizes) > 250
    assert min(height for _, height in sizes) > 60
    assert found["sideways"] == 0, "only tables may scroll sideways, each in its own box"
    assert found["letters"] >= 10, "text in figures must stay legible"


@pytest.mark.parametrize("screen", ["desk", "phone"])
def test_tables_sort_by_a_press_on_their_heads(browsed, screen):
    found = browsed[0][screen]
    assert found["before"] == ["87.0", "94.0", "90.0"]
    assert found["largest"] == [["none", "none", "descending", "none"], ["94.0", "90.0", "87.0"]]
    assert found["smallest"] == [["none", "none", "ascending", "none"], ["87.0", "90.0", "94.0"]]
    assert found["names"][1] == sorted(found["names"][1], key=str.lower) == ["ER", "GSS-Greedy", "smart"]


def test_the_theme_is_the_systems_until_it_is_chosen(browsed):
    found = browsed[0]["desk"]
    assert (found["ground"], found["other"]) == ("rgb(20, 22, 26)", "rgb(247, 247, 245)")


def test_a_legend_brings_its_line_forward(browsed):
    assert browsed[0]["desk"]["forward"] == [browsed[0]["desk"]["entry"]]
