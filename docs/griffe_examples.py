"""Examples in docstrings as blocks of code, wherever they stand in the docstring."""

from __future__ import annotations

import re
from typing import Any

import griffe

#: Lines from a prompt on, up to a blank line or the end.
EXAMPLE = re.compile(r"^( *)>>> .*(?:\n\1(?! *$).+)*", re.MULTILINE)


class Examples(griffe.Extension):
    """Puts a fence around every example, so that Markdown takes nothing in it for a mark of its own."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(fenced, obj.docstring.value)


def fenced(found: re.Match[str]) -> str:
    indent = found[1]
    return f"{indent}```pycon\n{found[0]}\n{indent}```"
