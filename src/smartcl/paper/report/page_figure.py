"""A figure of the page: its drawings, what they show, and from how many runs."""

from __future__ import annotations

from dataclasses import dataclass

from smartcl.paper.experiments.run_table import Row
from smartcl.paper.report.palette import of_method
from smartcl.paper.report.svg import Drawing, Key

#: Methods that are others' with another training, and those that no memory bounds.
VARIANTS = ("er-smart", "der++-smart", "joint", "joint-smart")


@dataclass(frozen=True)
class PageFigure:
    """``panels`` are drawings by title (one may be empty); ``missing`` is the command that makes the runs it lacks."""

    name: str
    title: str
    caption: str = ""
    panels: tuple[tuple[str, Drawing], ...] = ()
    missing: str = ""

    @property
    def files(self) -> dict[str, Drawing]:
        """Each panel under the name its file has."""
        return {f"{self.name}-{slug(title)}" if title else self.name: drawing for title, drawing in self.panels}


def slug(words: str) -> str:
    """A name for a file or an element.

    >>> slug("DER++, 300 samples")
    'der-plus-plus-300-samples'
    """
    spelled = words.lower().replace("+", "-plus").replace("α", "alpha").replace("β", "beta")
    return "-".join("".join(c if c.isalnum() else " " for c in spelled).split())


def key_of(row: Row) -> Key:
    """The legend's entry for a row; a variant of a method shares its colour and is dashed."""
    variant = bool(row.parameters) and row.method != "finetune"
    return Key(slug(row.label), row.label, of_method(row.method), variant or row.method in VARIANTS)
