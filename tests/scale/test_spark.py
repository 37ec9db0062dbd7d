"""Functions for Spark's streams, in Spark itself on this machine (where it and Java are installed)."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from smartcl import SmartClassifier
from smartcl.columns.recognise import Told
from smartcl.scale import spark as module
from smartcl.scale.spark import begun_with, key_learner, learn_batches, model_in, packed, unpacked

#: Spark warns of pandas, pandas of Spark.
pytestmark = pytest.mark.filterwarnings("ignore")

SETTINGS = {"memory": "10kB", "members": ["ridge"], "random_state": 0}


def frame_of(seed, count):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, count)).round(3)
    city = np.where(rng.random(count) < 0.5, "Rome", "Oslo")
    return pandas.DataFrame({"city": city, "a": a, "b": b, "y": np.where(a + b > 0, "up", "down")})


def test_a_model_travels_as_bytes():
    classifier = SmartClassifier(**SETTINGS)
    model = begun_with(frame_of(0, 300), Told("y", None, {}, 1), classifier)
    again = unpacked(packed(model))
    rows = frame_of(1, 20)
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    with pytest.raises(ValueError, match="no model"):
        module.unpacked(_empty_zip())


def _empty_zip():
    import io
    import zipfile

    held = io.BytesIO()
    zipfile.ZipFile(held, "w").close()
    return held.getvalue()


@pytest.fixture(scope="module")
def session():
    sql = pytest.importorskip("pyspark.sql", reason="the extra [spark] is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        made = (
            sql.SparkSession.builder.master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "1")
            .getOrCreate()
        )
    except Exception as error:  # Spark's own, where there is no Java
        pytest.skip(f"Spark cannot be begun here: {error}")
    yield made
    made.stop()
    del os.environ["PYSPARK_PYTHON"]


def test_micro_batches_are_learned_by_their_partitions_each_once(session, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BASE_ROWS", 1000)
    learn = learn_batches(tmp_path, "y", **SETTINGS)
    first, second = (session.createDataFrame(frame_of(seed, 1500)).repartition(2) for seed in (0, 1))
    learn(first, 0)
    assert model_in(tmp_path).classifier.learner_.counts.total == 1500
    learn(second, 1)
    learn(second, 1)  # Spark gives a batch again after a failure
    model = model_in(tmp_path)
    assert model.classifier.learner_.counts.total == model.progress.rows == 3000
    test = frame_of(2, 400)
    assert (model.predict(test) == test["y"]).mean() > 0.9


def test_each_key_has_its_model_in_spark_s_state(session, tmp_path):
    base = packed(begun_with(frame_of(3, 200), Told("y", None, {}, 1), SmartClassifier(**SETTINGS)))
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    frame_of(4, 300).to_json(source / "1.json", orient="records", lines=True)
    stream = session.readStream.schema("city string, a double, b double, y string").json(str(source))
    rows = stream.groupBy("city").applyInPandasWithState(
        key_learner(base),
        "key string, rows long, accuracy double",
        "model binary",
        "update",
        "NoTimeout",
    )
    found = []
    query = (
        rows.writeStream.foreachBatch(lambda frame, number: found.extend(frame.collect()))
        .outputMode("update")
        .option("checkpointLocation", str(out))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert {row["key"] for row in found} == {"Rome", "Oslo"}
    assert sum(row["rows"] - 200 for row in found) == 300
