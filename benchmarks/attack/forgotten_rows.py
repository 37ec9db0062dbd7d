"""Forgetting, by pairs: a model that forgot some rows, and one that never saw them.

Each pair is a way into the library, a method, a kind of ids and what is asked for. With retraining, the folder of a
classifier of arrays is the same to the byte; of everything else, nothing of the rows is found in any file: neither
their values nor their texts, names or classes. Without retraining, the values and texts are gone too; what may stay is
named in ``docs/howto/forgetting.md``.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from scipy import sparse

from benchmarks.attack.trained_folders import called
from benchmarks.attack.tries import NEVER, SURVIVED, FaultError, Findings, run, scratch
from smartcl import SmartClassifier, TableModel, merge, shard_of, train_stream
from smartcl.extend import METHODS
from smartcl.learners.methods import find_method
from smartcl.serve.bodies import Item
from smartcl.serve.limits import Keeping, Limits
from smartcl.serve.model_plan import ModelPlan
from smartcl.serve.served_model import ServedModel

ROWS, GONE = 90, 5
#: Texts that only rows to forget have: a name, a word, a class.
TEXTS = ("Secretville", "confidential", "unheard-of")
QUICK: dict[str, Any] = {"hidden": (4,), "iterations": 1}
#: By name: what stands for the row of a number.
IDS: dict[str, Callable[[int], Any]] = {
    "numbers": lambda n: n,
    "texts": lambda n: f"user {n}",
    "19 digits": lambda n: 1_234_567_890_123_456_789 + n,
    "above int64": lambda n: 2**63 + n,
    "negative": lambda n: -1 - n,
    "floats": lambda n: n + 0.5,
    "bytes": lambda n: b"\xff%d" % n,
    "dates": lambda n: date(2020, 1, 1) + timedelta(n),
    "uuids": lambda n: UUID(int=n**5 + 7),
    "mixed": lambda n: (n, f"user {n}", -n - 1, 2**63 + n)[n % 4],
}
#: Methods without a memory have nothing to forget from; some keep one sample of a cluster, whichever all rows chose.
NO_MEMORY = ("l2", "ewc", "ewc-online", "si", "mas", "ncc", "finetune")
CLUSTERING = ("gss-clust", "fss-clust")
REMEMBERING = [name for name in METHODS if not find_method(name).task_aware and name not in NO_MEMORY]


@dataclass(frozen=True)
class Pair:
    """What is compared: the way in, the method, the kind of ids, and whether the weights begin anew."""

    door: str
    method: str
    ids: str
    retrain: bool = True

    def __str__(self) -> str:
        return f"{self.door}, {self.method}, {self.ids}, {'retrained' if self.retrain else 'as it is'}"


@dataclass(frozen=True)
class Rows:
    """Rows of an array or a table, and which of them are to be forgotten."""

    x: np.ndarray[Any, Any]
    labels: list[str]
    ids: list[Any]
    gone: np.ndarray[Any, Any]

    @classmethod
    def drawn(cls, rng: np.random.Generator, ids: str) -> Rows:
        gone = np.sort(rng.permutation(ROWS)[:GONE])
        labels = rng.choice(["a", "b", "c"], ROWS).tolist()
        labels[gone[0]] = TEXTS[2]
        return cls(rng.normal(size=(ROWS, 4)), labels, [IDS[ids](n) for n in range(ROWS)], gone)

    def places(self, saw: bool) -> list[int]:
        """The rows that are learned."""
        return [n for n in range(ROWS) if saw or n not in set(self.gone.tolist())]

    def records(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """The rows as records of a table: numbers, names, texts, days, and the id as a text."""
        gone = set(self.gone.tolist())
        return [
            {
                "nr": as_text(self.ids[n]),
                "size": float(self.x[n, 0]),
                "weight": None if n % 9 == 4 else float(self.x[n, 1]),
                "town": TEXTS[0] if n in gone else ("Rome", "Oslo")[n % 2],
                "note": f"{f'{TEXTS[1]}{n}' if n in gone else 'usual'} words number {n % 30} of many",
                "day": f"2024-{1 + n % 12:02d}-{1 + n % 28:02d}",
                "y": self.labels[n],
            }
            for n in places
        ]

    def needles(self, texts: Sequence[str]) -> list[bytes]:
        """How the rows to forget may be found in a file: two values beside each other, one value in digits, texts."""
        values = self.x[self.gone]
        pairs = [row[:2].astype(kind).tobytes() for row in values for kind in (np.float32, np.float64)]
        digits = [repr(float(value)).encode() for value in values[:, 0]]
        return [*pairs, *digits, *(text.encode() for text in texts)]


def as_text(known: Any) -> str:
    """An id as a file has it."""
    return known.decode("latin-1") if isinstance(known, bytes) else str(known)


def pairs() -> list[Pair]:
    """Every method with every kind of ids on arrays, and each other way in with the default and with ``smart``."""
    arrays = [Pair("arrays", method, ids) for method, ids in product(REMEMBERING, IDS)]
    kinds = ("sparse", "gaps", "weights", "classes", "one by one", "waiting", "frames", "table", "delay", "resumed")
    ways = list(product(kinds, ("adaptive", "smart"), ("numbers", "texts", "19 digits")))
    others = [Pair(door, method, ids, retrain) for retrain in (True, False) for door, method, ids in ways]
    kept = [Pair("arrays", method, "mixed", False) for method in REMEMBERING]
    apart = [
        Pair(door, "adaptive", ids, retrain)
        for door, ids, retrain in product(("service", "merged", "merged tables"), ("numbers", "texts"), (True, False))
    ]
    return [*apart, *others, *kept, *arrays]


def attack(tries: int, *, seed: int = 0, until: float = NEVER) -> Findings:
    """So many pairs, in an order that the seed shuffles; those of all ways in come first."""
    every = pairs()
    order = np.random.default_rng(seed).permutation(len(every))
    first = {(every[place].door, every[place].method): place for place in order[::-1]}
    chosen = dict.fromkeys([*first.values(), *order.tolist()])
    return run(partial(_attempt, seed), [every[place] for place in list(chosen)[:tries]], until=until)


def _attempt(seed: int, pair: Pair) -> str:
    warnings.simplefilter("ignore")
    rows = Rows.drawn(np.random.default_rng([seed, *map(ord, str(pair))]), pair.ids)
    with scratch() as root:
        for name, saw in (("saw", True), ("never", False)):
            DOORS[pair.door](pair, rows, rows.places(saw), Path(root) / name)
            _forget(pair, rows, Path(root) / name, saw)
        _nothing_left(pair, rows, Path(root) / "saw")
        if pair.retrain and pair.door in SAME and pair.method not in CLUSTERING:
            files = [(Path(root) / name / "model.json").read_bytes() for name in ("saw", "never")]
            if files[0] != files[1]:  # it has the checksum of all arrays
                raise FaultError("not the folder of a model that never saw the rows", _other(Path(root)))
    return SURVIVED


def _other(root: Path) -> str:
    """Where the two states differ first."""
    from benchmarks.attack.models import difference, fingerprint

    models = [SmartClassifier.load(root / name) for name in ("saw", "never")]
    return str(difference(*map(fingerprint, models)))


# --- the ways in: each leaves a folder ---------------------------------------


def _classifier(pair: Pair, **more: Any) -> SmartClassifier:
    known = METHODS[pair.method].parameters
    quick = {name: value for name, value in QUICK.items() if name in known}
    memory: Any = 10**7 if pair.method.startswith("joint") else "100kB"
    return SmartClassifier(memory, method=pair.method, random_state=3, batch_size=20, **quick, **more)


def _arrays(pair: Pair, rows: Rows, places: list[int], folder: Path) -> None:
    model, x = _classifier(pair), rows.x.astype(np.float32)
    if pair.door == "classes":
        model.class_weight = "balanced"
    if pair.door == "gaps":
        x[::7, 2] = np.nan
    cut = 1 if pair.door == "one by one" else 31
    for first in range(0, len(places), cut):
        part = places[first : first + cut]
        given: Any = sparse.csr_array(x[part]) if pair.door == "sparse" else x[part]
        weight = {"sample_weight": [1.0 + n % 3 for n in part]} if pair.door == "weights" else {}
        model.partial_fit(given, [rows.labels[n] for n in part], ids=[rows.ids[n] for n in part], **weight)
    if pair.door != "waiting":
        model.flush()
    model.save(folder)


def _frames(pair: Pair, rows: Rows, places: list[int], folder: Path) -> None:
    import pandas as pd

    model, frame = _classifier(pair), pd.DataFrame(rows.records(places)).drop(columns=["nr", "y"])
    for first in range(0, len(places), 40):
        part = slice(first, first + 40)
        labels, ids = ([values[n] for n in places[part]] for values in (rows.labels, rows.ids))
        model.partial_fit(frame[part], labels, ids=ids)
    model.save(folder)


def _table(pair: Pair, rows: Rows, places: list[int], folder: Path) -> None:
    settings = _classifier(pair).get_params()
    chosen = {name: settings[name] for name in ("memory", "method", "random_state", "batch_size", "hidden")}
    chosen["columns"] = {"note": "text"}
    delay = {"delay": 30} if pair.door == "delay" else {}
    records = rows.records(places)
    path = folder.with_suffix(".jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in records[:60]))
    train_stream(path, "y", id="nr", out=folder, checkpoint_rows=20, **delay, **chosen)
    if pair.door == "resumed":
        with path.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in records[60:])
        train_stream(path, out=folder, resume=True)


def _service(pair: Pair, rows: Rows, places: list[int], folder: Path) -> None:
    """A service that fell: with saved versions, rows in its journal, and predicted rows that wait."""
    _table(pair, rows, places, folder)
    with _served(folder, 1.0) as served:
        records = [(row, row.pop("y")) for row in rows.records(places)]
        for first in range(0, len(records), 30):
            part = records[first : first + 30]
            served.accept([Item(row, label, f"{row['nr']}, again") for row, label in part])
            served.sync()
            if first == 30:
                while served.learn_next() == 0.0:
                    pass
                served.save()
        served.predict([Item(row, None, f"{row['nr']}, asked") for row, _ in records])
        served.sync()


class _served:  # noqa: N801
    """A served model that ends as a kill would leave it."""

    def __init__(self, folder: Path, gather: float) -> None:
        keeping = Keeping(gather_seconds=gather)
        self.model = ServedModel(folder, ModelPlan(), Limits(), keeping, lambda _: None, lambda: None)

    def __enter__(self) -> ServedModel:
        return self.model

    def __exit__(self, *_: object) -> None:
        self.model.close(save=False)


def _merged(pair: Pair, rows: Rows, places: list[int], folder: Path) -> None:
    parts = [folder.with_name(f"{folder.name}-{k}") for k in range(2)]
    models: list[Any] = []
    base = None
    if pair.door == "merged tables":
        _table(pair, rows, places[:40], folder)
        base, records = TableModel.load(folder), rows.records(places[40:])
        for k, part in enumerate(parts):
            shard = TableModel.load(folder)
            shard.classifier = shard_of(shard.classifier, k + 1)
            shard.save(part)
            models.append(train_stream(records[k::2], out=part, resume=True))
    else:
        for k in range(2):
            model, own = _classifier(pair).set_params(random_state=k), places[k::2]
            ids, labels = [rows.ids[n] for n in own], [rows.labels[n] for n in own]
            models.append(model.partial_fit(rows.x[own].astype(np.float32), labels, ids=ids))
    merge(models, base=base).save(folder)


DOORS: dict[str, Callable[[Pair, Rows, list[int], Path], None]] = {
    **dict.fromkeys(("arrays", "sparse", "gaps", "weights", "classes", "one by one", "waiting"), _arrays),
    **{"frames": _frames, "table": _table, "delay": _table, "resumed": _table},
    **{"service": _service, "merged": _merged, "merged tables": _merged},
}
#: Ways in after which the two folders are the same to the byte.
SAME = ("arrays", "sparse", "weights", "classes", "one by one", "waiting")
TABLES = ("table", "delay", "resumed", "service", "merged tables")


# --- forgetting, and what is left --------------------------------------------


def _forget(pair: Pair, rows: Rows, folder: Path, saw: bool) -> None:
    gone = [rows.ids[n] for n in rows.gone]
    if pair.door in TABLES:
        listed = folder.with_suffix(".ids")
        listed.write_text("".join(as_text(known) + "\n" for known in gone))
        more = ["--retrain"] if pair.retrain else []
        code, out, said = called(["forget", str(folder), "--ids", str(listed), "--json", *more])
        if code:
            raise FaultError("forgetting failed", said[:200])
        count = json.loads(out)["forgotten"]
    else:
        model = SmartClassifier.load(folder)
        count = model.forget(gone, retrain_from_memory=pair.retrain)
        model.save(folder, only=True)
    if saw and not count:
        raise FaultError("nothing was forgotten", str(gone))
    if not saw and count:
        raise FaultError("rows were forgotten that never came", str(count))


def _nothing_left(pair: Pair, rows: Rows, folder: Path) -> None:
    """A fault if a file of the folder has something of a row, or the memory its id."""
    texts = TEXTS if pair.retrain else TEXTS[1:2]
    for path, needle in product(sorted(_files(folder)), rows.needles(texts)):
        if needle in path.read_bytes():
            raise FaultError("something of a forgotten row is left", f"{needle!r} in {path.relative_to(folder)}")
    model = TableModel.load(folder).classifier if pair.door in TABLES else SmartClassifier.load(folder)
    if model.forget([rows.ids[n] if pair.door not in TABLES else as_text(rows.ids[n]) for n in rows.gone]):
        raise FaultError("an id is still there")
    if pair.retrain and TEXTS[2] in model.classes_.tolist():
        raise FaultError("a class is left of which no sample is")


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())
