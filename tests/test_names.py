"""No type and no file of the package has the name of another: a word means one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "smartcl"

#: To be renamed with the work on the ensemble; nothing may be added.
FILES_TO_BE_RENAMED = {"network.py", "settings.py"}


def types_of(tree: ast.Module) -> Iterator[str]:
    """Classes of a module, and its names for other types: aliases and type variables."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias":
                yield node.target.id
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, is_type = node.targets[0].id, isinstance(node.value, ast.Subscript | ast.BinOp)
            if is_type and name[:1].isupper() and not name.isupper():
                yield name


def test_no_type_has_the_name_of_another() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        for name in types_of(ast.parse(path.read_text())):
            found[name].append(str(path.relative_to(SOURCE)))
    twice = {name: places for name, places in found.items() if len(places) > 1}
    assert not twice


def test_no_file_has_the_name_of_another() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        if not path.name.startswith("__"):
            found[path.name].append(str(path.relative_to(SOURCE)))
    twice = {name: places for name, places in found.items() if len(places) > 1}
    assert twice.keys() <= FILES_TO_BE_RENAMED, twice
