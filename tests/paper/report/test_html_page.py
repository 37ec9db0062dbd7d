"""The report says what the results say: numbers, places in drawings, what is missing; and needs nothing but itself."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from statistics import mean, stdev
from xml.etree import ElementTree

import numpy as np
import pytest
from made_results import MATRIX, fill, made, row_of, save

from smartcl.cli.app import call
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.run_table import EXACT_VALUES
from smartcl.paper.experiments.sensitivity import ALONG_ALPHA, ALONG_BETA
from smartcl.paper.experiments.tuning import STRENGTH_RUNS
from smartcl.paper.report.glance import speeds
from smartcl.paper.report.html_page import write_report
from smartcl.paper.report.loaded_runs import Runs
from smartcl.paper.report.palette import COLOURS

SVG = "{http://www.w3.org/2000/svg}"
FIGURES = {
    "glance-accuracy-against-bytes",
    "glance-accuracy-against-wrong-labels",
    "accuracy-log-bytes", "accuracy-bytes", "accuracy-noise-table2", "accuracy-noise-table3", "matrix-smart",
    "matrix-er",
    "matrix-gss-greedy", "memory-samples", "memory-bytes", "purity", "constraint",
    "sensitivity-alpha-group-lasso", "cost",
}  # fmt: skip


@pytest.fixture
def results(tmp_path):
    fill(tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def out(results, tmp_path):
    write_report(results, tmp_path / "report")
    return tmp_path / "report"


def lines_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_the_command_writes_the_page_every_plot_and_every_table(results, tmp_path, capsys):
    nothing_timed = ["--benchmarks", str(tmp_path / "none.json")]
    assert call(["report", "--results", str(results), "--out", str(tmp_path / "out"), *nothing_timed]) == 0
    assert str(tmp_path / "out" / "index.html") in capsys.readouterr().out
    assert {path.stem for path in (tmp_path / "out" / "figures").glob("*.svg")} == FIGURES
    tables = {path.stem for path in (tmp_path / "out" / "tables").glob("*.csv")}
    made = {"table1", "table2", "table3", "table5", "noise-models", "ablation", "default-accuracy"}
    assert tables == {*made, "runs", "missing"}
    assert not list((tmp_path / "out").rglob("*.tmp"))


def test_a_folder_that_is_not_there_is_a_wrong_argument(tmp_path, capsys):
    assert call(["report", "--results", str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_the_same_results_give_the_same_bytes(results, tmp_path):
    contents = []
    for name in ("a", "b"):
        write_report(results, tmp_path / name)
        paths = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        contents.append({path.relative_to(tmp_path / name): path.read_bytes() for path in paths})
    assert contents[0] == contents[1]


def test_the_page_asks_the_network_for_nothing(out):
    page = (out / "index.html").read_text()
    assert re.findall(r'(?:src|href|action)="(?!data:|#)[^"]*"', page) == []
    assert not re.search(r"https?:|@import|url\(", page)


def test_every_colour_is_defined_for_both_themes(out):
    page = (out / "index.html").read_text()
    used = set(re.findall(r"var\(--([\w-]+)\)", page))
    assert used <= COLOURS.keys()
    light, *dark = re.findall(r"{ (--[^}]*)}", page)
    assert len(dark) == 2
    assert all(f"--{name}:{COLOURS[name][0]};" in light for name in used)
    assert all(f"--{name}:{COLOURS[name][1]};" in each for name in used for each in dark)


def test_a_table_holds_measured_and_published(out):
    lines = lines_of(out / "tables" / "table1.csv")
    cell = next(line for line in lines if line["row"] == "GSS-Greedy" and line["column"] == "300")
    assert float(cell["mean"]) == pytest.approx(mean([86, 88]))
    assert float(cell["std"]) == pytest.approx(stdev([86, 88]))
    assert cell["n"] == "2"
    assert cell["published"] == "87.14"
    page = (out / "index.html").read_text()
    assert '<td class="number" data-value="87.0">87.00 ± 1.41<small>paper 87.14 · n 2</small></td>' in page
    assert '<td class="number strong" data-value="94.0">94.00 ± 1.41<small>n 2</small></td>' in page


def test_points_stand_where_their_axes_say(out):
    """Read the drawing back with the axes' own labels as the only scale."""
    drawing = ElementTree.parse(out / "figures" / "accuracy-bytes.svg").getroot()
    texts = [(float(t.get("x", 0)), float(t.get("y", 0)), t.text or "") for t in drawing.iter(f"{SVG}text")]
    heights = [(y - 4, float(words)) for _, y, words in texts if re.fullmatch(r"\d+", words) and float(words) <= 100]
    heights = [pair for pair in heights if pair[0] < 290]
    widths = {words: x for x, _, words in texts if words in ("100", "300", "500")}
    slope, offset = np.polyfit([y for y, _ in heights], [value for _, value in heights], 1)
    marks = {mark.findtext(f"{SVG}title"): mark for mark in drawing.iter(f"{SVG}circle")}
    for column, value in (("300", 94.0), ("500", 96.0)):
        mark = marks[f"smart, {column}: {value:.2f} ± 1.41 (n = 2)"]
        assert slope * float(mark.get("cy", 0)) + offset == pytest.approx(value, abs=0.1)
        assert float(mark.get("cx", 0)) == pytest.approx(widths[column], abs=0.2)
    published = marks["GSS-Greedy, 300: published 87.14"]
    assert slope * float(published.get("cy", 0)) + offset == pytest.approx(87.14, abs=0.1)
    assert any("235 kB" in words for _, _, words in texts)


