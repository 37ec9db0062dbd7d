"""Runs on a real Ray cluster of two nodes, one of them killed in the middle: nothing lost, nothing twice."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from smartcl.cli.app import call
from smartcl.paper.experiments.compact_results import rounded
from smartcl.paper.experiments.engines.engine import attempt
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.sweep import missing, sweep
from smartcl.paper.experiments.task_run import run

ray = pytest.importorskip("ray", reason="the extra [ray] is not installed")

from smartcl.paper.experiments.engines.ray import RayEngine  # noqa: E402

SECONDS = 2.0


def spec(seed: int) -> RunSpec:
    settings = {"hidden": (8,), "iterations": 1}
    return RunSpec.of(settings, dataset="disjoint-digits", method="er", memory="20 samples", seed=seed)


def noted_run(diary: Path, spec: RunSpec) -> dict[str, Any]:
    """A run that notes on which node it begins, with which sources, and takes its time."""
    import ray as inside
    import torch

    import smartcl

    node = inside.get_runtime_context().get_node_id()
    with diary.open("a") as file:
        file.write(f"{node} {spec.seed}\n")
    time.sleep(SECONDS)
    if spec.seed == 3:
        raise ValueError("three is not allowed")
    return {**run(spec), "sources": smartcl.__file__, "threads": torch.get_num_threads()}


def notes(diary: Path) -> list[list[str]]:
    return [line.split() for line in diary.read_text().splitlines()] if diary.exists() else []


@pytest.fixture
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not know the tests' folder
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    yield cluster
    ray.shutdown()
    cluster.shutdown()
    ray.cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def test_a_node_killed_in_the_middle_loses_nothing(tmp_path, cluster):
    second = cluster.add_node(num_cpus=1)
    diary, results, specs = tmp_path / "diary", ResultFolder(tmp_path / "results"), [spec(seed) for seed in range(5)]

    def kill_the_second_node_at_work() -> None:
        while not any(node == second.node_id for node, _ in notes(diary)):
            time.sleep(0.05)
        cluster.remove_node(second, allow_graceful=False)

    killer = Thread(target=kill_the_second_node_at_work)
    killer.start()
    seen: list[RunSpec] = []
    failures = sweep(
        specs,
        results,
        RayEngine(cluster.address),
        lambda outcome: seen.append(outcome.spec),
        partial(noted_run, diary),
    )
    killer.join()
    assert failures == {spec(3): "ValueError: three is not allowed"}  # its own fault, so not tried again
    assert sorted(one.seed for one in seen) == [0, 1, 2, 3, 4]
    assert missing(specs, results) == [spec(3)]
    begun = [seed for _, seed in notes(diary)]
    lost = [seed for node, seed in notes(diary) if node == second.node_id]
    assert len(lost) == 1
    assert sorted(begun) == sorted([*"01234", *lost])  # what was in flight there began again, and nothing else
    assert len(results.file("disjoint-digits").read()) == 4
    for one in (spec(0), spec(int(lost[0]))):
        if one != spec(3):
            result, here = results.load(one), attempt(run, one).result
            assert result is not None
            assert here is not None
            assert result["accuracy_per_task"] == rounded(here["accuracy_per_task"])
            assert "_ray_pkg_" in result["sources"]  # the driver's own sources, sent along
            assert result["threads"] == 1


def test_ray_starts_on_this_machine_without_an_address():
    [outcome] = RayEngine(workers=1).outcomes(run, [spec(0)])
    assert outcome.result is not None
    assert outcome.result["accuracy_matrix"] == run(spec(0))["accuracy_matrix"]
    assert not ray.is_initialized()


def test_an_unreachable_cluster_is_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("smartcl.paper.experiments.engines.ray.RayEngine", partial(RayEngine, patience=5.0))
    arguments = ["--results", str(tmp_path), "--engine", "ray", "--address", "127.0.0.1:1"]
    assert call(["reproduce", "table1", "--quick", *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("smartcl: no Ray cluster answered at 127.0.0.1:1 within 5 seconds; ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_missing_extra_names_the_install_command(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert call(["reproduce", "table1", "--quick", "--results", str(tmp_path), "--engine", "ray"]) == 1
    assert capsys.readouterr().err == "smartcl: the Ray engine needs Ray: pip install 'smartcl[ray]'\n"
