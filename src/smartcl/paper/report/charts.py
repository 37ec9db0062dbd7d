"""Four kinds of drawing: lines with bands, points with names, a heat map, bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10

from smartcl.paper.report.svg import TEXT, Drawing, Key, band, box, marker, polyline, rule, text

WIDTH, HEIGHT = 520.0, 340.0
#: How much larger the page's letters in a drawing are on a small screen.
SMALL_SCREEN = 16 / TEXT
LEFT, RIGHT, TOP, BOTTOM = 46.0, 14.0, 30.0, 56.0

Ticks = Sequence[tuple[float, str]]


@dataclass(frozen=True)
class Point:
    """``spread`` is half the height of the band; ``says`` the tooltip."""

    x: float
    y: float
    spread: float = 0.0
    says: str = ""


@dataclass(frozen=True)
class Series:
    """One line, or points that are not ``joined``; ``hollow`` are points of another origin, never joined."""

    key: Key
    points: Sequence[Point]
    hollow: Sequence[Point] = ()
    width: float = 2.0
    joined: bool = True


@dataclass(frozen=True)
class Axis:
    """A name, a range, and the places that are labelled."""

    name: str
    low: float
    high: float
    ticks: Ticks = field(default=())

    @classmethod
    def around(cls, name: str, values: Sequence[float], low: float | None = None, high: float | None = None) -> Axis:
        """Round ticks that hold all the values; ``low`` and ``high`` fix an end."""
        first = min(values) if low is None else low
        last = max(values) if high is None else high
        ticks = round_ticks(first, last if last > first else first + 1)
        inside = [tick for tick in ticks if (low is None or tick >= low) and (high is None or tick <= high)]
        return cls(
            name,
            inside[0] if low is None else low,
            inside[-1] if high is None else high,
            [(tick, f"{tick:,.6g}") for tick in inside],
        )

    def place(self, value: float, start: float, end: float) -> float:
        return start + (value - self.low) / (self.high - self.low) * (end - start)


def line_chart(
    series: Sequence[Series],
    x: Axis,
    y: Axis,
    says: str,
    hollow: str = "",
    moments: Sequence[float] = (),
    width: float = WIDTH,
) -> Drawing:
    """Lines over a common ground, the widest in front; the legend is in the order of the lines' ends.

    At each of the ``moments`` stands an upright line.
    """
    left, right, top, bottom = LEFT, width - RIGHT, TOP, HEIGHT - BOTTOM
    parts = [text(0, 14, y.name, anchor="start", colour="muted")]
    for value, label in y.ticks:
        height = y.place(value, bottom, top)
        parts += [
            rule(left, height, right, height, "line" if value or y.low >= 0 else "muted"),
            text(left - 7, height + 4, label, anchor="end", colour="muted"),
        ]
    for value, label in x.ticks:
        for line, words in enumerate(label.split("\n")):
            parts.append(text(x.place(value, left, right), bottom + 18 + 17 * line, words, colour="muted"))
    for moment in moments:
        across = x.place(moment, left, right)
        parts.append(polyline([(across, top), (across, bottom)], "ink", 1, dashed=True))
    deep = bottom + 24 + 17 * max((label.count("\n") + 1 for _, label in x.ticks), default=0)
    parts.append(text((left + right) / 2, deep, x.name, colour="muted"))
    for each in sorted(series, key=lambda each: each.width):
        at = [(x.place(p.x, left, right), _clip(y.place(p.y, bottom, top))) for p in each.points]
        marks = []
        if any(p.spread for p in each.points) and len(at) > 1:
            edges = [
                [(x.place(p.x, left, right), _clip(y.place(p.y + sign * p.spread, bottom, top))) for p in each.points]
                for sign in (1, -1)
            ]
            marks.append(band(edges[0], edges[1], each.key.colour))
        if len(at) > 1 and each.joined:
            marks.append(polyline(at, each.key.colour, each.width, each.key.dashed))
        marks += [
            marker(*place, each.key.colour, p.says)
            for place, p in zip(at, each.points, strict=True)
            if p.says or len(at) == 1 or not each.joined
        ]
        marks += [
            marker(x.place(p.x, left, right), _clip(y.place(p.y, bottom, top)), each.key.colour, p.says, hollow=True)
            for p in each.hollow
        ]
        parts.append(f'<g class="series" data-series="{each.key.name}">{"".join(marks)}</g>')
    shown = hollow if any(each.hollow for each in series) else ""
    keys = [each.key for each in sorted(series, key=lambda each: -each.points[-1].y)]
    return Drawing(width, deep + 6, "".join(parts), says, tuple(keys), shown)


def scatter_chart(
    series: Sequence[Series], x: Axis, y: Axis, says: str, hollow: str = "", width: float = WIDTH
) -> Drawing:
    """One point for each series, with its name beside it: no legend is needed."""
    ground = line_chart([], x, y, says, hollow, width=width)
    left, right, top, bottom = LEFT, width - RIGHT, TOP, HEIGHT - BOTTOM
    at = {
        each.key: (x.place(each.points[0].x, left, right), _clip(y.place(each.points[0].y, bottom, top)))
        for each in series
    }
    parts = []
    for each, (key, (across, height)) in zip(series, at.items(), strict=True):
        parts.append(f'<g class="series" data-series="{key.name}">')
        parts.append(marker(across, height, key.colour, each.points[0].says))
        parts.append("</g>")
    for key, across, height, anchor in placed_names([(key, *place) for key, place in at.items()], (left + right) / 2):
        parts.append(text(across, height + 4, key.label, anchor=anchor))
    return Drawing(width, ground.height, ground.body + "".join(parts), says)


#: Units of a drawing between a point and its name, and between the names that stand above each other.
BESIDE, APART = 8.0, 14.0


def placed_names(points: Sequence[tuple[Key, float, float]], middle: float) -> list[tuple[Key, float, float, str]]:
    """Where the names of points stand: on the side where there is room, moved down until none is on another.

    >>> key = Key("a", "a", "red")
    >>> [found[1:] for found in placed_names([(key, 10.0, 50.0), (key, 12.0, 52.0), (key, 90.0, 50.0)], 60.0)]
    [(18.0, 50.0, 'start'), (82.0, 50.0, 'end'), (20.0, 64.0, 'start')]
    """
    found: list[tuple[Key, float, float, str]] = []
    taken: list[tuple[float, float, float]] = []
    for key, across, height in sorted(points, key=lambda point: point[2]):
        anchor = "start" if across < middle else "end"
        edge = across + (BESIDE if anchor == "start" else -BESIDE)
        long = 7.0 * len(key.label)
        first, last = (edge, edge + long) if anchor == "start" else (edge - long, edge)
        while any(first < right and left < last and abs(height - y) < APART for left, right, y in taken):
            height = min(
                y + APART
                for left, right, y in taken
                if first < right and left < last and abs(height - y) < APART and y + APART > height
            )
        taken.append((first, last, height))
        found.append((key, edge, height, anchor))
    return found


def heat_map(
    values: Sequence[Sequence[float]], rows: Ticks, columns: Ticks, axes: tuple[str, str], says: str
) -> Drawing:
    """Percentages in cells: one hue above 50, where two classes are told apart by chance, another below."""
    left, top, cell, tall = 62.0, 44.0, 64.0, 44.0
    parts = [text(left - 8, top - 8, axes[0], anchor="end", colour="muted")]
    parts.append(text(left + len(columns) * cell / 2, 14, axes[1], colour="muted"))
    parts += [text(left + (i + 0.5) * cell, top - 8, label, colour="muted") for i, label in columns]
    for i, label in rows:
        parts.append(text(left - 8, top + (i + 0.5) * tall + 4, label, anchor="end", colour="muted"))
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            strength = min(abs(value - 50) / 50, 1)
            place = left + j * cell, top + i * tall
            parts.append(box(*place, cell - 2, tall - 2, "good" if value >= 50 else "bad", 0.06 + 0.94 * strength))
            ink = "on-heat" if strength > 0.75 else "ink"
            parts.append(text(place[0] + cell / 2 - 1, place[1] + tall / 2 + 4, f"{value:.1f}", colour=ink))
    width, height = left + len(columns) * cell, top + len(rows) * tall
    return Drawing(width, height + 2, "".join(parts), says)


@dataclass(frozen=True)
class Bar:
    """``says`` is the tooltip, ``beside`` what is written after the value."""

    key: Key
    value: float
    says: str = ""
    beside: str = ""

    @property
    def written(self) -> str:
        return amount(self.value) + self.beside


def bar_chart(bars: Sequence[Bar], name: str, says: str, width: float = WIDTH) -> Drawing:
    """Horizontal bars, each with its value written at its end."""
    left, tall, top = 12 + 7.2 * max(len(bar.key.label) for bar in bars), 26.0, 28.0
    right = 20 + 6.2 * max(len(bar.written) for bar in bars)
    room, most = width - left - right, max(bar.value for bar in bars) or 1.0
    parts = [text(0, 14, name, anchor="start", colour="muted")]
    for i, bar in enumerate(bars):
        y, long = top + i * tall, bar.value / most * room
        parts += [
            text(left - 8, y + 15, bar.key.label, anchor="end"),
            box(left, y + 3, max(long, 1), tall - 8, bar.key.colour, 0.9, bar.says),
            text(left + long + 6, y + 15, bar.written, anchor="start", colour="muted"),
        ]
    body = "".join(parts)
    if SMALL_SCREEN * (left + right) > width:  # no room for larger letters
        body = f'<g font-size="{TEXT}">{body}</g>'
    return Drawing(width, top + len(bars) * tall + 6, body, says)


def amount(value: float) -> str:
    """Three digits, or all of a larger number's.

    >>> amount(0.1234), amount(31.26), amount(1482.3)
    ('0.123', '31.3', '1,482')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Multiples of a round step around a range, the fewest digits first and at most ``most`` steps.

    >>> round_ticks(91.2, 99.5), round_ticks(0, 0.7)
    ([90.0, 92.0, 94.0, 96.0, 98.0, 100.0], [0.0, 0.2, 0.4, 0.6, 0.8])
    """
    magnitude = 10.0 ** floor(log10((high - low) / most))
    for factor in (1, 2, 2.5, 5, 10, 20):
        step = factor * magnitude
        first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
        if last - first <= most:
            break
    return [float(f"{step * number:.10g}") for number in range(first, last + 1)]


def side_by_side(drawings: Sequence[Drawing], says: str) -> Drawing:
    """Several drawings as one, from left to right, with the keys of all."""
    across, parts = 0.0, []
    for drawing in drawings:
        parts.append(f'<g transform="translate({across:.1f} 0)">{drawing.body}</g>')
        across += drawing.width + 24
    keys = {key.name: key for drawing in drawings for key in drawing.keys}
    return Drawing(across - 24, max(drawing.height for drawing in drawings), "".join(parts), says, tuple(keys.values()))


def _clip(height: float) -> float:
    return min(max(height, TOP - 2), HEIGHT - BOTTOM + 2)