def test_svg_files_stand_alone(out):
    for path in (out / "figures").glob("*.svg"):
        text = path.read_text()
        assert ElementTree.fromstring(text).tag == f"{SVG}svg"
        assert "var(" not in text
    legend = ElementTree.parse(out / "figures" / "accuracy-bytes.svg").getroot().itertext()
    assert {"smart", "ER", "GSS-Greedy", "published (10 runs)"} <= set(legend)


def test_the_heat_map_shows_the_mean_matrix(tmp_path):
    other = (2 * np.array([[90.0, 50.0], [70.0, 95.0]]) - np.array(MATRIX)).tolist()
    folder = tmp_path / "results"
    save(folder, "table1", "ER", "300", [90.0, 90.0])
    spec = TABLES["table1"].spec(row_of("table1", "ER"), "300", 1)
    ResultFolder(folder).save(spec, made(spec, 90.0, accuracy_matrix=other))
    write_report(folder, tmp_path / "report")
    drawing = ElementTree.parse(tmp_path / "report" / "figures" / "matrix-er.svg").getroot()
    shown = [t.text for t in drawing.iter(f"{SVG}text") if re.fullmatch(r"\d+\.\d", t.text or "")]
    assert shown == ["90.0", "50.0", "70.0", "95.0"]


def test_captions_count_runs_and_what_holds(out):
    page = (out / "index.html").read_text()
    assert "1 to 2 runs a point" in page
    assert "it holds in 50% (smart), 50% (GSS-Greedy), 50% (ER) of the looks" in page


def test_costs_say_that_gdumb_trains_in_testing(results, tmp_path):
    said = "GDumb trains when it is asked, which is in testing"
    write_report(results, tmp_path / "without")
    assert said not in (tmp_path / "without" / "index.html").read_text()
    save(results, "table1", "GDumb", "300", [70.0])
    write_report(results, tmp_path / "with")
    assert (tmp_path / "with" / "index.html").read_text().count(said) == 2  # in the figure and in the list of runs


def test_sensitivity_has_a_point_for_each_value(out):
    drawing = (out / "figures" / "sensitivity-alpha-group-lasso.svg").read_text()
    titles = re.findall(r"<title>(smart, disjoint-mnist, [^<]*)</title>", drawing)
    assert titles == [
        "smart, disjoint-mnist, 0.001: 92.00 (n = 1)",
        "smart, disjoint-mnist, 0.01: 80.00 (n = 1)",
    ]


def test_without_results_each_section_names_its_command(tmp_path):
    (tmp_path / "results").mkdir()
    made_report = write_report(tmp_path / "results", tmp_path / "report", benchmarks=tmp_path / "none.json")
    page = (tmp_path / "report" / "index.html").read_text()
    assert made_report.drawings == {}
    for table in TABLES:
        assert f"<code>smartcl reproduce {table}</code>" in page
    assert "<code>smartcl reproduce figure-sensitivity</code>" in page


def test_a_table_of_several_metrics_has_a_file_for_each(tmp_path):
    references = {row.reference: {"accuracy": 80.0} for row in TABLES["table4"].rows if row.reference}
    for label, accuracy, auc in (("ER", 60.0, 0.61), ("smart", 70.0, 0.52)):
        save(tmp_path / "results", "table4", label, "civil-brazil", [accuracy], auc=auc, references=references)
    write_report(tmp_path / "results", tmp_path / "report")
    assert {path.stem for path in (tmp_path / "report" / "tables").glob("table4-*")} == {
        "table4-accuracy",
        "table4-auc",
    }
    lines = lines_of(tmp_path / "report" / "tables" / "table4-auc.csv")
    assert {line["row"]: line["mean"] for line in lines if line["n"] == "1"} == {"ER": "0.61", "smart": "0.52"}
    page = (tmp_path / "report" / "index.html").read_text()
    strong = re.findall(r'class="number strong" data-value="([^"]*)"', page)
    assert strong == ["70.0", "0.61"], "a reference line is no contender"


