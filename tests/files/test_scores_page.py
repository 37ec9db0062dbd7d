"""The page of scores: whole by itself, harmless whatever data are called, and readable on a phone."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from smartcl import train_stream
from smartcl.files.scores_page import STYLE, page_of_training

NASTY = "</script><b onload='x'>&"


def drifting(rows: int) -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    made: list[dict[str, object]] = []
    for number in range(rows):
        size, other = float(rng.normal()), float(rng.normal())
        kind = (size > 0) != (number > rows / 2)
        made.append({"size": size, NASTY: other, "kind": NASTY if kind else "plain"})
    return made


class Reader(HTMLParser):
    """Tags that are open and must be closed, all tags, and the text of the data."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.data = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script" and data.startswith("{"):
            self.data = data


def test_the_page_is_whole_and_says_what_the_account_says(tmp_path: Path) -> None:
    model = train_stream(drifting(3000), "kind", memory="50kB", members=["ridge", "neighbours"], random_state=0)
    page = page_of_training(model, f"model {NASTY}", ["rows.csv"])
    reader = Reader()
    reader.feed(page)
    assert not reader.open
    assert "b" in reader.tags  # those of the tiles
    assert "<b onload" not in page
    assert "</script><b" not in page
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    curves = json.loads(reader.data)
    scores = model.scores_
    assert set(curves) == {NASTY, "plain"}
    rows = curves[NASTY]
    assert rows["rows"][-1] == scores.rows
    assert rows["hits"][-1] == next(line["rows"] for line in scores.by_class if line["class"] == NASTY)
    assert rows["threshold"] == sorted(rows["threshold"], reverse=True)
    assert f"{scores.accuracy:.1%}" in page
    assert f"{scores.auc:.3f}" in page
    (change,) = scores.changes
    assert f"<td>{change.row:,}</td>" in page
    assert "correlation of size" in page


def test_no_text_is_smaller_than_eleven_pixels() -> None:
    """Sizes in rem are of the browser's 16 pixels; text in drawings is not stretched with them."""
    sizes = [
        float(size) * {"px": 1, "rem": 16, "em": 15}[unit]
        for size, unit in re.findall(r"font(?:-size)?:\s*(?:\d+\s+)?([\d.]+)(px|rem|em)", STYLE)
    ]
    assert len(sizes) > 5
    assert min(sizes) >= 11
    assert "<text" not in STYLE
