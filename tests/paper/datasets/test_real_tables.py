"""Real tables with raw columns: what is read of a package's files, what is kept, and whose labels are learned."""

from __future__ import annotations

import hashlib
import io
import lzma
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smartcl.paper.datasets import real_tables
from smartcl.paper.datasets.downloads import FetchError
from smartcl.paper.datasets.real_tables import TABLE_FILES, RealTable, load_real_table
from smartcl.paper.datasets.real_tasks import LABELS, RealTask, is_real_task

BANK = b'"age";"job";"duration";"y"\n41;"services";261;"no"\n25;"student";99;"yes"\n'
COMMENTS = b"rev_id\tcomment\n9.0\tlater\n4.0\tfirst\n"
MARKS = b"rev_id\tworker_id\ttoxicity\n9.0\t3\t1\n4.0\t7\t0\n4.0\t3\t0\n9.0\t7\t1\n9.0\t5\t0\n4.0\t5\t1\n"


def pickled(**columns: object) -> bytes:
    return lzma.compress(pickle.dumps(pd.DataFrame(columns)))


def parquet(**columns: object) -> bytes:
    out = io.BytesIO()
    pd.DataFrame(columns).to_parquet(out)
    return out.getvalue()


@pytest.fixture
def published(monkeypatch, tmp_path):
    """``published(name, **files)`` has the packages of a table hold these bytes."""
    monkeypatch.setenv("SMARTCL_DATA", str(tmp_path))

    def publish(name, **files):
        known = {
            part: replace(
                TABLE_FILES[name].files[part],
                sha256=hashlib.sha256(data).hexdigest(),
                bring=lambda package, member, folder, data=data: data,
            )
            for part, data in files.items()
        }
        monkeypatch.setitem(TABLE_FILES, name, replace(TABLE_FILES[name], files=known))

    return publish


def test_calls_of_a_bank_leave_out_what_is_known_only_after_them(published):
    published("bank", calls=BANK)
    table = load_real_table("bank")
    assert table.rows(5) == [{"age": 41.0, "job": "services"}, {"age": 25.0, "job": "student"}]
    assert table.y.tolist() == [0, 1]


def test_comments_stand_in_the_order_they_were_written_with_all_answers(published):
    published("toxicity", comments=COMMENTS, annotations=MARKS)
    table = load_real_table("toxicity")
    assert [row["comment"] for row in table.rows(2)] == ["first", "later"]
    assert table.y.tolist() == [0, 1]
    assert table.marks is not None
    assert sorted(map(tuple, table.marks.tolist())) == [
        (0, 3, 0),
        (0, 5, 1),
        (0, 7, 0),
        (1, 3, 1),
        (1, 5, 0),
        (1, 7, 1),
    ]


def test_flights_are_joined_in_the_order_of_their_schedule(published):
    flights = pickled(
        year=[2013] * 3,
        month=[1, 1, 1],
        day=[2, 1, 1],
        sched_dep_time=[600, 800, 700],
        sched_arr_time=[700, 900, 800],
        arr_delay=[15.0, 14.0, np.nan],
        tailnum=["N1", "N2", "N3"],
        origin=["JFK"] * 3,
        distance=[100, 200, 300],
        time_hour=["a", "b", "b"],
        dest=["XX"] * 3,
        carrier=["XX"] * 3,
    )
    names = ("temp", "dewp", "humid", "wind_dir", "wind_speed", "precip", "pressure", "visib")
    gone = {name: [1] for name in ("rownames", "year", "month", "day", "hour")}
    weather = pickled(origin=["JFK"], time_hour=["b"], **{name: [5.0] for name in names}, **gone)
    planes = pickled(tailnum=["N1"], year=[1999], manufacturer=["BOEING"], seats=[99], engine=["Turbo-fan"])
    published("flights-joined", flights=flights, weather=weather, planes=planes)
    first, second = load_real_table("flights-joined").rows(9)
    assert (first["tailnum"], first["temp"], "built" in first) == ("N2", 5.0, False)
    assert (second["tailnum"], second["built"], "temp" in second) == ("N1", 1999.0, False)
    assert load_real_table("flights-joined").y.tolist() == [0, 1]


def test_employment_is_one_stream_of_codes(published):
    people = {"id": [0], "AGEP": [62.0], "SCHL": ["16"], "year": [2015]}
    later = {**people, "id": [1], "year": [2016], "prediction": [1], "predicted_probability": [0.9]}
    guesses = {"prediction": [0], "predicted_probability": [0.1]}
    labels = parquet(id=[1], employed=[1])
    published("employment", first=parquet(**people, employed=[0], **guesses), later=parquet(**later), labels=labels)
    table = load_real_table("employment")
    assert table.rows(9)[1] == {"AGEP": 62.0, "SCHL": "16", "year": 2016.0}
    assert table.y.tolist() == [0, 1]


