"""What was ever found, one small case each: run before anything new is tried.

A case is a function that raises when the promise it names is broken. Whoever finds a fault adds its smallest form here;
one that came from a seed is drawn again by a line in ``SEEDS``.
"""

from __future__ import annotations

import csv
import importlib
import json
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.attack.models import difference, fingerprint
from benchmarks.attack.trained_folders import called
from benchmarks.attack.tries import NEVER, SURVIVED, FaultError, Findings, run, scratch
from smartcl import SmartClassifier, train_stream
from smartcl.saving.persistence import load_state, save_state

QUICK: dict[str, Any] = {"method": "smart", "hidden": (4,), "iterations": 1, "random_state": 0}
OPTIONS = ("--method", "smart", "--set", "hidden=4", "--set", "iterations=1", "--memory", "20kB")
#: Parts and seeds that once found a fault.
SEEDS: tuple[tuple[str, int], ...] = (
    ("bad_inputs", 1826277796),  # names of columns of which some are no texts: an error of 414 characters
    ("bad_inputs", 2126746717),  # complex labels to score: an error of several lines
    ("bad_inputs", 2126746724),  # a label of 1,000 characters of another kind: shown whole
)
CASES: dict[str, Callable[[Path], None]] = {}


def attack(tries: int, *, seed: int = 0, until: float = NEVER) -> Findings:
    """All cases, at most ``tries`` of them. They are the same for each seed."""
    return run(_attempt, [*CASES, *SEEDS][:tries], until=until)


def _attempt(job: str | tuple[str, int]) -> str:
    if isinstance(job, tuple):
        part, seed = job
        found: Findings = importlib.import_module(f"benchmarks.attack.{part}").attack(1, seed=seed)
        for kind, examples in found.described():
            raise FaultError(kind, examples[0])
        return SURVIVED
    with scratch() as root:
        CASES[job](Path(root))
    return SURVIVED


def _case(check: Callable[[Path], None]) -> Callable[[Path], None]:
    CASES[check.__name__.strip("_").replace("_", " ")] = check
    return check


def _hold(true: bool, said: object = "") -> None:
    if not true:
        raise FaultError("a fault of the corpus is back", str(said)[:200])


