"""Files learned by several workers: the same as ever, whoever dies on the way."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from smartcl import TableModel, merge, subtract, train_shards
from smartcl.scale import shards
from smartcl.scale.shard_work import ShardTask, shared_out, work

SETTINGS = {"memory": "20kB", "members": ["ridge"], "random_state": 3}


def rows_of(seed, count):
    rng = np.random.default_rng(seed)
    city = np.array(["NYC", "LA", "SF"])[rng.integers(0, 3, count)]
    a, b = rng.normal(size=(2, count)).round(3)
    y = np.where((a + b > 0) | (city == "LA"), "up", "down")
    return [dict(zip(("a", "b", "city", "y"), row, strict=True)) for row in zip(a, b, city, y, strict=True)]


@pytest.fixture(autouse=True)
def small_base(monkeypatch):
    monkeypatch.setattr(shards, "BASE_ROWS", 900)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder, names = tmp_path_factory.mktemp("parts"), []
    for seed in range(3):
        names.append(str(folder / f"part-{seed}.csv"))
        with Path(names[-1]).open("w", newline="") as file:
            writer = csv.DictWriter(file, ["a", "b", "city", "y"])
            writer.writeheader()
            writer.writerows(rows_of(seed, 700))
    return names


class Here:
    """Workers that are no processes: the tasks are done in this one, one after the other."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def done(self, tasks, watch):
        return [work(task) for task in tasks]


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr(shards, "Processes", Here)


def right(model):
    rows = rows_of(99, 600)
    return float((model.predict(rows) == np.array([row["y"] for row in rows])).mean())


def answers(model):
    return model.predict_proba(rows_of(98, 50))


def test_every_row_of_every_file_counts_once(here, parts, tmp_path):
    seen = []
    train = partial(train_shards, parts, "y", workers=3, merge_rows=200, out=tmp_path, **SETTINGS)
    model = train(watch=seen.append)
    assert model.progress.rows == model.classifier.learner_.counts.total == 2100
    assert len(seen) >= 2
    assert right(model) > 0.85
    assert sorted(path.name for path in tmp_path.iterdir()) == ["generations", "model.json", "schema.json"]
    np.testing.assert_array_equal(answers(TableModel.load(tmp_path)), answers(model))
    again = train(resume=True)
    np.testing.assert_array_equal(answers(again), answers(model))


def test_a_training_that_was_interrupted_goes_on(here, parts, tmp_path, monkeypatch):
    train = partial(train_shards, parts, "y", workers=2, merge_rows=300, **SETTINGS)
    whole = train()
    with pytest.raises(ValueError, match="add --resume"):
        train(out=tmp_path, watch=lambda model: True) and train(out=tmp_path)
    save, saves = TableModel.save, []

    def stopping(model, folder, only=False):
        save(model, folder, only)
        saves.append(folder)
        if len(saves) in (2, 5):
            raise KeyboardInterrupt

    monkeypatch.setattr(TableModel, "save", stopping)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            train(out=tmp_path, resume=True)
    monkeypatch.undo()
    monkeypatch.setattr(shards, "Processes", Here)
    np.testing.assert_array_equal(answers(train(out=tmp_path, resume=True)), answers(whole))


def test_a_worker_goes_on_from_its_checkpoint(parts, tmp_path, monkeypatch):
    """What it had saved when it died is copied, as it was, to where another begins."""
    base = shards.begun(
        shards.FileSource(tuple(parts)), shards.Told("y", None, {}, 1), shards.SmartClassifier(**SETTINGS), None
    )
    base.save(tmp_path / "base")
    tasks = [
        ShardTask(str(tmp_path / "base"), str(tmp_path / name), tuple(parts[:2]), None, 600, (3, 0, 0), 100)
        for name in ("one", "two")
    ]
    save, saves = TableModel.save, []

    def copied(model, folder, only=False):
        save(model, folder, only)
        saves.append(model.progress.rows)
        if len(saves) == 3:
            shutil.copytree(folder, tmp_path / "two")

    monkeypatch.setattr(TableModel, "save", copied)
    first = work(tasks[0])
    assert len(saves) > 4
    second = work(tasks[1])
    assert first.rows == second.rows == 600
    one, two = (TableModel.load(tmp_path / name) for name in ("one", "two"))
    np.testing.assert_array_equal(answers(one), answers(two))


