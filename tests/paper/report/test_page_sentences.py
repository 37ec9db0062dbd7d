"""Where the pages say numbers of its runs in a sentence, they are what the result files say, of as many seeds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.streams import SMART, STREAM_RUNS, streams_data
from smartcl.paper.peers.names import PEERS

ROOT = Path(__file__).parents[3]
RESULTS = ResultFolder(ROOT / "results")
PAGES = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("paper.md", "compare.md"))
SAYS = " ".join(PAGES.split())
SEEDS = {1: "one seed", 3: "three seeds", 5: "five seeds", 10: "ten seeds"}

#: By table, what the pages say of it. A cell is ``{row|column}``, with its deviation ``{row|column|±}``; ``{seeds}``
#: is how many every cell of the sentence has.
SAID = {
    "fresh": "seeds 20 to 29 (`smartcl reproduce fresh`): {smart|100 images} and {smart|300 images} at 78,400 and "
    "235,200 bytes, {smart|300 images, 30% foreign} and {smart|300 images, 50% foreign} at 30 and 50% wrong labels",
    "table1": "Joint training on all images with `smart`'s own training reaches "
    "{joint training, smart's training|300} on clean labels",
    "fashion": "({seeds}; `smartcl reproduce fashion`): in 78,400 and 235,200 bytes `smart` reaches "
    "{smart|100 images} and {smart|300 images}, plain replay {ER|100 images} and {ER|300 images}, DER++ "
    "{DER++|100 images} and {DER++|300 images}, joint training with `smart`'s own "
    "{joint training, smart's training|300 images}. So with room for 300 whole images of clothes and clean labels the "
    "memory buys nothing; with 30% wrong labels it is {smart|300 images, 30% foreign} against "
    "{ER|300 images, 30% foreign} and {DER++|300 images, 30% foreign} (joint training "
    "{joint training|300 images, 30% foreign})",
    "fashion-classes": "({seeds}; `smartcl reproduce fashion-classes`): `smart` {smart|300|±}, plain replay {ER|300|±}"
    ", DER++ {DER++|300|±}, all far below joint training with {joint training|300|±} (with `smart`'s own "
    "{joint training, smart's training|300|±})",
    "newsgroups": "({seeds}; `smartcl reproduce newsgroups`), in 256 kB and 1 MB: `smart` {smart|256kB|±} and "
    "{smart|1MB|±}, plain replay of sparse rows {ER, sparse rows|256kB|±} and {ER, sparse rows|1MB|±}, DER++ of sparse "
    "rows {DER++, sparse rows|256kB|±} and {DER++, sparse rows|1MB|±}; joint training on all messages with `smart`'s "
    "training {joint training, smart's training|1MB|±}, with plain replay's {joint training|1MB|±}",
}


@pytest.mark.parametrize("name", SAID)
def test_the_page_says_what_the_result_files_say(name: str) -> None:
    table, counts = TABLES[name], set()
    rows = {row.label: row for row in table.rows}

    def value(field: re.Match[str]) -> str:
        label, column, *deviation = field[1].split("|")
        cell = table.cell(rows[label], column, table.seeds, RESULTS)
        counts.add(cell["n"])
        return f"{cell['mean']:.1f} ± {cell['std']:.1f}" if deviation else f"{cell['mean']:.1f}"

    said = re.sub(r"\{([^{}]+\|[^{}]+)\}", value, SAID[name])
    [seeds] = counts
    assert said.replace("{seeds}", SEEDS[seeds]) in SAYS


def test_the_page_says_where_adaptive_stands_on_streams() -> None:
    data = streams_data([(STREAM_RUNS, STREAM_RUNS.seeds)], RESULTS)
    mean_place = {line["row"]: line["mean"] for line in data["ranks"]}
    best_peer = min(mean_place[peer.label] for peer in PEERS.values())
    accuracies = [line for line in data["margins"] if line["metric"] == "accuracy"]
    behind = {name: -min(line[name] for line in accuracies) for name in ("to_peer", "to_guards_off")}
    assert f"mean place {mean_place[SMART.label]:.1f} of nine, best peer {best_peer:.1f}; " in SAYS
    assert len(mean_place) == 9
    off, peer = behind["to_guards_off"], behind["to_peer"]
    assert f"at most {off:.1f} points behind `smart` without guards and at most {peer:.1f} behind the best peer" in SAYS
    [rare] = [line for line in data["margins"] if line["metric"] == "auc"]
    assert f"its AUC is {rare['smart']:.2f}, and that of scikit-learn's SGD {rare['peer']:.2f}" in SAYS
    assert rare["best_peer"] == "sklearn SGD"
    cells = (STREAM_RUNS.cell(row, name, 5, RESULTS) for row in STREAM_RUNS.rows for name in STREAM_RUNS.columns)
    assert {cell["n"] for cell in cells} == {5}


def test_the_page_says_how_unsteady_smart_is_class_by_class() -> None:
    table = TABLES["fashion-classes"]
    runs = [RESULTS.load(spec) for spec in table.specs() if spec.method == "smart"]
    made = sorted((run["accuracy"], min(run["accuracy_per_task"])) for run in runs if run is not None)
    assert f"its seeds go from {made[0][0]:.1f} to {made[-1][0]:.1f}, and the two lowest have each lost most" in SAYS
    assert [worst_pair < 50 for _, worst_pair in made] == [True, True, False, False, False]
