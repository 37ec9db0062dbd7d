"""``smartcl merge``, ``train --workers`` and ``train --per``: folders in, a folder out."""

from __future__ import annotations

import json
import shutil

import pytest

from files.made_tables import QUICK_OPTIONS, mixed_rows, write_csv
from smartcl import SmartClassifier, TableModel
from smartcl.cli.app import call
from smartcl.scale import shards
from smartcl.scale.merging import shard_of


@pytest.fixture
def folders(tmp_path, capsys):
    """A base, and two models that went on from it."""
    rows = mixed_rows(1200)
    parts = [write_csv(tmp_path / f"{k}.csv", rows[k * 400 : (k + 1) * 400]) for k in range(3)]
    options = ["--label", "kind", "--id", "id", "--out", str(tmp_path / "base"), "--set", "members=ridge"]
    assert call(["train", str(parts[0]), *options]) == 0
    for k in (1, 2):
        model = TableModel.load(tmp_path / "base")
        model.classifier = shard_of(model.classifier, k)
        model.save(tmp_path / f"shard-{k}")
        assert call(["train", str(parts[k]), "--out", str(tmp_path / f"shard-{k}"), "--resume"]) == 0
    capsys.readouterr()
    return tmp_path


def test_folders_are_merged_and_a_part_taken_out(folders, capsys):
    one, two, base, out = (str(folders / name) for name in ("shard-1", "shard-2", "base", "whole"))
    assert call(["merge", one, two, "--out", out]) == 2
    assert "give it as base (--base)" in capsys.readouterr().err
    assert call(["merge", one, two, "--base", base, "--memory", "5kB", "--out", out, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["rows"] == 1200
    assert result["memory_bytes"] <= result["budget_bytes"] == 5000
    assert call(["merge", one, two, "--base", base, "--out", out]) == 2
    assert "holds a model" in capsys.readouterr().err
    left = str(folders / "left")
    assert call(["merge", out, "--subtract", two, "--base", base, "--out", left]) == 0
    assert "1 model of 800 rows" in capsys.readouterr().out
    assert call(["predict", left, str(folders / "0.csv")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 401


def test_models_of_arrays_are_merged_too(tmp_path, capsys):
    for k in range(2):
        SmartClassifier("1kB", random_state=k).partial_fit([[0.0], [1.0]] * 30, ["a", "b"] * 30).save(tmp_path / str(k))
    assert call(["merge", str(tmp_path / "0"), str(tmp_path / "1"), "--out", str(tmp_path / "m")]) == 0
    assert "2 models of 120 rows" in capsys.readouterr().out
    assert SmartClassifier.load(tmp_path / "m").predict([[1.0]]).tolist() == ["b"]


def test_a_fleet_by_a_column_is_trained_and_asked(tmp_path, capsys):
    rows = [{**row, "city": "Rome" if k % 2 else "Oslo"} for k, row in enumerate(mixed_rows(600))]
    path, out = str(write_csv(tmp_path / "rows.csv", rows)), str(tmp_path / "fleet")
    assert call(["train", path, "--label", "kind", "--per", "city", "--out", out, *QUICK_OPTIONS]) in (0, 2)
    said = capsys.readouterr()
    if "method 'adaptive'" in said.err:
        assert call(["train", path, "--label", "kind", "--per", "city", "--out", out, "--set", "members=ridge"]) == 0
        said = capsys.readouterr()
    assert "600 rows" in said.out
    assert call(["predict", out, path]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 601


def test_workers_that_are_one_file_s(tmp_path, capsys, monkeypatch):
    from scale.test_shards import Here

    monkeypatch.setattr(shards, "Processes", Here)
    monkeypatch.setattr(shards, "BASE_ROWS", 100)
    rows = mixed_rows(500)
    parts = [str(write_csv(tmp_path / f"{k}.csv", rows[k::2])) for k in range(2)]
    options = ["--label", "kind", "--workers", "3", "--merge-rows", "150", "--set", "members=ridge"]
    out = ["--out", str(tmp_path / "m")]
    assert call(["train", *parts, *options, *out]) == 0
    said = capsys.readouterr()
    assert "2 files for 3 workers" in said.err
    assert "500 rows learned by 3 workers" in said.out
    assert call(["train", *parts, *options, *out]) == 2
    assert call(["train", *parts, *options, *out, "--overwrite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 500
    assert call(["train", *parts, *options, *out, "--follow"]) == 2
    shutil.rmtree(tmp_path / "m")
