"""The page of results is what the result files say."""

from __future__ import annotations

import json
from pathlib import Path

from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.spec import RunSpec
from smartcl.paper.experiments.tables import TABLES
from smartcl.paper.report.results_page import results_page

ROOT = Path(__file__).parents[3]


def test_the_page_in_the_repository_is_current():
    made = results_page(ResultFolder(ROOT / "results"))
    assert (ROOT / "docs" / "results.md").read_text() == made, "run: smartcl results docs/results.md"


def test_a_cell_shows_ours_above_the_published(tmp_path):
    folder, table = ResultFolder(tmp_path), TABLES["table5"]
    row = next(row for row in table.rows if row.label == "GEM")
    for seed, accuracy in enumerate((89.0, 91.0)):
        folder.save(table.spec(row, "300", seed), {"accuracy": accuracy})
    page = results_page(folder)
    assert "| GEM | 90.00 ± 1.41 (2)<br>*88.93* |" in page
    assert "table1" not in page


def test_every_result_file_belongs_to_its_spec():
    for path in (ROOT / "results").rglob("*.json"):
        spec = json.loads(path.read_text())["spec"]
        assert spec["method"] == path.parent.name
        assert RunSpec.of(spec.pop("parameters"), **spec).key == path.stem, f"stale: {path}"
