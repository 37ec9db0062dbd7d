"""SVG by hand: small, themed by CSS variables, with a tooltip on every mark, and the same bytes for the same data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from smartcl.paper.report.palette import fixed

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
#: Text inside figures, in units of the drawing; the page enlarges it on a phone, where drawings shrink.
TEXT = 13


@dataclass(frozen=True)
class Key:
    """One entry of a legend: ``name`` ties it to its marks."""

    name: str
    label: str
    colour: str
    dashed: bool = False


@dataclass(frozen=True)
class Drawing:
    """A figure without its legend, which the page writes as text of its own and a file takes in."""

    width: float
    height: float
    body: str
    says: str
    keys: tuple[Key, ...] = ()
    hollow: str = ""

    def inline(self) -> str:
        """For the page: colours follow the theme."""
        return (
            f'<svg viewBox="0 0 {n(self.width)} {n(self.height)}" role="img" aria-label="{escape(self.says)}" '
            f'font-size="{TEXT}">{self.body}</svg>'
        )

    def file(self) -> str:
        """For a file: light colours, a legend, a background."""
        legend, height = self._legend()
        drawing = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {n(self.width)} {n(height)}" '
            f'width="{n(self.width)}" height="{n(height)}" font-family="{FONT}" font-size="{TEXT}">'
            f"<title>{escape(self.says)}</title>"
            f'<rect width="100%" height="100%" style="fill:var(--surface)"/>{self.body}{legend}</svg>\n'
        )
        return fixed(drawing)

    def _legend(self) -> tuple[str, float]:
        x, y, marks = 12.0, self.height + 10, []
        entries = [(stroke_sample(key), key.label) for key in self.keys]
        if self.hollow:
            entries.append((marker(12, 0, "muted", hollow=True), self.hollow))
        for sample, label in entries:
            width = 34 + 7.2 * len(label)
            if x > 12 and x + width > self.width:
                x, y = 12.0, y + 20
            marks.append(f'<g transform="translate({n(x)} {n(y)})">{sample}{text(30, 4, label, anchor="start")}</g>')
            x += width
        return "".join(marks), (y + 16 if entries else self.height)


def n(value: float) -> str:
    """A coordinate to a tenth: enough for the eye, and equal on every machine."""
    return f"{value:.1f}".removesuffix(".0").replace("-0.0", "0")


def text(x: float, y: float, words: str, *, anchor: str = "middle", colour: str = "ink") -> str:
    return f'<text x="{n(x)}" y="{n(y)}" text-anchor="{anchor}" style="fill:var(--{colour})">{escape(words)}</text>'


def rule(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<path d="M{n(x1)} {n(y1)}L{n(x2)} {n(y2)}" fill="none" style="stroke:var(--{colour});stroke-width:1"/>'


def box(x: float, y: float, width: float, height: float, colour: str, opacity: float = 1, says: str = "") -> str:
    return (
        f'<rect x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}" '
        f'style="fill:var(--{colour});fill-opacity:{opacity:.2f}">{_title(says)}</rect>'
    )


def polyline(points: Sequence[tuple[float, float]], colour: str, width: float = 2, dashed: bool = False) -> str:
    path = "L".join(f"{n(x)} {n(y)}" for x, y in points)
    dash = ";stroke-dasharray:6 4" if dashed else ""
    return (
        f'<path d="M{path}" fill="none" stroke-linejoin="round" '
        f'style="stroke:var(--{colour});stroke-width:{n(width)}{dash}"/>'
    )


def band(upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]], colour: str) -> str:
    path = "L".join(f"{n(x)} {n(y)}" for x, y in [*upper, *reversed(lower)])
    return f'<path d="M{path}Z" style="fill:var(--{colour});fill-opacity:.13"/>'


def marker(x: float, y: float, colour: str, says: str = "", hollow: bool = False) -> str:
    look = "fill:var(--surface);stroke-width:1.6" if hollow else f"fill:var(--{colour});stroke-width:0"
    return (
        f'<circle cx="{n(x)}" cy="{n(y)}" r="{"4" if hollow else "3.6"}" style="{look};stroke:var(--{colour})">'
        f"{_title(says)}</circle>"
    )


def stroke_sample(key: Key) -> str:
    """The line a legend shows for its entry."""
    return polyline([(0, 0), (24, 0)], key.colour, 2.5, key.dashed)


def _title(says: str) -> str:
    return f"<title>{escape(says)}</title>" if says else ""
