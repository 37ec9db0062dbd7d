"""``smartcl train`` and what reads its folder: predict, evaluate, inspect, watch, forget."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from files.made_tables import QUICK_OPTIONS, csv_text, mixed_rows, text_rows, write_csv
from smartcl import SmartClassifier, TableModel
from smartcl.cli.app import call

SMARTCL = [sys.executable, "-m", "smartcl"]
#: Goes on as the command in its arguments, which can write no file of more bytes than this.
LIMITED = "import os, resource as r, sys; r.setrlimit(r.RLIMIT_FSIZE, ({0}, {0})); os.execv(sys.argv[1], sys.argv[1:])"


@pytest.fixture
def trained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A model of 400 mixed rows."""
    path = write_csv(tmp_path / "rows.csv", mixed_rows(400))
    out = tmp_path / "model"
    assert call(["train", str(path), "--label", "kind", "--id", "id", "--out", str(out), *QUICK_OPTIONS]) == 0
    capsys.readouterr()
    return out


def test_three_commands_and_no_option_but_the_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "mail.csv", text_rows(400))
    assert call(["train", "mail.csv", "--label", "label"]) == 0
    said = capsys.readouterr().out
    assert "400 rows of 1 column (13 features), 2 classes\n" in said
    assert "always the commonest 5" in said
    assert "saved: model" in said
    assert call(["predict", "model", "mail.csv"]) == 0
    predictions = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["row"] for row in predictions] == [str(number) for number in range(1, 401)]
    labels = [row["label"] for row in text_rows(400)]
    assert sum(a["prediction"] == b for a, b in zip(predictions, labels, strict=True)) > 390
    assert call(["inspect", "model"]) == 0
    said = capsys.readouterr().out
    assert "400 rows learned, 2 classes" in said
    strongest = next(line for line in said.splitlines() if line.startswith("words of message that lean most: "))
    assert {"free", "prize", "lunch", "home", "cash", "meeting"} & set(strongest.split(": ")[1].split(", ")[:10])


def test_with_one_class_no_feature_is_said_to_matter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "rows.csv", tmp_path / "model"
    path.write_text("a,b,kind\n1,2,p\n3,4,p\n5,1,p\n")
    assert call(["train", str(path), "--label", "kind", "--out", str(out)]) == 0
    assert call(["inspect", str(out)]) == 0
    assert "hang on" not in capsys.readouterr().out


def test_predictions_keep_step_with_the_input(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "id,size,colour,sold,day\nx,1.5,red,True,2024-01-01\nbroken,1\ny,-2,pink,False,\n"
    (tmp_path / "new.csv").write_text(text)
    assert call(["predict", str(trained), str(tmp_path / "new.csv"), "--proba"]) == 0
    found = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(found.out)))
    assert [(row["id"], row["prediction"]) for row in rows] == [("x", "big"), ("", ""), ("y", "small")]
    assert all(abs(float(row["p(big)"]) + float(row["p(small)"]) - 1) < 1e-4 for row in (rows[0], rows[2]))
    assert "1 record could not be read" in found.err
    assert (
        call(["predict", str(trained), str(tmp_path / "new.csv"), "--jsonl", "--out", str(tmp_path / "p.jsonl")]) == 0
    )
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [line["prediction"] for line in lines] == ["big", None, "small"]


