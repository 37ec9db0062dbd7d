"""A model for each value of a column: rows find theirs, new values begin from the base, and the folder is whole."""

from __future__ import annotations

import numpy as np
import pytest

from smartcl.cli.app import call
from smartcl.scale import fleet as module
from smartcl.scale.fleet import Fleet, train_fleet

SETTINGS = {"memory": "8kB", "members": ["ridge"], "random_state": 0, "base_rows": 200}


def rows_of(seed, count, cities=("Rome", "Oslo", "a/b")):
    """In Oslo all is the other way round."""
    rng = np.random.default_rng(seed)
    rows = []
    for city in rng.choice(cities, count).tolist():
        warm, wet = rng.normal(size=2).round(3).tolist()
        rows.append({"city": city, "warm": warm, "wet": wet, "late": bool((warm > 0) != (city == "Oslo"))})
    return rows


def right(fleet, rows):
    wanted = np.array([str(row["late"]).lower() for row in rows])
    return float((fleet.predict(rows) == wanted).mean())


@pytest.fixture(scope="module")
def fleet():
    return train_fleet(rows_of(0, 1200), "city", "late", **SETTINGS)


def test_every_key_has_a_model_of_its_own(fleet):
    test = rows_of(1, 300)
    assert sum(fleet.keys.values()) + fleet.base.progress.rows == 1200
    assert set(fleet.keys) == {"Rome", "Oslo", "a/b"}
    assert right(fleet, test) > 0.9
    assert right(fleet, test) > right(fleet.base, test)
    of_oslo = [row for row in test if row["city"] == "Oslo"]
    np.testing.assert_allclose(fleet.predict_proba(of_oslo), fleet.model("Oslo").predict_proba(of_oslo))


def test_a_key_that_has_no_model_is_answered_by_the_base(fleet):
    new = [{**row, "city": "Bonn"} for row in rows_of(2, 20)] + [{"warm": 1.0, "wet": 0.0}]
    np.testing.assert_allclose(fleet.predict_proba(new), fleet.base.predict_proba(new))


def test_a_fleet_is_saved_loaded_and_gone_on_with(tmp_path):
    rows, test = rows_of(3, 900), rows_of(4, 60)
    whole = train_fleet(rows, "city", "late", out=tmp_path / "fleet", **SETTINGS)
    again = Fleet.load(tmp_path / "fleet")
    np.testing.assert_array_equal(again.predict_proba(test), whole.predict_proba(test))
    with pytest.raises(ValueError, match="add --resume"):
        train_fleet(rows, "city", "late", out=tmp_path / "fleet", **SETTINGS)
    longer = train_fleet(rows + test, "city", "late", out=tmp_path / "fleet", resume=True, **SETTINGS)
    assert sum(longer.keys.values()) + longer.base.progress.rows == 960
    assert [path.name for path in (tmp_path / "fleet").glob("saved-*")] == ["saved-2"]


def test_an_interrupted_save_leaves_the_fleet_before(tmp_path, monkeypatch):
    whole = train_fleet(rows_of(5, 500), "city", "late", **SETTINGS)
    whole.save(tmp_path)
    before = Fleet.load(tmp_path).predict_proba(rows_of(6, 20))
    whole.learn(rows_of(5, 500) + rows_of(7, 300))
    monkeypatch.setattr(module, "write_file", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        whole.save(tmp_path)
    np.testing.assert_array_equal(Fleet.load(tmp_path).predict_proba(rows_of(6, 20)), before)


def test_there_are_no_more_models_than_asked_for():
    fleet = train_fleet(rows_of(8, 700), "city", "late", most_keys=1, **SETTINGS)
    assert len(fleet.keys) == 1
    assert fleet.base.classifier.learner_.counts.total + sum(fleet.keys.values()) == 700


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="there is no 'town' among city, warm"):
        train_fleet(rows_of(9, 50), "town", "late", **SETTINGS)


def test_all_models_of_a_fleet_forget(tmp_path):
    rows = [{**row, "nr": f"n{n}", "note": f"usual words {n % 40}"} for n, row in enumerate(rows_of(5, 600))]
    for n in (3, 500):  # one that the base has learned, and so has every model that began from it
        rows[n] |= {"note": f"confidential{n} words", "late": "unheard-of", "warm": 0.8765432}
    train_fleet(rows, "city", "late", id="nr", columns={"note": "text"}, out=tmp_path / "fleet", **SETTINGS)
    (tmp_path / "ids.txt").write_text("n3\nn500\n")
    assert call(["forget", str(tmp_path / "fleet"), "--ids", str(tmp_path / "ids.txt"), "--retrain"]) == 0
    for path in (tmp_path / "fleet").rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        for secret in (b"confidential", b"unheard-of", b"0.8765432", np.float32(0.8765432).tobytes()):
            assert secret not in data, path
    fleet = Fleet.load(tmp_path / "fleet")
    assert fleet.classes == ["true", "false"] or fleet.classes == ["false", "true"]
    assert fleet.forget(["n3", "n500"]) == 0
    assert fleet.forget(["n4", "n5"]) >= 1


def test_workers_that_are_not_done_keep_a_folder_from_forgetting(tmp_path, capsys):
    (tmp_path / "shards.json").write_text("{}")
    (tmp_path / "ids.txt").write_text("n3\n")
    assert call(["forget", str(tmp_path), "--ids", str(tmp_path / "ids.txt")]) == 2
    assert "--resume first" in capsys.readouterr().err