def test_a_worker_that_is_killed_is_begun_again(parts, tmp_path):
    """By real processes: as in this one, and after a kill the same again."""
    killers, saved = [], []

    def kill(pid):
        until = time.monotonic() + 60
        while not list(tmp_path.glob("killed/shards/round-0-*/model.json")) and time.monotonic() < until:
            time.sleep(0.001)
        saved.extend(tmp_path.glob("killed/shards/round-0-*/model.json"))
        os.kill(pid, signal.SIGKILL)

    def kill_once(pids):
        if not killers:
            killers.append(threading.Thread(target=kill, args=(pids[0],)))
            killers[0].start()

    train = partial(train_shards, parts[:2], "y", workers=1, merge_rows=1000, **SETTINGS)
    model = train(out=tmp_path / "killed", watch_workers=kill_once)
    killers[0].join()
    assert saved
    assert model.progress.rows == 1400
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "Processes", Here)
        undisturbed = train(out=tmp_path / "undisturbed")
    np.testing.assert_allclose(answers(model), answers(undisturbed), atol=1e-6)


def test_tables_are_merged_and_taken_apart(here, parts, tmp_path):
    base = shards.begun(
        shards.FileSource(tuple(parts)), shards.Told("y", None, {}, 1), shards.SmartClassifier(**SETTINGS), None
    )
    base.save(tmp_path / "base")
    folders = [str(tmp_path / str(k)) for k in range(2)]
    for k, folder in enumerate(folders):
        work(ShardTask(str(tmp_path / "base"), folder, (parts[k],), None, 300, (3, k, 0), 200))
    whole = merge(folders, base=tmp_path / "base")
    assert whole.progress.rows == base.progress.rows + 600
    assert {Path(name).name for name in whole.progress.marks} == {Path(name).name for name in parts}
    left = subtract(whole, folders[1], base=tmp_path / "base")
    alone = TableModel.load(folders[0])
    assert left.progress.rows == alone.progress.rows
    assert (left.classifier.learner_.counts.seen == alone.classifier.learner_.counts.seen).all()
    with pytest.raises(ValueError, match="models of arrays"):
        merge([whole, whole.classifier])


def test_a_column_that_one_model_ignored_is_missing_in_its_rows(parts):
    one, two = (
        shards.begun(
            shards.FileSource((parts[k],)),
            shards.Told("y", None, {"b": kind}, 1),
            shards.SmartClassifier(**{**SETTINGS, "random_state": k}),
            None,
        )
        for k, kind in enumerate(("number", "ignored"))
    )
    whole = merge([one, two])
    assert [column.name for column in whole.schema.used if column.missing] == ["b"]
    assert whole.progress.rows == one.progress.rows + two.progress.rows
    assert len(whole.predict([{"a": 1.0, "b": 1.0, "city": "LA"}, {"a": 1.0, "city": "LA"}])) == 2


def test_work_is_shared_out_evenly():
    sizes = {"a": 5, "b": 4, "c": 3, "d": 2}
    assert shared_out(list(sizes), 2, sizes.get) == [("a", "d"), ("b", "c")]
    assert shared_out(["a"], 4, sizes.get) == [("a",)]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"workers": 0}, "at least 1"),
        ({"engine": "spark"}, "engine must be one of local, ray"),
        ({"method": "smart", "members": None}, "method 'adaptive', got 'smart'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_learned(here, parts, settings, reason):
    with pytest.raises(ValueError, match=reason):
        train_shards(parts, "y", **{**SETTINGS, "workers": 2, **settings})
    with pytest.raises(ValueError, match="pipe"):
        train_shards("-", "y")
