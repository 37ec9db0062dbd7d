"""For Spark's streams: each partition of a micro-batch is a shard, or each key has its model in Spark's state.

No name of Spark is needed here: its frames and groups come as they are. Models travel as the bytes of their folder.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from smartcl.columns.column_schema import ColumnSchema
from smartcl.columns.recognise import FIRST_ROWS, Told, recognised
from smartcl.columns.row_encoder import RowEncoder
from smartcl.errors import extra
from smartcl.estimator import SmartClassifier
from smartcl.files.blocks import first_rows, steps
from smartcl.files.sources import FrameSource
from smartcl.files.table_model import TableModel
from smartcl.saving.persistence import INDEX, write_file
from smartcl.scale.merging import shard_of
from smartcl.scale.shards import BASE_ROWS
from smartcl.scale.tables import merge, subtract

#: Which micro-batch the model of a folder has learned last: one that Spark repeats is passed over.
BATCH = "spark_batch.json"


def learn_batches(
    folder: str | os.PathLike[str], label: str, *, memory: str | int = "1MB", **settings: Any
) -> Callable[[Any, int], None]:
    """A function for ``writeStream.foreachBatch``: every micro-batch is learned by its partitions and merged.

    The model is in ``folder`` after each of them. A batch that Spark gives again after a failure counts once: the
    number of the last one is written with the model.
    """
    path = Path(folder)

    def learn(batch: Any, number: int) -> None:
        held = path / BATCH
        done = json.loads(held.read_text()) if held.is_file() else {"batch": -1, "saved": ""}
        if number <= int(str(done["batch"])):
            return
        base = TableModel.load(path / str(done["saved"])) if done["saved"] else None
        first = base is None
        if base is None:
            frame = batch.limit(BASE_ROWS).toPandas()
            if not len(frame):
                return
            base = begun_with(frame, Told(label, None, {}, 1 << 17), SmartClassifier(memory, **settings))
        rows = batch.mapInPandas(shard_learner(packed(base), number), "model binary").collect()
        if not rows:
            return
        whole = merge([unpacked(bytes(row["model"])) for row in rows], memory, base=base)
        if first:
            whole = subtract(whole, base)  # its rows were learned again by the partitions they are of
        saved = f"model-{number % 2}"
        whole.save(path / saved, only=True)
        write_file(held, json.dumps({"batch": number, "saved": saved}).encode())

    return learn


def model_in(folder: str | os.PathLike[str]) -> TableModel:
    """The model that ``learn_batches`` has saved last."""
    path = Path(folder)
    return TableModel.load(path / json.loads((path / BATCH).read_text())["saved"])


def shard_learner(base: bytes, number: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """A function for ``mapInPandas``: from the frames of a partition to one row with the bytes of what they taught."""

    def learned(frames: Iterable[Any]) -> Iterator[Any]:
        pandas = extra("pandas", "pandas")
        task = extra("pyspark", "spark").TaskContext.get()
        place = 0 if task is None else int(task.partitionId())
        model = unpacked(base)
        before = model.progress.rows
        model.classifier = shard_of(model.classifier, [number, place])
        for frame in frames:
            learn_frame(model, frame)
        model.catch_up()
        if model.progress.rows > before:
            yield pandas.DataFrame({"model": [packed(model)]})

    return learned


def key_learner(base: bytes) -> Callable[[Any, Iterable[Any], Any], Iterator[Any]]:
    """A function for ``applyInPandasWithState``, of a stream grouped by a column: a model for each value.

    The state is one column ``model binary``. What comes out is one row each time: the key, the rows learned so far, and
    the share of them that was predicted before it was learned (``key string, rows long, accuracy double``).
    """

    def learned(keys: Any, frames: Iterable[Any], state: Any) -> Iterator[Any]:
        pandas = extra("pandas", "pandas")
        model = unpacked(bytes(state.get[0]) if state.exists else base)
        for frame in frames:
            learn_frame(model, frame)
        state.update((packed(model),))
        told = {"key": str(keys[0]), "rows": model.progress.rows, "accuracy": model.scores_.overall.accuracy}
        yield pandas.DataFrame([told])

    return learned


def begun_with(frame: Any, told: Told, classifier: SmartClassifier, schema: ColumnSchema | None = None) -> TableModel:
    """A model that has learned the rows of a frame, and recognised their columns."""
    if schema is None:
        _, records = first_rows(FrameSource((frame,)).blocks({}), FIRST_ROWS)
        schema = recognised(records, told)
        encoder = RowEncoder(schema)
        encoder.take_names(records)
    else:
        encoder = RowEncoder(schema)
    model = TableModel(classifier, encoder)
    learn_frame(model, frame)
    model.catch_up()
    return model


def learn_frame(model: TableModel, frame: Any) -> None:
    """Learn the rows of a frame of pandas; where it was read from is Spark's business."""
    for step in steps(FrameSource((frame,)).blocks({}), model.encoder, model.classifier.batch_size):
        step.marks.clear()
        model.learn(step)


def packed(model: TableModel) -> bytes:
    """The files of a model's folder, in one."""
    with TemporaryDirectory() as name, io.BytesIO() as held:
        model.save(name)
        with zipfile.ZipFile(held, "w") as archive:
            for path in sorted(Path(name).rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(name))
        return held.getvalue()


def unpacked(data: bytes) -> TableModel:
    """The model of these bytes, checked as any folder is."""
    with TemporaryDirectory() as name, zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(name)
        if not (Path(name) / INDEX).is_file():
            raise ValueError("these bytes hold no model")
        return TableModel.load(name)