def test_naming_a_default_is_no_other_setting(tmp_path):
    for alpha in (1e-5, 1e-4):
        spec = RunSpec.of({**EXACT_VALUES, "alpha": alpha, "beta": 0.0}, dataset="disjoint-mnist", method="smart")
        assert spec.settings["beta"] == RunSpec("disjoint-mnist", "smart").settings["beta"]
        ResultFolder(tmp_path).save(spec, made(spec, 90.0))
    assert "sensitivity-alpha-group-lasso" in write_report(tmp_path, tmp_path / "report").drawings


def test_no_mark_of_markdown_is_left_in_a_note(out):
    notes = re.findall(r'<p class="note">(.*?)(?:<a |</p>)', (out / "index.html").read_text(), flags=re.DOTALL)
    assert len(notes) > 5
    assert not [note for note in notes if re.search(r"[*`]", note)]


def test_the_list_of_what_is_missing_adds_up(out):
    lines = lines_of(out / "tables" / "missing.csv")
    table = TABLES["table5"]
    counts = {line["row"]: int(line["runs"]) for line in lines if line["name"] == "table5"}
    assert counts == {row.label: {"GEM": 2, "smart": 2}.get(row.label, 0) for row in table.rows}


def test_what_a_figure_alone_asks_for_is_listed_too(out):
    lines = lines_of(out / "tables" / "missing.csv")
    asked = {row.label for row in ALONG_BETA.rows} | {row.label for row in ALONG_ALPHA.rows}
    assert {line["row"] for line in lines if line["name"] == "figure-sensitivity"} == asked


def test_runs_of_other_defaults_and_damaged_lines_are_left_out(results, tmp_path):
    path = results / "disjoint-mnist.jsonl"
    lines = path.read_text().splitlines()
    other = json.dumps({**json.loads(lines[0]), "key": "0123456789abcdef"})
    path.write_text("\n".join([*lines, other, lines[0][:50]]))
    report = write_report(results, tmp_path / "report")
    assert report.runs.stale == 2
    assert "2 runs in the folder had other defaults" in (tmp_path / "report" / "index.html").read_text()
    assert len(report.runs.all) == sum(len(file.read_text().splitlines()) for file in results.glob("*.jsonl")) - 2


def test_seeds_that_settings_were_chosen_by_are_not_looked_for_in_tables(results):
    assert Runs(results).seeds == 2
    spec = STRENGTH_RUNS.spec(STRENGTH_RUNS.rows[0], "clean", 1)
    ResultFolder(results).save(spec, made(spec, 60.0))
    assert Runs(results).seeds == 2


def test_the_second_screen_shows_bytes_noise_and_speed(results, tmp_path):
    timed = tmp_path / "benchmarks.json"
    figures = [("smart", 1480.2), ("Avalanche Replay", 210.0)]
    lines = [{"figure": f"{name}: rows a second", "measured": speed} for name, speed in figures]
    lines += [{"figure": "smart: accuracy", "measured": 97.04}, {"figure": "smart / River, in accuracy", "measured": 1}]
    timed.write_text(json.dumps({"peers": lines}))
    report = write_report(results, tmp_path / "report", timed)
    first, second = report.figures[:2]
    assert (first.name, first.missing) == ("glance-users", "smartcl reproduce real-streams")
    assert second.name == "glance"
    assert [title for title, _ in second.panels][-1] == "rows a second"
    page = (tmp_path / "report" / "index.html").read_text()
    assert page.index('id="glance"') < page.index('id="accuracy-bytes"')
    assert "Avalanche Replay: 210 rows a second" in page
    assert "1,480 · 97.0 %" in page
    assert "210 ·" not in page, "its accuracy is not known"
    assert "in accuracy" not in page


@pytest.mark.parametrize("text", [None, "", "[]", '{"peers": []}'])
def test_without_benchmarks_the_first_screen_has_no_speeds(text, results, tmp_path):
    path = tmp_path / "benchmarks.json"
    if text is not None:
        path.write_text(text)
    assert speeds(path) == {}
