"""Shards on actors of a real Ray: one of them is killed at its work, and what comes of it is as ever."""

from __future__ import annotations

import os
import signal
import time
from threading import Thread

import numpy as np
import pytest

from smartcl import SmartClassifier, TableModel
from smartcl.columns.recognise import Told
from smartcl.files.file_source import FileSource
from smartcl.scale.shard_work import ShardTask, work
from smartcl.scale.shards import begun

ray = pytest.importorskip("ray", reason="the extra [ray] is not installed")

from smartcl.scale.fleet import train_fleet  # noqa: E402
from smartcl.scale.ray_actors import RayActors, begin_ray  # noqa: E402


@pytest.fixture(scope="module")
def connected():
    """One Ray for all tests: who finds it does not end it."""
    connection, began = begin_ray(2, None)
    assert began
    yield connection
    assert connection.is_initialized()
    connection.shutdown()


def test_an_actor_that_is_killed_goes_on_from_its_checkpoint(connected, tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 2500))
    lines = [f"{x:.3f},{z:.3f},{'up' if x + z > 0 else 'down'}" for x, z in zip(a, b, strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,y", *lines]) + "\n")
    classifier = SmartClassifier("10kB", members=["ridge"], random_state=0)
    begun(FileSource((str(path),)), Told("y", None, {}, 1), classifier, None).save(tmp_path / "base")

    def task(name):
        return ShardTask(str(tmp_path / "base"), str(tmp_path / name), (str(path),), None, 10_000, (0, 0, 0), 50)

    with RayActors(1) as actors:
        process = ray.get(actors._actors[0].process.remote())

        def kill():
            while not (tmp_path / "there" / "model.json").is_file():
                time.sleep(0.01)
            os.kill(process, signal.SIGKILL)

        killer = Thread(target=kill)
        killer.start()
        (done,) = actors.done([task("there")])
        killer.join()
        assert ray.get(actors._actors[0].process.remote()) != process
    here = work(task("here"))
    assert (done.rows, done.ended) == (here.rows, here.ended)
    assert done.rows == 500
    rows = [{"a": 0.1 * k, "b": -0.2} for k in range(9)]
    there, own = (TableModel.load(tmp_path / name).predict_proba(rows) for name in ("there", "here"))
    np.testing.assert_allclose(there, own, atol=1e-6)


def test_a_fleet_s_models_live_in_actors(connected):
    rng = np.random.default_rng(1)
    rows = [
        {"city": city, "warm": float(warm), "late": bool((warm > 0) != (city == "Oslo"))}
        for city, warm in zip(rng.choice(["Rome", "Oslo"], 500).tolist(), rng.normal(size=500), strict=True)
    ]
    settings = {"memory": "8kB", "members": ["ridge"], "random_state": 0, "base_rows": 200}
    here = train_fleet(rows, "city", "late", **settings)
    there = train_fleet(rows, "city", "late", engine="ray", workers=1, **settings)
    try:
        assert there.keys == here.keys
        np.testing.assert_allclose(there.predict_proba(rows[:40]), here.predict_proba(rows[:40]), atol=1e-6)
        assert there.model("Oslo").progress.rows == 200 + there.keys["Oslo"]
    finally:
        there.close()
