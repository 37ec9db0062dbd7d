"""Event files read back record by record, by a reader that shares nothing with the writer."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import pytest

from smartcl.cli.app import call
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.tensorboard import write_events

TINY = ["--dataset", "disjoint-digits", "--set", "iterations=1", "--set", "hidden=8", "--memory", "20 samples"]


def fields(message: bytes) -> dict[int, bytes | int]:
    """The last value of each field of a protocol buffer."""
    values: dict[int, bytes | int] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        number, kind = divmod(varint(), 8)
        if kind == 0:
            values[number] = varint()
            continue
        size = {1: 8, 5: 4}[kind] if kind != 2 else varint()
        values[number], at = message[at : at + size], at + size
    return values


def checksum(data: bytes) -> int:
    """CRC-32C, bit by bit, masked as record files do."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def read_back(path: Path) -> dict[str, dict[int, float]]:
    """Every scalar by tag and step."""
    scalars: dict[str, dict[int, float]] = {}
    data, at = path.read_bytes(), 0
    while at < len(data):
        length = struct.unpack_from("<Q", data, at)[0]
        body = data[at + 12 : at + 12 + length]
        assert struct.unpack_from("<I", data, at + 8)[0] == checksum(data[at : at + 8])
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == checksum(body)
        at += 16 + length
        event = fields(body)  # 2 step, 3 file version, 5 summary
        if 5 in event:
            value = fields(fields(event[5])[1])  # 1 tag, 2 simple value
            scalars.setdefault(value[1].decode(), {})[event.get(2, 0)] = struct.unpack("<f", value[2])[0]
        else:
            assert event[3] == b"brain.Event:2"
    return scalars


@pytest.fixture
def run(tmp_path, capsys):
    assert call(["run", *TINY, "--json", "--tensorboard", str(tmp_path)]) == 0
    return json.loads(capsys.readouterr().out), tmp_path


def test_the_event_file_holds_the_run(run):
    result, folder = run
    (path,) = folder.rglob("events.out.tfevents.*")
    scalars = read_back(path)
    matrix, memory = result["accuracy_matrix"], result["memory_history"]
    assert list(scalars["accuracy/task_2"]) == [1, 2, 3, 4, 5]
    assert list(scalars["accuracy/task_2"].values()) == pytest.approx([row[1] for row in matrix])
    assert scalars["accuracy/mean_of_tasks_seen"][2] == pytest.approx((matrix[1][0] + matrix[1][1]) / 2)
    for name in ("samples", "bytes", "features", "purity"):
        assert scalars[f"memory/{name}"] == pytest.approx(dict(zip(memory["batches"], memory[name], strict=True)))
    cosines = result["constraint_history"]
    assert scalars["constraint/cosine"] == pytest.approx(dict(zip(cosines["batches"], cosines["cosine"], strict=True)))


def test_writing_again_leaves_one_file(run):
    result, folder = run
    write_events(result, folder)
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 1


def test_what_is_not_there_is_left_out(run):
    result, folder = run
    write_events({**result, "constraint_history": {"batches": [1, 2], "cosine": [None, 0.5]}}, folder / "other")
    (path,) = (folder / "other").rglob("events.out.tfevents.*")
    assert read_back(path)["constraint/cosine"] == {2: 0.5}


def test_a_missing_package_is_one_line_before_the_run(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    monkeypatch.setattr("smartcl.learners.learner.Learner.observe", lambda *_: pytest.fail("trained"))
    assert call(["run", *TINY, "--tensorboard", str(tmp_path)]) == 1
    assert "pip install 'smartcl[tensorboard]'" in capsys.readouterr().err


def test_a_table_writes_one_event_file_for_each_run_that_is_there(run, tmp_path, capsys, monkeypatch):
    """No run is made: only the one whose result file is there has an event file."""
    monkeypatch.setattr("smartcl.paper.commands.reproduce.missing", lambda *_: [])
    result, _ = run
    spec = TABLES["table1"].specs(1)[0]
    ResultFolder(tmp_path / "results").save(spec, {**result, "spec": spec.as_dict()})
    where = ["--results", str(tmp_path / "results"), "--tensorboard", str(tmp_path / "events")]
    assert call(["reproduce", "table1", "--json", *where]) == 0
    assert "event files of 1 run below" in capsys.readouterr().err
    (path,) = (tmp_path / "events").rglob("events.out.tfevents.*")
    assert read_back(path)["accuracy/task_1"][1] == pytest.approx(result["accuracy_matrix"][0][0], abs=0.05)


def test_showing_writes_no_event_files(tmp_path, capsys):
    where = ["--results", str(tmp_path / "results"), "--tensorboard", str(tmp_path / "events")]
    assert call(["reproduce", "table1", "--show", *where]) == 2
    assert "--show writes nothing: 'smartcl report --tensorboard'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
