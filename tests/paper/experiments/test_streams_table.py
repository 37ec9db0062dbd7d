"""The table of streams: what its runs are, how they are made, and what is read off them."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from smartcl.cli.app import call
from smartcl.errors import UnavailableError
from smartcl.paper.datasets.stream_suite import SEEDS, SUITE, SuiteFile, stream_path, write_suite_file
from smartcl.paper.experiments import peers_process as process
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.streams import (
    MEMORY,
    SMART,
    STREAM_RUNS,
    UNGUARDED,
    accuracy_between,
    over_time,
    streams_data,
)
from smartcl.paper.experiments.task_run import run
from smartcl.paper.peers.names import PEERS
from smartcl.paper.report.stream_grids import stream_grids
from smartcl.paper.report.streams_figure import draw_streams
from smartcl.paper.scores.prequential import BATCH_ROWS

ROOT = Path(__file__).parents[3]


@pytest.fixture
def data_dir(tmp_path):
    """A small stream under the name of one of the suite."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4 * BATCH_ROWS, 3)).astype(np.float32)
    y = (X[:, 0] > 0).astype(np.int64) + (X[:, 1] > 1)
    write_suite_file(stream_path("led", tmp_path), SuiteFile.of([(X, y)], (100,), False))
    return tmp_path


def test_every_method_runs_on_every_stream_with_every_seed():
    specs = STREAM_RUNS.specs()
    assert len(set(specs)) == len(SUITE) * (2 + len(PEERS)) * SEEDS
    assert [spec.method for spec in specs[:: len(SUITE)]][: 2 + len(PEERS)] == ["adaptive", "smart", *PEERS]
    assert {spec.memory for spec in specs if spec.method in ("adaptive", "smart")} == {MEMORY}


def test_a_peers_key_is_of_its_release_and_of_the_rows_learned():
    spec = RunSpec.of({}, dataset="led", method="river-arf", memory="none")
    assert spec.settings == {"river": "0.26.1"}
    assert SUITE["led"].digest in spec.source
    assert spec.key != RunSpec.of({}, dataset="led", method="river-arf", memory="none", source="others").key
    assert RunSpec.from_dict(spec.as_dict()) == spec
    with pytest.raises(ValueError, match="takes no parameters"):
        RunSpec.of({"lr": 0.1}, dataset="led", method="river-arf")


def test_the_peers_environment_installs_the_releases_that_keys_name():
    pins = (ROOT / "constraints.txt").read_text()
    for peer in PEERS.values():
        assert "{}=={}\n".format(*peer.package) in pins
    assert f"River {PEERS['river-arf'].package[1]}" == SUITE["led"].maker


def test_our_own_run_is_the_estimator_batch_by_batch(data_dir):
    from smartcl import SmartClassifier
    from smartcl.paper.datasets.stream_suite import read_suite_file

    spec = RunSpec.of({"hidden": (8,)}, dataset="led", method="adaptive", memory=MEMORY, seed=3)
    result = run(spec, data_dir=data_dir)
    stream = read_suite_file(stream_path("led", data_dir))
    X, y = stream.with_seed(3)
    model = SmartClassifier(MEMORY, hidden=(8,), random_state=3).partial_fit(X[:50], y[:50])
    right = []
    for start in range(50, len(y), 50):
        right.append(int((model.predict(X[start : start + 50]) == y[start : start + 50]).sum()))
        model.partial_fit(X[start : start + 50], y[start : start + 50])
    assert result["correct"] == right
    assert result["memory_bytes"] == model.memory_.store.nbytes <= 1_000_000
    assert result["drifts"] == [100]
    assert result["spec"]["source"] == f"River 0.26.1, {stream.digest}", "the rows learned, not those asked for"
    json.dumps(result, allow_nan=False)


def test_without_the_environment_a_peer_says_what_to_do(data_dir, monkeypatch):
    monkeypatch.setattr(process, "ENVIRONMENT", "nowhere")
    with pytest.raises(UnavailableError, match="'make peers' makes it"):
        run(RunSpec.of({}, dataset="led", method="river-arf", memory="none"), data_dir=data_dir)


