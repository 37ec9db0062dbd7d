"""The public names: two circles, each on a page of the reference, each explained where it stands in the code."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import smartcl
from smartcl import extend

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
FOR_USERS = ("SmartClassifier", "ReplayMemory", "train_stream", "TableModel", "load")
PAST_ONE_MACHINE = ("merge", "subtract", "shard_of", "train_shards", "train_fleet", "Fleet")
FOR_AUTHORS = sorted(name for name, value in vars(extend).items() if not name.startswith("_") and name != "annotations")

#: Public names whose arguments are explained in prose until the work on the estimator and on tables is done.
IN_PROSE = {"SmartClassifier", "TableModel", "train_stream"}

#: Public classes of the ensemble, whose words wait for the work on it.
WAITING = {"Member"}

#: Names of the standard library that a public class inherits.
STANDARD = {"mro"}


def objects() -> dict[str, object]:
    return {name: getattr(smartcl, name) for name in (*FOR_USERS, *PAST_ONE_MACHINE)} | {
        name: getattr(extend, name) for name in FOR_AUTHORS
    }


def test_users_find_few_names_and_the_way_to_the_others() -> None:
    assert set(smartcl.__all__) == {*FOR_USERS, *PAST_ONE_MACHINE, "extend"}


@pytest.mark.parametrize("name", [*FOR_USERS, *PAST_ONE_MACHINE, *FOR_AUTHORS])
def test_every_public_name_and_method_has_a_docstring(name: str) -> None:
    found = objects()[name]
    if not callable(found):
        return  # a table of methods, which has an explanation of its own
    assert inspect.getdoc(found)
    if inspect.isclass(found) and name not in WAITING:
        own = {part: value for part, value in vars(found).items() if not part.startswith("_") and part not in STANDARD}
        functions = {part: value for part, value in own.items() if callable(value) or isinstance(value, classmethod)}
        assert [part for part, value in functions.items() if not inspect.getdoc(value)] == []


@pytest.mark.parametrize("name", FOR_USERS)
def test_the_arguments_of_a_users_name_are_explained(name: str) -> None:
    found = objects()[name]
    arguments = [each for each in inspect.signature(found).parameters if each != "self"]  # type: ignore[arg-type]
    if name in IN_PROSE:
        text = (inspect.getdoc(found) or "") + (REFERENCE / "smart_classifier.md").read_text()
        if name == "SmartClassifier":
            rows = re.findall(r"^\| `(\w+)` \|", (REFERENCE / "smart_classifier.md").read_text(), flags=re.MULTILINE)
            assert rows == arguments
        assert text
        return
    parameters = re.search(r"Parameters\n-+\n(.*?)(?:\n\w+\n-+\n|\Z)", inspect.getdoc(found) or "", flags=re.DOTALL)
    assert parameters, f"{name} has no section Parameters"
    assert re.findall(r"^(\w+)$", parameters[1], flags=re.MULTILINE) == arguments


def test_every_public_name_is_on_a_page_of_the_reference() -> None:
    pages = "\n".join(page.read_text() for page in REFERENCE.glob("*.md"))
    assert [name for name in objects() if not re.search(rf"\b{name}\b", pages)] == []