def test_departures_are_cut_and_in_order(published, monkeypatch):
    monkeypatch.setattr(real_tables, "MOST_ROWS", 2)
    dates = pd.to_datetime(["2001-01-02 07:05", "2001-01-01 06:30", "2001-01-03 00:00"])
    data = parquet(date=dates, delay=[20, 3, 4], distance=[1, 2, 3], origin=list("ABC"), destination=list("XYZ"))
    published("flights-2001", flights=data)
    table = load_real_table("flights-2001")
    first = {
        "day": 1.0,
        "weekday": 0.0,
        "hour": 6.0,
        "minute": 30.0,
        "distance": 2.0,
        "origin": "B",
        "destination": "Y",
    }
    assert table.rows(1) == [first]
    assert table.y.tolist() == [0, 1]


def test_a_table_is_kept_and_a_damaged_or_an_older_one_is_made_again(published, monkeypatch, tmp_path):
    published("toxicity", comments=COMMENTS, annotations=MARKS)
    made = load_real_table("toxicity")
    [path] = tmp_path.rglob("*.npz")
    monkeypatch.setattr(real_tables, "checked_bytes", None)
    kept = load_real_table("toxicity")
    assert (kept.columns, kept.classes, kept.source) == (made.columns, made.classes, made.source)
    assert np.array_equal(kept.marks, made.marks)
    monkeypatch.undo()
    monkeypatch.setenv("SMARTCL_DATA", str(tmp_path))
    published("toxicity", comments=COMMENTS.replace(b"later", b"other"), annotations=MARKS)
    with pytest.warns(UserWarning, match="it was made from"):
        assert load_real_table("toxicity").rows(2)[1] == {"comment": "other"}
    path.write_bytes(path.read_bytes()[:100])
    with pytest.warns(UserWarning, match="cannot be used"):
        load_real_table("toxicity")


def test_a_file_of_another_digest_is_refused(published, monkeypatch):
    published("bank", calls=BANK)
    known = TABLE_FILES["bank"]
    other = replace(known.files["calls"], sha256="0" * 64)
    monkeypatch.setitem(TABLE_FILES, "bank", replace(known, files={"calls": other}))
    with pytest.raises(FetchError, match="is not the known file: expected SHA-256 0000"):
        load_real_table("bank")


# --- tasks -------------------------------------------------------------------


def test_names_of_tasks_say_all_of_them():
    for name in ("elec-by-1", "flights-2001-by-50-first-200", "toxicity.by-annotator-by-50", "bank-by-1-first-7"):
        assert RealTask.parse(name).name == name
    assert RealTask.parse("bank-by-50-first-10000").name == "bank-by-50", "the rows that are learned anyway"
    assert not any(map(is_real_task, ("elec", "elec-by-", "iris-by-1", "toxicity.kind-by-1", "disjoint-mnist")))


@pytest.fixture
def annotated(monkeypatch):
    """4,000 rows of five answers each: one annotator of ten is wrong half the time, rare rows are hard."""
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.2).astype(np.int64)
    who = np.argsort(rng.random((4000, 10)), axis=1)[:, :5]
    wrong = rng.random((4000, 5)) < np.where(who == 0, 0.5, 0.05 + 0.2 * y[:, None])
    marks = np.stack([np.repeat(np.arange(4000), 5), who.ravel(), (y[:, None] ^ wrong).ravel()], axis=1)
    table = RealTable({"x": np.zeros(4000)}, y, ("no", "yes"), "made", marks.astype(np.int64))
    monkeypatch.setattr("smartcl.paper.datasets.real_tasks.load_real_table", lambda name, folder: table)
    return table, marks, wrong


def test_labels_are_wrong_as_often_as_annotators_are(annotated):
    table, marks, wrong = annotated
    taught = {labels: RealTask("toxicity", 50, 3000, labels).load(1).taught for labels in LABELS}
    truth, missed = table.y[:3000], {name: labels != table.y[:3000] for name, labels in taught.items()}
    rate = wrong[:3000].mean()
    for name, each in missed.items():
        assert each.mean() == pytest.approx(rate, abs=0.025), name
    said = {(row, label) for row, _, label in marks.tolist()}
    assert all((row, label) in said for row, label in enumerate(taught["one-annotator"].tolist()))
    by_class = [wrong[:3000][truth == label].mean() for label in (0, 1)]
    assert by_class[1] - by_class[0] > 0.1
    for name in ("one-annotator", "by-class"):
        assert [missed[name][truth == label].mean() for label in (0, 1)] == pytest.approx(by_class, abs=0.05), name
    assert abs(missed["symmetric"][truth == 1].mean() - missed["symmetric"][truth == 0].mean()) < 0.05
    assert not np.array_equal(taught["one-annotator"], RealTask("toxicity", 50, 3000, "one-annotator").load(2).taught)


def test_a_stream_without_annotators_has_no_such_labels(published):
    published("bank", calls=BANK)
    with pytest.raises(ValueError, match="has no annotators"):
        RealTask("bank", 50, 2, "one-annotator").load(0)
