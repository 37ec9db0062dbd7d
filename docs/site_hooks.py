"""Steps of ``make docs``: pages of a folder become entries of its section, and pages of the root join the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

#: Sections that list every page of a folder, by the page's title.
FOLDERS = {"Tutorials": "tutorials", "How to": "howto"}
#: Pages of the site that are files of the repository's root.
FROM_ROOT = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
#: Links out of ``docs``: to the repository's files, which the site has not.
OUTWARD = re.compile(r"\[([^\]]*)\]\((?:\.\./)+(?!docs/)[^)]*\)")


def on_config(config: Any) -> Any:
    """Fill the sections."""
    for section in config["nav"]:
        for name, folder in FOLDERS.items():
            if name in section:
                section[name] = sorted(f"{folder}/{path.name}" for path in (ROOT / "docs" / folder).glob("*.md"))
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the root; a link into ``docs/`` is one within the site there."""
    from mkdocs.structure.files import File

    for name, source in FROM_ROOT.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Of a link to a file that the site has not, the words stay."""
    return OUTWARD.sub(r"\1", markdown)
