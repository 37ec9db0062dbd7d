"""Ids: what was stored for an id is what is looked for, whatever type the id comes in, at every door."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from smartcl import SmartClassifier, TableModel, train_stream
from smartcl.files.training import forget_in_folder, ids_in_file
from smartcl.learners.ids import id_of, ids_of

QUICK: dict[str, Any] = {"method": "smart", "hidden": (2,), "iterations": 1, "replay": 0, "random_state": 0}
#: Beyond what eight bytes hold, on both sides, and around each power of two and ten where a type ends.
EDGES = [side * (2**bits) + step for bits in (7, 8, 31, 32, 53, 63, 64, 70) for side in (1, -1) for step in (-1, 0, 1)]
EDGES += [10**18 - 1, 10**18, 10**19, 1_234_567_890_123_456_789]
WHOLE = st.one_of(st.sampled_from(EDGES), st.integers(-(2**70), 2**70), st.integers(-3, 300))
TEXTS = st.text(st.characters(exclude_characters="\r\n"), max_size=8)


def forms_of(number: int) -> list[Any]:
    """All that is equal to a whole number."""
    kinds: list[Callable[[int], Any]] = [int, str, Decimal, Fraction, lambda n: f" {n} ", lambda n: str(n).encode()]
    for dtype in (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64):
        kinds += [dtype, lambda n, dtype=dtype: np.array([n], dtype=dtype)[0].item()]
    kinds += [lambda n: torch.tensor([n]).tolist()[0], float]
    found = []
    for kind in kinds:
        try:
            form = kind(number)
        except (OverflowError, RuntimeError, ValueError):
            continue
        if not isinstance(form, int | float | np.generic) or int(form) == number:
            found.append(form)
    return found


@given(st.lists(WHOLE, min_size=1, max_size=20, unique=True))
def test_equal_numbers_are_one_id_and_others_are_others(numbers: list[int]) -> None:
    stored = [id_of(number) for number in numbers]
    assert len(set(stored)) == len(numbers)
    for number, found in zip(numbers, stored, strict=True):
        assert {id_of(form) for form in forms_of(number)} == {found}
        assert (found == number) == (0 <= number < 2**63)
    assert ids_of(numbers).tolist() == ids_of(tuple(map(str, numbers))).tolist() == stored
    assert ids_of(pd.Series(numbers, dtype=object)).tolist() == stored
    for dtype in ("i1", "u1", "i4", "u4", "i8", "u8", "f4", "f8", "g", "O", "U", "S"):
        array = np.array(list(map(str, numbers)) if dtype in "US" else numbers, dtype=object)
        try:
            array = array.astype(dtype)
        except OverflowError:
            continue
        if [int(value) for value in array] == numbers:
            assert ids_of(array).tolist() == stored, dtype
            assert ids_of(list(array)).tolist() == stored, dtype


@given(st.lists(TEXTS, max_size=10, unique_by=str.strip))
def test_texts_are_told_apart(texts: list[str]) -> None:
    assert len(set(ids_of(texts).tolist())) == len(texts)
    assert ids_of(np.array(texts, dtype=object)).tolist() == ids_of(texts).tolist()


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
def test_a_date_is_one_id_in_every_unit(unit: str) -> None:
    days = np.array(["2024-02-29", "1969-12-31"], dtype=f"M8[{unit}]")
    assert ids_of(days).tolist() == ids_of(["2024-02-29", "1969-12-31"]).tolist()
    assert ids_of(list(days)).tolist() == ids_of([date(2024, 2, 29), date(1969, 12, 31)]).tolist()
    if unit != "D":
        assert ids_of(pd.Series(days)).tolist() == ids_of(days).tolist()


@given(st.lists(st.one_of(WHOLE, TEXTS), min_size=2, max_size=12, unique_by=lambda value: str(value).strip()))
@settings(max_examples=60)
def test_what_was_given_is_found(ids: list[Any]) -> None:
    rows = np.arange(len(ids), dtype=np.float64)[:, None]
    model = SmartClassifier("4kB", **QUICK).partial_fit(rows, np.arange(len(ids)) % 2, ids=ids)
    assert model.forget(ids[:1]) == 1
    assert 0.0 not in model.memory_.export()["feature 0"].tolist()
    assert model.forget([str(ids[1])]) == 1
    assert model.forget(ids[:2]) == 0
    assert model.forget(ids) == len(ids) - 2


def test_large_and_negative_ids_are_forgotten() -> None:
    rows, labels = np.arange(50.0)[:, None], np.arange(50) % 2
    ids = np.arange(50) + 1_234_567_890_123_456_789
    model = SmartClassifier("4kB", **QUICK).partial_fit(rows, labels, ids=ids)
    assert model.forget([1_234_567_890_123_456_789]) == 1
    assert model.forget(ids) == 49
    model = SmartClassifier("4kB", **QUICK).partial_fit(rows, labels, ids=-ids)
    assert model.forget(-ids[:3]) == 3
    assert model.forget([str(-ids[3]), 2**63 + 5, -1]) == 1


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf"), pd.NaT, np.datetime64("NaT"), [1], object(), {}])
def test_what_could_never_be_found_again_is_refused(bad: object) -> None:
    rows, labels = np.arange(2.0)[:, None], np.arange(2)
    model = SmartClassifier("4kB", **QUICK)
    with pytest.raises(ValueError, match="ids must be whole numbers, texts or dates, got"):
        model.partial_fit(rows, labels, ids=[1, bad])
    assert not hasattr(model, "memory_")


@pytest.mark.parametrize("bad", [5, "ab", {1, 2}, {1: 2, 3: 4}, np.zeros((2, 1)), np.array(5)])
def test_ids_are_one_a_row(bad: object) -> None:
    with pytest.raises(ValueError, match="ids must be one a row"):
        SmartClassifier("4kB", **QUICK).partial_fit(np.arange(2.0)[:, None], np.arange(2), ids=bad)


def test_one_id_may_be_asked_for_alone_and_many_as_a_set() -> None:
    def model() -> SmartClassifier:
        return SmartClassifier("4kB", **QUICK).partial_fit(np.arange(3.0)[:, None], [0, 1, 0], ids=["u1", "u2", 33])

    assert model().forget("u1") == model().forget(33) == model().forget(np.int8(33)) == model().forget(b"u2") == 1
    assert model().forget({"u1", "33"}) == 2
    assert model().forget(UUID(int=5)) == 0


VALUES: list[Any] = [7, "u-7", 2**63 + 5, -12, 1_234_567_890_123_456_789, "007", "a b", "ü"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "rows", "pandas", "arrow"])
def test_a_table_of_any_kind_and_a_file_of_ids(kind: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = [{"nr": VALUES[n % 8], "size": n * 1.5, "kind": "ab"[n % 2]} for n in range(40)]
    source: Any = rows
    if kind == "csv":
        source = tmp_path / "t.csv"
        pd.DataFrame(rows).to_csv(source, index=False)
    elif kind == "jsonl":
        source = tmp_path / "t.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "pandas":
        source = pd.DataFrame(rows)
    elif kind == "arrow":
        source = pa.Table.from_pylist([{**row, "nr": str(row["nr"])} for row in rows])
    folder = tmp_path / "model"
    settings = {name: value for name, value in QUICK.items() if name != "random_state"}
    train_stream(source, "kind", id="nr", out=folder, memory="10kB", random_state=0, **settings)
    listed = tmp_path / "gone.txt"
    for left, value in enumerate(reversed(VALUES)):
        listed.write_text(f"{value}\n", encoding="utf-8")
        assert forget_in_folder(folder, ids_in_file(listed), retrain=False)["forgotten"] == 5, value
        assert len(TableModel.load(folder).classifier.memory_) == 35 - 5 * left


def test_rows_of_a_table_without_an_id_are_one_id() -> None:
    rows = [{"nr": None if n % 2 else n, "size": n * 1.5, "kind": "ab"[n % 3 == 0]} for n in range(40)]
    settings = {name: value for name, value in QUICK.items() if name != "random_state"}
    for source in (rows, pd.DataFrame(rows)):
        model = train_stream(source, "kind", id="nr", memory="10kB", random_state=0, **settings)
        assert model.forget(["4"]) == 1
        assert model.forget(["None"]) == model.forget(["nan"]) == 0
        assert model.forget([""]) == 20
