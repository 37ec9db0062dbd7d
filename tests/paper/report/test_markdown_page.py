"""The page of results is what the result files say."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

from made_results import made, row_of, save

from smartcl.cli.app import call
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.ensemble_ablation import FILE as ABLATION
from smartcl.paper.experiments.results import ResultFolder, place_of
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.state_bytes import NAME as STATE_BYTES
from smartcl.paper.report.explanations import EXPLANATIONS
from smartcl.paper.report.loaded_runs import Runs
from smartcl.paper.report.markdown_page import SHOWN, markdown_page

ROOT = Path(__file__).parents[3]


def test_the_page_in_the_repository_is_current():
    made = markdown_page(Runs(ROOT / "results"))
    assert (ROOT / "docs" / "results.md").read_text() == made, "run: smartcl report --markdown docs/results.md"


def test_a_cell_shows_ours_above_the_published(tmp_path):
    save(tmp_path, "table5", "GEM", "300", [89.0, 91.0])
    page = markdown_page(Runs(tmp_path))
    assert "| GEM | 90.00 ± 1.41 (2)<br>*88.93* |" in page
    assert "## table1" not in page


def test_the_page_reads_every_seed_that_is_there(tmp_path, capsys):
    folder, page = tmp_path / "results", tmp_path / "page.md"
    for seed in (0, 17):
        spec = TABLES["table5"].spec(row_of("table5", "GEM"), "300", seed)
        ResultFolder(folder).save(spec, made(spec, 80.0 + seed))
    assert call(["report", "--markdown", str(page), "--results", str(folder)]) == 0
    assert "| GEM | 88.50 ± 12.02 (2)<br>*88.93* |" in page.read_text()


def test_a_table_of_several_metrics_has_a_grid_for_each_and_its_explanation(tmp_path):
    lines = {name: {"accuracy": 80.0, "balanced_accuracy": 50.0, "auc": 0.5} for name in ("majority", "base_rate")}
    lines["logistic_regression"] = {"accuracy": 60.0, "balanced_accuracy": 51.0, "auc": 0.511}
    for seed, auc in enumerate((0.52, 0.53)):
        for label in ("smart", "smart, values exact"):
            spec = TABLES["table4"].spec(row_of("table4", label), "civil-brazil", seed)
            result = made(spec, 70.0, balanced_accuracy=52.0, auc=auc, references=lines)
            ResultFolder(tmp_path).save(spec, result)
    page = markdown_page(Runs(tmp_path))
    section = page[page.index("## table4:") : page.index("## samples:")]
    assert [line.split("|")[1].strip() for line in section.splitlines() if "civil-brazil |" in line] == [
        "accuracy, %",
        "AUC",
    ]
    assert f"| smart | {fmean((0.52, 0.53)):.3f} ± 0.007 (2) |\n" in section, "columns without a run are left out"
    assert "| logistic regression, offline | 0.511 ± 0.000 (2) |\n" in section
    assert "near chance" in section


def test_every_table_on_the_page_is_explained():
    assert {table.name for table in SHOWN} == EXPLANATIONS.keys()


def test_every_committed_run_belongs_to_its_spec_and_stands_in_its_place():
    assert [path.name for path in (ROOT / "results").rglob("*.json")] == [STATE_BYTES]
    for path in (ROOT / "results").glob("*.jsonl"):
        if path.name == ABLATION:
            continue
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert lines == sorted(lines, key=place_of)
        for line in lines:
            spec = line["spec"]
            assert spec["dataset"] == path.stem
            assert RunSpec.of(spec.pop("parameters"), **spec).key == line["key"], f"stale: {line['key']} in {path}"