def test_evaluate_leaves_the_model_as_it_is(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new, page = write_csv(tmp_path / "new.csv", mixed_rows(200, seed=1)), tmp_path / "page.html"
    before = (trained / "model.json").read_bytes()
    assert call(["evaluate", str(trained), str(new), "--json", "--html", str(page)]) == 0
    moving = json.loads(capsys.readouterr().out)
    assert call(["evaluate", str(trained), str(new), "--json", "--frozen"]) == 0
    frozen = json.loads(capsys.readouterr().out)
    assert (trained / "model.json").read_bytes() == before
    said = [row["prediction"] for row in predicted(trained, new, capsys)]
    labels = [row["kind"] for row in mixed_rows(200, seed=1)]
    assert frozen["accuracy"] == sum(a == b for a, b in zip(said, labels, strict=True)) / 200
    assert frozen["rows"] == moving["rows"] == 200
    assert moving["log_loss"] != frozen["log_loss"]
    confusion = {(cell["label"], cell["prediction"]): cell["rows"] for cell in frozen["confusion"]}
    assert confusion["big", "big"] == sum(a == b == "big" for a, b in zip(said, labels, strict=True))
    assert "<svg" in page.read_text()
    assert call(["evaluate", str(trained), str(new)]) == 0
    assert "Accuracy over time" in capsys.readouterr().out


def predicted(model: Path, path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    assert call(["predict", str(model), str(path)]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_inspect_says_what_was_met_on_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"a": number / 100, "b": "red", "kind": "x" if number % 2 else "y"} for number in range(1000)]
    first = write_csv(tmp_path / "a.csv", rows)
    second = tmp_path / "b.csv"
    second.write_text("a,c,kind\n1,2,x\nfar,2,z\n,2,x\n5,6\n7,8,\n")
    out = tmp_path / "model"
    assert call(["train", str(first), str(second), "--label", "kind", "--out", str(out), *QUICK_OPTIONS]) == 0
    capsys.readouterr()
    assert call(["inspect", str(out), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    passed = result["passed_over"]
    assert result["rows"] == 1003
    assert passed["skipped"] == {"fewer fields than the header": 1, "no label": 1}
    assert passed["missing"] == {"a": 1, "b": 3}
    assert passed["unreadable"] == {"a": 1}
    assert passed["columns_not_in_the_schema"] == {"c": 1000}
    assert passed["classes_first_seen_later"] == {"z": 1000}
    assert sum(result["held_by_class"].values()) == result["samples_held"]
    assert call(["inspect", str(out)]) == 0
    assert "skipped rows: fewer fields than the header: 1, no label: 1" in capsys.readouterr().out


def test_ages_are_those_of_the_ids(tmp_path: Path) -> None:
    rows = [{"nr": number, "a": round(number % 13 + number / 7, 2), "kind": "xy"[number % 2]} for number in range(1500)]
    path, out = write_csv(tmp_path / "rows.csv", rows), tmp_path / "model"
    options = ["--label", "kind", "--id", "nr", "--memory", "3kB", "--out", str(out), *QUICK_OPTIONS]
    assert call(["train", str(path), *options]) == 0
    model = TableModel.load(out)
    arrived = model.classifier.memory_.store.extra["id"]
    assert 0 < len(arrived) < 1500
    assert model.ages.held is not None
    counts = np.bincount(arrived // model.ages.band, minlength=len(model.ages.held))
    assert counts.tolist() == list(model.ages.held)


def test_a_schema_can_be_changed_and_given(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = json.loads((trained / "schema.json").read_text())
    kinds = {column["name"]: column["kind"] for column in schema["columns"]}
    assert kinds == {"size": "number", "colour": "category", "sold": "truth", "day": "date"}
    schema["columns"] = [column for column in schema["columns"] if column["name"] != "day"]
    (tmp_path / "mine.json").write_text(json.dumps(schema))
    path, out = tmp_path / "rows.csv", tmp_path / "other"
    options = ["--out", str(out), "--schema", str(tmp_path / "mine.json"), *QUICK_OPTIONS]
    assert call(["train", str(path), *options]) == 0
    assert [column.name for column in TableModel.load(out).schema.used] == ["size", "colour", "sold"]
    (tmp_path / "mine.json").write_text('{"label": 3}')
    assert call(["train", str(path), *options, "--overwrite"]) == 2
    assert "mine.json is not a schema of columns" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.csv", "--label", "kind"], "there is no file nowhere.csv"),
        (["rows.csv", "--label", "size2"], "there is no label 'size2' among the columns: 'id', 'size'"),
        (["rows.csv"], "name the column of the label: there are 'id', 'size'"),
        (["rows.csv", "--label", "kind", "--memory", "3 B"], "memory must hold at least one sample"),
        (["rows.csv", "--label", "kind", "--set", "nothing=1"], "nothing"),
        (["empty.csv", "--label", "kind"], "empty.csv is empty"),
        (["head.csv", "--label", "kind"], "there are no rows to learn"),
        (["rows.csv", "--label", "kind", "--format", "xml"], "format must be one of csv, jsonl, parquet, libsvm"),
        (["twice.csv", "--label", "kind"], "twice.csv has more than one column 'a'"),
        (["rows.csv", "--label", "kind", "--out", "rows.csv"], "must be a folder, but is a file"),
    ],
)
def test_what_cannot_be_is_one_line(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "rows.csv", mixed_rows(60))
    for name, text in (("empty", ""), ("head", "a,kind\n"), ("twice", "a,a,kind\n1,2,x\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    assert call(["train", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "model" / "model.json").exists()


def test_a_model_is_not_replaced_unasked(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [str(tmp_path / "rows.csv"), "--label", "kind", "--out", str(trained), *QUICK_OPTIONS]
    assert call(["train", *options]) == 2
    assert "holds a model: add --resume to go on with it, --overwrite to replace it" in capsys.readouterr().err
    assert call(["train", *options, "--resume", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 400
    assert call(["train", *options, "--overwrite"]) == 0


def test_stdin_is_read_as_it_comes(tmp_path: Path) -> None:
    out = tmp_path / "model"
    command = [*SMARTCL, "train", "-", "--label", "kind", "--out", str(out), *QUICK_OPTIONS, "--json"]
    done = subprocess.run(command, input=csv_text(mixed_rows(120)), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["rows"] == 120
    command.append("--resume")
    done = subprocess.run(command, input=csv_text(mixed_rows(70, seed=1)), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["rows"] == 190


def test_follow_learns_what_is_appended_and_ctrl_c_saves_it(tmp_path: Path) -> None:
    rows, out = mixed_rows(300), tmp_path / "model"
    path = write_csv(tmp_path / "rows.csv", rows[:100])
    command = [*SMARTCL, "train", str(path), "--label", "kind", "--out", str(out), "--follow", *QUICK_OPTIONS]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: rows_in(out) >= 50)
        with path.open("a") as file:
            file.write(csv_text(rows[100:]).partition("\n")[2])
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    learned = TableModel.load(out).progress.rows
    assert learned == 300
    assert f"smartcl: interrupted after 300 rows, saved in {out}: --resume goes on from there" in said
    watched = subprocess.run([*SMARTCL, "watch", str(out)], capture_output=True, text=True, check=True)
    assert watched.stdout.startswith("300 rows, ")


def rows_in(folder: Path) -> int:
    try:
        return TableModel.load(folder).progress.rows
    except FileNotFoundError:
        return 0


def wait_for(condition, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


def test_forget_takes_samples_out_of_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, trained = write_csv(tmp_path / "rows.csv", mixed_rows(400)), tmp_path / "model"
    settings = ["--set", "hidden=32", "--set", "iterations=20"]
    assert call(["train", str(path), "--label", "kind", "--id", "id", "--out", str(trained), *settings]) == 0
    capsys.readouterr()
    known = SmartClassifier.load(trained).memory_.store.extra["id"]
    assert len(known) == 400
    (tmp_path / "ids.txt").write_text("row-7\nrow-9\nnobody\n")
    assert call(["forget", str(trained), "--ids", str(tmp_path / "ids.txt"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"asked": 3, "forgotten": 2, "held": 398}
    assert len(list((trained / "generations").glob("arrays-*"))) == 1
    assert not (trained / "generations" / "previous.json").exists()
    assert call(["forget", str(trained), "--ids", str(tmp_path / "ids.txt"), "--retrain"]) == 0
    assert "the weights began anew" in capsys.readouterr().out
    model = TableModel.load(trained)
    assert len(model.classifier.memory_) == 398
    assert (model.predict(str(tmp_path / "rows.csv")) == [row["kind"] for row in mixed_rows(400)]).mean() > 0.7


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder_is_one_line(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained.chmod(0o500)
    try:
        options = ["--label", "kind", "--out", str(trained), "--resume"]
        assert call(["train", str(tmp_path / "rows.csv"), *options]) == 1
        assert "nothing can be written there" in capsys.readouterr().err
    finally:
        trained.chmod(0o700)


def test_a_disk_without_room_is_one_line_and_the_checkpoint_before_is_whole(tmp_path: Path) -> None:
    path, out = write_csv(tmp_path / "rows.csv", mixed_rows(3000)), tmp_path / "model"
    usual = ["--label", "kind", "--memory", "1MB", "--checkpoint-rows", "200", *QUICK_OPTIONS]
    options, short = [*usual, "--out", str(out)], tmp_path / "short"
    few = write_csv(tmp_path / "few.csv", mixed_rows(3000)[:600])
    assert call(["train", str(few), *usual, "--out", str(short)]) == 0
    room = max(file.stat().st_size for file in short.rglob("*"))  # for a model of 600 rows, not for one of 3,000
    command = [sys.executable, "-c", LIMITED.format(room), *SMARTCL, "train", str(path), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"smartcl: {out}: File too large: what was learned last is not saved, the checkpoint before is whole"
    )
    assert 0 < TableModel.load(out).progress.rows < 3000
    assert call(["train", str(path), *options, "--resume"]) == 0
    assert TableModel.load(out).progress.rows == 3000
