"""A file of runs, one line of JSON each, in a fixed order: several processes add to it, and git merges it.

A line that is damaged, or is no run, such as git's mark of a conflict, counts as a run not made. It is gone when the
file is written next. So both sides of a conflict are kept, and the file needs no editing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from filelock import FileLock

from smartcl.saving.atomic import write_file

#: What a run is known by.
Name = TypeVar("Name")

Line = dict[str, Any]
#: What tells a file from the one that was there before under its name.
Stamp = tuple[int, int, int]

#: The folder beside the files that holds a lock for each of them.
LOCKS = ".locks"


class RunLines(Generic[Name]):
    """The lines of one file by the names of their runs; ``name_of`` gives None for what is no run.

    What was read is kept and shared by all callers, which must not change it. A file that has changed is read again.
    ``order`` is the place of a line in the file.
    """

    def __init__(
        self, path: Path, name_of: Callable[[Line], Name | None], order: Callable[[Line], tuple[Any, ...]]
    ) -> None:
        self.path, self._name_of, self._order = path, name_of, order
        self._stamp: Stamp | None = None
        self._lines: dict[Name, Line] = {}
        #: How many lines of the file are no runs.
        self.damaged = 0

    def read(self) -> Mapping[Name, Line]:
        """Every run that is there. Of two lines of one run the first counts."""
        try:
            state = self.path.stat()
            stamp = state.st_ino, state.st_size, state.st_mtime_ns
            if stamp != self._stamp:
                self._parse(self.path.read_bytes())
                self._stamp = stamp
        except FileNotFoundError:
            self._stamp, self._lines, self.damaged = None, {}, 0
        return self._lines

    def add(self, *lines: Line) -> None:
        """Write the file anew with these, in one stroke; a run that is there already is replaced."""
        texts = [text_of(line) for line in lines]  # what cannot be written fails before anything is locked
        self.path.parent.mkdir(parents=True, exist_ok=True)
        locks = self.path.parent / LOCKS
        locks.mkdir(exist_ok=True)
        with FileLock(locks / f"{self.path.name}.lock"):
            known = dict(self.read())
            for text in texts:
                line = json.loads(text)
                name = self._name_of(line)
                if name is None:
                    raise ValueError(f"{self.path} takes no line such as {text[:100]}")
                known[name] = line
            ordered = sorted(known.values(), key=self._order)
            write_file(self.path, "".join(f"{text_of(line)}\n" for line in ordered).encode())

    def _parse(self, content: bytes) -> None:
        self._lines, self.damaged = {}, 0
        for text in content.split(b"\n"):
            if not text.strip():
                continue
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                line = None
            name = self._name_of(line) if isinstance(line, dict) else None
            if name is None:
                self.damaged += 1
            else:
                self._lines.setdefault(name, line)


def text_of(line: Line) -> str:
    """A line of JSON without blanks; a number that is not finite is refused."""
    return json.dumps(line, allow_nan=False, separators=(",", ":"))