def _rows(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(n) % 2
    return np.random.default_rng(0).normal(size=(n, 3)) + 2.0 * y[:, None], y


def _refused(arguments: list[str], *words: str) -> None:
    """A fault unless a command ends with exit code 2 and one line that has these words."""
    code, _, said = called(arguments)
    lines = [line for line in said.splitlines() if not line.startswith("smartcl: note: ")]
    _hold(code == 2 and len(lines) == 1 and all(word in said for word in words), f"{code}: {said}")


def _trained(path: Path, label: str, *options: str) -> tuple[Path, str]:
    """The folder that a table trains, and what was said."""
    folder = path.with_name("model")
    code, out, said = called(["train", str(path), "--label", label, "--out", str(folder), *OPTIONS, *options])
    _hold(code == 0, said)
    return folder, out + said


# --- forgetting --------------------------------------------------------------


@_case
def _ids_of_19_digits_are_forgotten(root: Path) -> None:
    x, y = _rows(50)
    ids = np.arange(50) + 1_234_567_890_123_456_789
    model = SmartClassifier("8kB", **QUICK).partial_fit(x, y, ids=ids)
    _hold(model.forget([1_234_567_890_123_456_789]) == 1)
    _hold(model.forget(ids) == 49)


@_case
def _ids_above_int64_and_below_0_are_forgotten_from_one_list(root: Path) -> None:
    x, y = _rows(50)
    model = SmartClassifier("8kB", **QUICK)
    model.partial_fit(x, y, ids=[2**63 + 5, *range(-49, 0)])
    _hold(model.forget([2**63 + 5, -3]) == 2)


@_case
def _class_weight_survives_retraining_from_memory(root: Path) -> None:
    rng = np.random.default_rng(0)
    x, y, ids = rng.normal(size=(300, 3)), (np.arange(300) % 10 == 9).astype(int), np.arange(300)
    settings = {**QUICK, "iterations": 16}  # after fewer the weights hardly show
    never, saw = (SmartClassifier("50kB", class_weight={1: 12.0}, **settings) for _ in range(2))
    never.partial_fit(x[1:], y[1:], ids=ids[1:])
    never.forget([], retrain_from_memory=True)
    saw.partial_fit(x, y, ids=ids)
    saw.forget([0], retrain_from_memory=True)
    _hold(not difference(fingerprint(never), fingerprint(saw)), "not as a model that never saw the row")
    untold = SmartClassifier("50kB", **settings).partial_fit(x, y, ids=ids)
    untold.forget([0], retrain_from_memory=True)
    means = [model.predict_proba(x)[:, 1].mean() for model in (saw, untold)]
    _hold(means[0] > means[1] + 0.02, f"weights are lost: {means}")


@_case
def _a_class_whose_only_sample_was_forgotten_goes(root: Path) -> None:
    x, y = _rows(60)
    y[5] = 7
    model = SmartClassifier("50kB", **QUICK).partial_fit(x, y, ids=np.arange(60))
    model.forget([5], retrain_from_memory=True)
    _hold(model.classes_.tolist() == [0, 1], model.classes_)


@_case
def _nothing_of_a_forgotten_row_is_left_in_the_folder(root: Path) -> None:
    folders = []
    for name, salary in (("saw", 987654.5), ("never", None)):
        rows = [
            {"nr": n, "salary": 20.0 + n % 40, "town": ["Rome", "Oslo"][n % 2], "y": "ab"[n % 2]} for n in range(99)
        ]
        if salary is not None:
            rows[41] |= {"salary": salary, "town": "Secretville", "y": "unheard-of"}
        else:
            del rows[41]
        (root / name).mkdir()
        path = root / name / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        folder, _ = _trained(path, "y", "--id", "nr", "--memory", "200kB")
        (root / name / "ids.txt").write_text("41\n")
        code, _, said = called(["forget", str(folder), "--ids", str(root / name / "ids.txt"), "--retrain"])
        _hold(code == 0, said)
        folders.append(folder)
    for file in folders[0].rglob("*"):
        data = file.read_bytes() if file.is_file() else b""
        for secret in (b"Secretville", b"unheard-of", b"987654", np.float32(987654.5).tobytes()):
            _hold(secret not in data, f"{secret!r} in {file.name}")
    schemas = [json.loads((folder / "schema.json").read_text()) for folder in folders]
    fills = [[column.get("fill") for column in schema["columns"]] for schema in schemas]
    _hold(fills[0] == fills[1], "schema.json tells of the row")


# --- what a folder may do ----------------------------------------------------


@_case
def _loading_imports_nothing_that_a_folder_names(root: Path) -> None:
    x, y = _rows()
    SmartClassifier("8kB", **QUICK).partial_fit(x, y).save(root / "model")
    file, trace = root / "model" / "model.json", root / "trace"
    (root / "hostile.py").write_text(f"open({str(trace)!r}, 'w').close()\n")
    state = load_state(root / "model")
    state["estimator"]["encoder"] = "hostile:encoder"
    save_state(root / "model", state)
    _hold(b"hostile:encoder" in file.read_bytes(), "the state was not changed")
    sys.path.insert(0, str(root))
    try:
        SmartClassifier.load(root / "model")
    except ValueError as error:
        _hold("trust=['hostile']" in str(error), error)
    else:
        _hold(False, "loaded")
    finally:
        sys.path.remove(str(root))
    _hold(not trace.exists(), "imported")


@_case
def _an_array_named_a_thousand_times_is_refused(root: Path) -> None:
    save_state(root, {"a": np.arange(3), "many": [{"$array": ".a", "shape": [3]}] * 1000})
    try:
        SmartClassifier.load(root)
    except ValueError as error:
        _hold("named twice" in str(error), error)
    else:
        _hold(False, "loaded")


# --- tables and files --------------------------------------------------------


@_case
def _terminal_escapes_in_data_are_shown_escaped(root: Path) -> None:
    escape, path = "\x1b]0;owned\x07", root / "rows.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(
            [["n", f"bell{escape}", "y"], *([n % 7, escape, f"{escape}{n % 2}"] for n in range(90))]
        )
    folder, said = _trained(path, "y")
    said += "".join(called(["inspect", str(folder)])[1:])
    said += "".join(called(["evaluate", str(folder), str(path)])[1:])
    said += called(["train", str(path), "--label", escape, "--out", str(root / "other")])[2]
    _hold("\x1b]0;" not in said and "\x07" not in said, ascii(said))


@_case
def _a_named_pipe_is_read_once(root: Path) -> None:
    path = root / "rows.csv"
    os.mkfifo(path)
    text = "n,y\n" + "".join(f"{n % 7},{'ab'[n % 2]}\n" for n in range(90))
    threading.Thread(target=lambda: path.write_text(text), daemon=True).start()
    _, said = _trained(path, "y", "--json")
    _hold(json.loads(said)["rows"] == 90, said)


@_case
def _a_table_without_any_label_is_one_line(root: Path) -> None:
    for number, label in enumerate(("null", '"NA"', "[1]")):
        path = root / f"rows-{number}.jsonl"
        path.write_text(f'{{"n": 1, "y": {label}}}\n' * 120)
        _refused(["train", str(path), "--label", "y", "--out", str(root / "model"), *OPTIONS], "no row", "label")
    _hold(not (root / "model").exists(), "something was written")