def test_the_command_says_it_once_before_any_run(tmp_path, data_dir, monkeypatch, capsys):
    monkeypatch.setattr(process, "ENVIRONMENT", "nowhere")
    arguments = ["reproduce", "streams", "--results", str(tmp_path / "results"), "--out", str(tmp_path / "out")]
    for wanted, said in (
        (["--column", "rare", "--row", "adaptive"], "rare.npz is not there: 'make peers' writes the streams"),
        (["--column", "led", "--row", "river-arf"], "the peers' environment is not there: 'make peers' makes it"),
    ):
        assert call([*arguments, *wanted, "--data", str(data_dir)]) == 1
        [line] = capsys.readouterr().err.splitlines()
        assert said in line
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.fixture
def fake_peers(tmp_path, monkeypatch):
    """An interpreter that answers like the peers' worker, and knows one peer."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(process, "ENVIRONMENT", "peers")
    python = tmp_path / "peers" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if asked['peer'] == 'river-hat': sys.exit(3)\n"
        "    known = {'accuracy': 50.0 + asked['seed']}\n"
        "    said = known if asked['peer'] == 'river-arf' else {'error': 'ValueError: no such peer'}\n"
        "    print(json.dumps(said), flush=True)\n"
    )
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    yield
    if process.peers_worker.cache_info().currsize:
        with process.peers_worker(python) as worker:
            worker.kill()
    process.peers_worker.cache_clear()


@pytest.mark.usefixtures("fake_peers")
def test_one_process_answers_for_all_peers_and_its_errors_are_the_runs(data_dir):
    def asked(method, seed=0):
        return run(RunSpec.of({}, dataset="led", method=method, memory="none", seed=seed), data_dir=data_dir)

    assert [asked("river-arf", seed)["accuracy"] for seed in (0, 4)] == [50.0, 54.0]
    with pytest.raises(RuntimeError, match="ValueError: no such peer"):
        asked("river-srp")
    assert asked("river-arf", 1)["accuracy"] == 51.0
    with pytest.raises(RuntimeError, match="ended with exit code 3"):
        asked("river-hat")


def test_accuracy_over_time_counts_rows_and_no_window_is_of_two_worlds():
    rng = np.random.default_rng(0)
    rows = 60 * BATCH_ROWS + 20
    hits = rng.random(rows) < 0.7
    correct = np.array([hits[start : start + BATCH_ROWS].sum() for start in range(BATCH_ROWS, rows, BATCH_ROWS)])
    ends, accuracy = over_time(correct, rows, [1000, 2000])
    assert {1000, 2000} <= set(ends)
    assert ends[-1] == rows
    for start, end, value in zip([BATCH_ROWS, *ends], ends, accuracy, strict=False):
        assert value == pytest.approx(100 * hits[start:end].mean())
    assert accuracy_between(correct, 0, 1000, rows) == pytest.approx(100 * hits[BATCH_ROWS:1000].mean())


def made(correct, auc=None):
    right = sum(correct) / (BATCH_ROWS * len(correct))
    shape = {"rows": BATCH_ROWS * (len(correct) + 1), "drifts": [], "gradual": False, "correct": correct}
    return {"accuracy": 100 * right, "auc": auc, **shape}


def test_places_and_margins_are_of_the_means(tmp_path):
    results = ResultFolder(tmp_path)
    arf, hat = (next(row for row in STREAM_RUNS.rows if row.method == name) for name in ("river-arf", "river-hat"))
    for row, counts in ((SMART, (40, 44)), (UNGUARDED, (42, 42)), (arf, (45, 45)), (hat, (30, 30))):
        for seed, count in enumerate(counts):
            results.save(STREAM_RUNS.spec(row, "led", seed), made([count] * 30))
    for row, auc in ((SMART, 0.9), (UNGUARDED, 0.7), (arf, 0.8)):
        results.save(STREAM_RUNS.spec(row, "rare", 0), made([50] * 30, auc))
    data = streams_data([(STREAM_RUNS, SEEDS)], results)
    ranks = {line["row"]: (line["places"], line["mean"]) for line in data["ranks"]}
    assert ranks == {
        SMART.label: ({"led": 2.5, "rare": 1.0}, 1.75),
        UNGUARDED.label: ({"led": 2.5, "rare": 3.0}, 2.75),
        arf.label: ({"led": 1.0, "rare": 2.0}, 1.5),
        hat.label: ({"led": 4.0}, None),
    }
    led, rare = data["margins"]
    assert (led["best_peer"], led["to_peer"], led["to_guards_off"]) == (arf.label, pytest.approx(-6.0), 0.0)
    assert rare["metric"] == "auc"
    assert (rare["to_peer"], rare["to_guards_off"]) == pytest.approx((0.1, 0.2))
    ranked, margins = stream_grids(data)
    assert [line[0].shown for line in ranked.lines] == [arf.label, SMART.label, UNGUARDED.label, hat.label]
    assert "-6.00" in margins.markdown()
    figure = draw_streams(data["curves"])
    assert [title for title, _ in figure.panels] == [SUITE["led"].title], "of a rare event accuracy says nothing"
