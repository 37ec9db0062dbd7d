"""Saved versions of a model that can be gone back to: folders of the newest saves, which share the files they can."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from smartcl.saving.persistence import GENERATIONS, INDEX


@dataclass(frozen=True)
class Versions:
    """The last saved states of a model by the rows it had learned; at most ``most`` of them."""

    folder: Path
    most: int

    def there(self) -> list[int]:
        """The rows of each version, the oldest first."""
        if not self.folder.is_dir():
            return []
        return sorted(int(path.name) for path in self.folder.iterdir() if path.name.isdecimal())

    def path(self, rows: int) -> Path:
        return self.folder / f"{rows:015d}"

    def keep(self, model: Path, rows: int) -> None:
        """Keep the state that has just been saved in ``model``; the oldest go."""
        target = self.path(rows)
        part = self.folder / f".{rows}.{os.getpid()}.tmp"
        shutil.rmtree(part, ignore_errors=True)
        (part / GENERATIONS).mkdir(parents=True)
        _link(model / INDEX, part / INDEX)
        for arrays in (model / GENERATIONS).glob("arrays-*.safetensors"):
            if arrays.name.encode() in (part / INDEX).read_bytes():
                _link(arrays, part / GENERATIONS / arrays.name)
        shutil.rmtree(target, ignore_errors=True)
        part.replace(target)
        for old in self.there()[: -self.most]:
            shutil.rmtree(self.path(old), ignore_errors=True)

    def drop_after(self, rows: int) -> None:
        """Drop versions that were gone back from."""
        for later in self.there():
            if later > rows:
                shutil.rmtree(self.path(later), ignore_errors=True)


def _link(source: Path, target: Path) -> None:
    """The same file under another name where the file system has such names, else a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