@_case
def _an_open_quotation_mark_costs_its_own_line(root: Path) -> None:
    rows = [f"{n % 7},{'ab'[n % 2]}" for n in range(400)]
    rows.insert(100, '"3,a')
    (root / "rows.csv").write_text("n,y\n" + "\n".join(rows) + "\n")
    _, said = _trained(root / "rows.csv", "y", "--json")
    _hold('"rows": 400' in said and "a quotation mark that is not closed" in said, said)


@_case
def _a_record_with_two_values_for_a_column_is_told(root: Path) -> None:
    rows = [f'{{"o.a": {n % 7}, "y": "{"ab"[n % 2]}"}}\n' for n in range(90)]
    rows.insert(40, '{"o": {"a": 1}, "o.a": 2, "y": "a"}\n')
    (root / "rows.jsonl").write_text("".join(rows))
    _, said = _trained(root / "rows.jsonl", "y", "--json")
    _hold('"rows": 90' in said and '"skipped"' in said, said)


@_case
def _a_path_of_5000_characters_is_one_line(root: Path) -> None:
    _refused(["train", "x" * 5000 + ".csv", "--label", "y", "--out", str(root / "model")], "path")
    _refused(["inspect", "a/" * 3000], "path")


# --- arrays and weights ------------------------------------------------------


@_case
def _labels_that_end_in_nul_are_refused(root: Path) -> None:
    try:
        SmartClassifier("8kB", **QUICK).partial_fit(np.eye(20), ["a\0", "a"] * 10)
    except ValueError as error:
        _hold(len(str(error).splitlines()) == 1, error)
    else:
        _hold(False, "two classes became one")


@_case
def _rows_of_weight_0_are_rows_that_are_not_there(root: Path) -> None:
    x, y = _rows(60)
    out = np.arange(60) % 3 == 0
    wrong = np.where(out, 1 - y, y)
    model, other = (SmartClassifier("8kB", batch_size=100, **QUICK) for _ in range(2))
    model.partial_fit(x, wrong, sample_weight=np.where(out, 0.0, 1.0))
    other.partial_fit(x[~out], y[~out], sample_weight=np.ones(40))
    _hold(np.array_equal(model.predict_proba(x), other.predict_proba(x)), "weights do not reach all that is learned")


@_case
def _a_read_only_array_gives_no_warning(root: Path) -> None:
    x, y = _rows()
    x = x.astype(np.float32)
    x.flags.writeable = False
    model = SmartClassifier("8kB", **QUICK)
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.partial_fit(x, y).predict(x)
    finally:
        torch.set_warn_always(before)


# --- tables at the estimator's door ------------------------------------------


@_case
def _a_first_row_without_a_label_keeps_no_other_from_being_learned(root: Path) -> None:
    model = SmartClassifier("8kB", batch_size=20, **QUICK)
    for label in (None, float("nan"), [1]):
        try:
            model.learn_one({"a": 1}, label)
        except ValueError:
            continue
        _hold(False, f"the label {label} was taken")
    for number in range(20):
        model.learn_one({"a": number % 7, "b": "pq"[number % 2]}, "xy"[number % 3 % 2])
    _hold(model.classes_.tolist() == ["x", "y"], model.classes_)


@_case
def _a_missing_label_among_texts_is_no_class(root: Path) -> None:
    rows = [{"a": number % 7, "b": "pq"[number % 2]} for number in range(20)]
    for given in (rows, np.arange(40.0).reshape(20, 2)):
        try:
            SmartClassifier("8kB", **QUICK).partial_fit(given, ["x", float("nan")] * 10)
        except ValueError as error:
            _hold("row 1" in str(error), error)
        else:
            _hold(False, "the class 'nan'")


@_case
def _a_table_of_days_without_rows_is_answered_with_none(root: Path) -> None:
    rows = [{"day": f"2024-01-{1 + number % 28:02d}", "size": number % 7} for number in range(60)]
    model = SmartClassifier("8kB", **QUICK).partial_fit(rows, ["x", "y", "y"] * 20)
    _hold(model.predict_proba([]).shape == (0, 2))


@_case
def _names_of_columns_of_any_length_and_number_are_one_short_line(root: Path) -> None:
    for names in (["x" * 5000], [f"a column {number}" for number in range(500)]):
        (root / "rows.csv").write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
        try:
            train_stream(root / "rows.csv", "label", memory="8kB", **QUICK)
        except ValueError as error:
            _hold(len(str(error)) < 400, error)
        else:
            _hold(False, "there is no label")
