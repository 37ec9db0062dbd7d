"""A fleet: a model for each value of a column, learned from one stream; new values begin from a common base.

Models are held by crews, here or as actors of Ray: a key is always of the same crew, by its hash.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from smartcl.columns.column_schema import ColumnSchema
from smartcl.columns.hashed_width import USUAL_WIDTH
from smartcl.columns.recognise import FIRST_ROWS, Told, recognised
from smartcl.columns.records import Records
from smartcl.columns.row_encoder import Odd, Parsed, RowEncoder
from smartcl.columns.values import name_of
from smartcl.estimator import SmartClassifier
from smartcl.files.blocks import NO_LABEL, Mark, Step, first_rows, steps
from smartcl.files.progress import Ages, Progress
from smartcl.files.sources import Source, source_of
from smartcl.files.table_model import PREDICT_ROWS, AnsweredRecords, TableModel
from smartcl.saving.persistence import only_trainer, write_file
from smartcl.saving.saved import Saved
from smartcl.scale.merging import shard_of
from smartcl.scale.ray_actors import begin_ray, end_ray

#: Rows that the base learns before the first key has a model of its own: by then the scale of inputs is fixed.
BASE_ROWS = 2000
#: Keys that have a model; the rows of later ones are learned by the base. About 5 MB a key, most of it sums.
MOST_KEYS = 1000
#: The page of a fleet's folder: which of its subfolders is the last one saved, and what is in it.
PAGE = "fleet.json"

#: Rows by key.
Keyed = Mapping[str, Parsed]


class Crew:
    """The models of some keys, each begun as a copy of the base that draws by its own seed."""

    def __init__(self, base: TableModel, seed: int) -> None:
        self._base, self._seed = base, seed
        self._models: dict[str, TableModel] = {}

    def put(self, key: str, model: TableModel) -> None:
        self._models[key] = model

    def model(self, key: str) -> TableModel:
        return self._models[key]

    def learn(self, rows: Keyed) -> None:
        """Learn the rows of these keys; a new key gets a model."""
        for key, own in rows.items():
            if key not in self._models:
                seed = [self._seed, crc32(key.encode())]
                classifier = shard_of(self._base.classifier, seed, holds_frame=False)  # its scale may become another
                classifier.begin_scores()
                progress, ages = Progress(self._base.progress.rows), Ages(held=None)
                self._models[key] = TableModel(classifier, self._base.encoder, progress, ages)
            self._models[key].learn(Step(own))

    def answer(self, rows: Keyed) -> dict[str, tuple[list[str], NDArray[np.float64]]]:
        """For each key the classes of its model, and their probabilities in each row."""
        found = {}
        for key, own in rows.items():
            model = self._models[key]
            found[key] = (model.classes, model.classifier.predict_proba(model.rows(own)))
        return found

    def save(self, folder: str) -> None:
        for key, model in self._models.items():
            model.save(Path(folder) / folder_name(key))

    def flush(self) -> None:
        for model in self._models.values():
            model.catch_up()


class Fleet:
    """Learns rows of a table, and answers them, by the model of their value in the column ``per``.

    >>> rows = [{"city": city, "warm": warm, "label": (warm > 3) == (city == "Rome")}
    ...         for warm in range(8) for city in ("Rome", "Oslo")] * 40
    >>> fleet = train_fleet(rows, "city", "label", memory="5kB", random_state=0, base_rows=200)
    >>> fleet.predict([{"city": "Rome", "warm": 7}, {"city": "Oslo", "warm": 7}]).tolist()
    ['true', 'false']
    """

    def __init__(
        self, per: str, base: TableModel, crews: Sequence[Any], ray: Any = None, most: int = MOST_KEYS
    ) -> None:
        self.per, self.base, self.most = per, base, most
        self._classes = base.classes
        #: The keys that have a model, and how many rows each has learned.
        self.keys: dict[str, int] = {}
        self._crews, self._ray = crews, ray
        #: Whether Ray was begun for this fleet, and ends with it.
        self.began_ray = False

    @property
    def classes(self) -> list[str]:
        """The classes that any model knows, in the order they came."""
        return self._classes

    @property
    def schema(self) -> ColumnSchema:
        return self.base.schema

    def learn(self, source: Source | Any) -> Fleet:
        """Learn all rows of a source that were not learned yet, block by block."""
        given = self._source(source)
        for block in given.blocks(self.base.progress.marks):
            records = block.parse(self._wanted)
            rows = records.after(block.known)
            usable = [row for row, name in enumerate(self._labels(rows)) if name is not None]
            bad = len(rows.bad) + len(rows.at) - len(usable)
            parsed, keys = self.base.encoder.parse(rows), self._keys_of(rows)
            parts = self._parts(keys, usable)
            others = [row for key, at in parts.items() if key not in self.keys for row in at]
            self._call("learn", {key: parsed.take(np.array(at)) for key, at in parts.items() if key in self.keys})
            if others:
                self.base.learn(Step(parsed.take(np.array(sorted(others)))))
            marks = {block.input: Mark(block.place, records.count)}
            nothing = self.base.encoder.parse(Records.of({}))
            self.base.progress.pass_over(Step(nothing, marks, {NO_LABEL: bad} if bad else {}))
            self._classes = list(dict.fromkeys([*self.classes, *(str(parsed.labels[row]) for row in usable)]))
        return self

    def flush(self) -> None:
        """Learn the rows that wait for their batch to be complete."""
        self.base.catch_up()
        self._all("flush")

    def answers(
        self, source: Source | Any, odd: Odd | None = None, keep: Sequence[str] = ()
    ) -> Iterator[AnsweredRecords]:
        """Answers to all rows of a source, each by the model of its key, or by the base where it has none.

        ``keep`` names columns whose values come with the answers.
        """
        checked: set[str] = set()
        for block in self._source(source).blocks({}):
            records = block.parse({**self._wanted, **dict.fromkeys(keep, False)})
            if block.input not in checked:
                self.base.encoder.check_columns(block.input, records)
                checked.add(block.input)
            yield self._answered(records, Odd() if odd is None else odd, keep)

    def predict_proba(self, source: Any) -> NDArray[np.float64]:
        """The probability of each class for each row that could be read, columns as in ``classes``."""
        return np.concatenate([answered.probabilities for answered in self.answers(source)])

    def predict(self, source: Any) -> NDArray[Any]:
        """The most likely label of each row that could be read."""
        return np.array([name for answered in self.answers(source) for name in answered.best()])

    def model(self, key: str) -> TableModel:
        """The model of a key, or the base where it has none; from an actor, a copy."""
        if key not in self.keys:
            return self.base
        crew = self._crew(key)
        found: TableModel = self._crews[crew].model(key) if self._ray is None else self._got(crew, "model", key)
        return found

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write all models; the state before is there until this one is whole."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        with only_trainer(path):
            before = _page(path).whole("saved", 0) if (path / PAGE).is_file() else 0
            state = {
                "saved": before + 1,
                "per": self.per,
                "classes": self.classes,
                "keys": self.keys,
                "most": self.most,
            }
            own = path / f"saved-{before + 1}"
            shutil.rmtree(own, ignore_errors=True)
            self.base.save(own / "base")
            self._all("save", str(own / "keys"))
            write_file(path / PAGE, json.dumps(state, indent=1, ensure_ascii=False).encode())
            shutil.rmtree(path / f"saved-{before}", ignore_errors=True)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], trust: Sequence[str] | str = ()) -> Fleet:
        """The saved fleet, its models in this process."""
        path = Path(folder)
        page = _page(path)
        own = path / f"saved-{page.whole('saved', 1)}"
        base = TableModel.load(own / "base", trust)
        fleet = cls(page.text("per"), base, [Crew(base, 0)], most=page.whole("most", 0))
        fleet._classes = [str(name) for name in page.items("classes")]
        for key in page.part("keys"):
            fleet.keys[key] = page.part("keys").whole(key, 0)
            fleet._crews[0].put(key, TableModel.load(own / "keys" / folder_name(key), trust))
        return fleet

    def forget(self, ids: Sequence[str], retrain_from_memory: bool = False) -> int:
        """Forget samples by their ids, in the base and in each model that began from it; how many there were in all.

        The next ``save`` leaves nothing of the state before.
        """
        models = [self.base, *map(self.model, self.keys)]
        count = sum(model.forget(list(ids), retrain_from_memory) for model in models)
        if retrain_from_memory:
            self._classes = list(dict.fromkeys(name for model in models for name in model.classes))
        return count

    def close(self) -> None:
        """End the actors, if there are any."""
        if self._ray is not None:
            end_ray(self._ray, self.began_ray, self._crews)

    def _source(self, source: Any) -> Source:
        return source if hasattr(source, "blocks") else source_of(source, self.schema.label, PREDICT_ROWS)

    @property
    def _wanted(self) -> Mapping[str, bool]:
        return {**self.schema.wanted, self.per: False}

    def _labels(self, records: Records) -> list[str | None]:
        return [name_of(label) for label in records.columns.get(self.schema.label, [None] * len(records.at))]

    def _keys_of(self, records: Records) -> list[str]:
        """The key of each row; a missing one is the empty text."""
        return [name_of(value) or "" for value in records.columns.get(self.per, [None] * len(records.at))]

    def _parts(self, keys: Sequence[str], rows: Sequence[int]) -> dict[str, list[int]]:
        """The rows of each key; new keys are counted in while there is room."""
        parts: dict[str, list[int]] = {}
        for row in rows:
            parts.setdefault(keys[row], []).append(row)
        for key, own in parts.items():
            if key in self.keys or (key and len(self.keys) < self.most):
                self.keys[key] = self.keys.get(key, 0) + len(own)
        return parts

    def _answered(self, records: Records, odd: Odd, keep: Sequence[str]) -> AnsweredRecords:
        parsed, keys = self.base.encoder.parse(records), self._keys_of(records)
        parts: dict[str, list[int]] = {}
        for row, key in enumerate(keys):
            parts.setdefault(key if key in self.keys else "", []).append(row)
        shares = np.zeros((len(parsed), len(self.classes)))
        place = {name: column for column, name in enumerate(self.classes)}
        found = self._call("answer", {key: parsed.take(np.array(at)) for key, at in parts.items() if key})
        if "" in parts:
            others = self.base.rows(parsed.take(np.array(parts[""])), odd)
            found[""] = (self.base.classes, self.base.classifier.predict_proba(others))
        for key, (classes, probabilities) in found.items():
            shares[np.ix_(parts[key], [place[name] for name in classes])] = probabilities
        ids = None if self.schema.id is None else list(records.columns.get(self.schema.id, [None] * len(parsed)))
        kept = {name: list(records.columns.get(name, [None] * len(parsed))) for name in keep}
        return AnsweredRecords(records, list(parsed.labels), ids, kept, self.classes, shares)

    def _crew(self, key: str) -> int:
        return crc32(key.encode()) % len(self._crews)

    def _call(self, what: str, rows: Keyed) -> dict[str, Any]:
        """Ask each crew about its keys, all at once."""
        shares: dict[int, dict[str, Parsed]] = {}
        for key, own in rows.items():
            shares.setdefault(self._crew(key), {})[key] = own
        if self._ray is None:
            answers = [getattr(self._crews[crew], what)(own) for crew, own in shares.items()]
        else:
            answers = self._ray.get([getattr(self._crews[crew], what).remote(own) for crew, own in shares.items()])
        return {key: value for answer in answers if answer is not None for key, value in answer.items()}

    def _all(self, what: str, *arguments: Any) -> None:
        if self._ray is None:
            for crew in self._crews:
                getattr(crew, what)(*arguments)
        else:
            self._ray.get([getattr(crew, what).remote(*arguments) for crew in self._crews])

    def _got(self, crew: int, what: str, *arguments: Any) -> Any:
        return self._ray.get(getattr(self._crews[crew], what).remote(*arguments))


def train_fleet(
    source: Any,
    per: str,
    label: str | None = None,
    *,
    engine: str = "local",
    address: str | None = None,
    workers: int = 1,
    memory: str | int = "100kB",
    most_keys: int = MOST_KEYS,
    base_rows: int = BASE_ROWS,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    columns: Mapping[str, str] | None = None,
    id: str | None = None,  # noqa: A002
    schema: ColumnSchema | None = None,
    width: int = USUAL_WIDTH,
    **settings: Any,
) -> Fleet:
    """Learn one stream by a model for each value of a column.

    Parameters
    ----------
    source, label, columns, id, schema, width
        As of ``train_stream``.
    per
        The column.
    engine
        ``"local"``: all models are in this process; ``"ray"``: in actors.
    address
        The Ray cluster; without one, Ray is begun on this machine.
    workers
        The number of actors.
    memory
        The size of the memory of each model. Beside it a model of a table takes about 5 MB.
    most_keys
        The number of values that get a model at most; the rows of later ones are learned by the base.
    base_rows
        The rows that the base learns first, whatever their key: new keys begin from it.
    out
        A folder in which the fleet is saved in the end.
    resume
        Whether a fleet in ``out`` is gone on with, after the rows that were read.
    settings
        Those of a ``SmartClassifier``.

    Examples
    --------
    >>> rows = [{"city": "Rome", "warm": warm, "label": warm > 3} for warm in range(8)] * 40
    >>> train_fleet(rows, "city", "label", memory="5kB", random_state=0, base_rows=200).keys
    {'Rome': 120}
    """
    if engine not in ("local", "ray"):
        raise ValueError(f"engine must be local or ray, got {engine!r}")
    if out is not None and (Path(out) / PAGE).is_file():
        if not resume:
            raise ValueError(f"{out} holds a fleet: add --resume to go on with it, or name another folder")
        fleet = Fleet.load(out)
        fleet.learn(source)
        fleet.flush()
        fleet.save(out)
        return fleet
    classifier = SmartClassifier(memory, **settings)
    given = source if hasattr(source, "blocks") else source_of(source, label or "label", classifier.batch_size)
    blocks, records = given.blocks({}), None
    if schema is None:
        first, records = first_rows(blocks, FIRST_ROWS)
        if not len(records.at):
            raise ValueError(f"there are no rows to learn in {', '.join(given.inputs)}")
        if per not in records.columns:
            raise ValueError(f"per must be a column: there is no {per!r} among {', '.join(records.columns)}")
        schema = recognised(records, Told(label or "label", id, columns or {}, width))
        blocks = chain(first, blocks)
    encoder = RowEncoder(schema)
    if records is not None:
        encoder.take_names(records)
    base = TableModel(classifier, encoder)
    for step in islice(steps(blocks, base.encoder, classifier.batch_size), -(-base_rows // classifier.batch_size)):
        base.learn(step)
    if not base.progress.rows:
        raise ValueError(f"no row could be learned in {', '.join(given.inputs)}")
    base.catch_up()
    seed = settings.get("random_state")
    number = seed if isinstance(seed, int) else 0
    if engine == "local":
        fleet = Fleet(per, base, [Crew(base, number)], most=most_keys)
    else:
        ray, began = begin_ray(workers, address)
        kind = ray.remote(num_cpus=1)(Crew)
        fleet = Fleet(per, base, [kind.remote(base, number) for _ in range(workers)], ray, most_keys)
        fleet.began_ray = began
    fleet.learn(given)
    fleet.flush()
    if out is not None:
        fleet.save(out)
    return fleet


def folder_name(key: str) -> str:
    """A key as the name of a folder; a long one by its beginning and its hash.

    >>> folder_name("New York/JFK"), folder_name("..")
    ('New%20York%2FJFK', '%2E%2E')
    """
    name = quote(key, safe="").replace(".", "%2E")
    return name if len(name) <= 100 else f"{name[:80]}-{crc32(key.encode()):08x}"


def is_fleet(folder: Path) -> bool:
    """Whether a folder holds a fleet."""
    return (folder / PAGE).is_file()


def forget_in_fleet(folder: Path, ids: Sequence[str], retrain: bool, trust: Sequence[str] = ()) -> dict[str, Any]:
    """Forget samples of all models of a saved fleet; no file holds them any more."""
    fleet = Fleet.load(folder, trust)
    forgotten = fleet.forget(ids, retrain)
    fleet.save(folder)
    held = sum(len(model.classifier.memory_) for model in (fleet.base, *map(fleet.model, fleet.keys)))
    return {"asked": len(ids), "forgotten": forgotten, "held": held}


def _page(folder: Path) -> Saved:
    try:
        return Saved(json.loads((folder / PAGE).read_text()), PAGE)
    except ValueError as error:
        raise ValueError(f"{folder / PAGE}: {error}") from None
