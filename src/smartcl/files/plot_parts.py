"""Drawings for a page: lines and stacked areas that are stretched to any width, with text that is not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class CurveLine:
    """A curve: its name, the CSS variable of its colour, points in the unit square, width in pixels, dashes."""

    name: str
    colour: str
    points: Sequence[tuple[float, float | None]]
    width: float
    dashes: str = ""
    dots: bool = False


@dataclass(frozen=True)
class ChangeMark:
    """A numbered vertical line."""

    x: float
    name: str


def plot(
    lines: Sequence[CurveLine],
    ticks: Sequence[str],
    across: str,
    label: str,
    *,
    marks: Sequence[ChangeMark] = (),
    square: bool = False,
    identity: str = "",
) -> str:
    """Lines over a common axis; shares upwards, from the tenth below the least of them where that leaves room."""
    least = 0.0 if square else _least(lines)
    ups = [least + (1 - least) * share for share in (0, 0.25, 0.5, 0.75, 1)]
    if not square and least:
        ups = [tick / 10 for tick in range(round(least * 10), 11)]
        ups = ups if len(ups) <= 6 else ups[len(ups) % 2 == 0 :: 2]

    def at(x: float, y: float) -> str:
        return f"{100 * x:.2f},{100 * (1 - (y - least) / (1 - least)):.2f}"

    drawn = "".join(
        f'<path d="M0,{100 * (1 - (up - least) / (1 - least)):.2f}H100" stroke="var(--rule)" stroke-width="1"/>'
        for up in ups
    )
    drawn += "".join(
        f'<path d="M{100 * mark.x:.2f},0V100" stroke="var(--other)" stroke-width="1" stroke-dasharray="2 3"/>'
        for mark in marks
    )
    for line in reversed(lines):  # the first one lies on top
        there = [(x, y) for x, y in line.points if y is not None]
        if not there:
            continue
        dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
        drawn += (
            f'<path data-curve d="M{" L".join(at(x, y) for x, y in there)}" fill="none" stroke="var({line.colour})" '
            f'stroke-width="{line.width}"{dashes} stroke-linejoin="round"/>'
        )
        if line.dots or len(there) == 1:  # a line of no length with round ends is a dot of any stretch
            drawn += "".join(
                f'<path d="M{at(x, y)}h0" stroke="var({line.colour})" stroke-width="8" stroke-linecap="round"/>'
                for x, y in there
            )
    numbers = "".join(
        f'<span class="y" style="bottom:{100 * (up - least) / (1 - least):.2f}%">{up:.0%}</span>' for up in ups
    )
    numbers += _across(ticks, across)
    numbers += "".join(
        f'<span class="mark{" left" if mark.x > 0.9 else ""}" style="left:{100 * mark.x:.2f}%">'
        f"{escape(mark.name)}</span>"
        for mark in marks
    )
    kind = "plot square" if square else "plot"
    key = _key([(line.name, line.colour) for line in lines])
    return f'{key}<div class="{kind}"{identity}>{_svg(drawn, label)}{numbers}</div>'


def stacked(
    across: Sequence[float],
    shares: Sequence[tuple[str, Sequence[float]]],
    ticks: Sequence[str],
    unit: str,
    label: str,
) -> str:
    """Areas one on the other, a colour for each; what is missing to all rows is left white."""
    drawn, floor = "", [0.0] * len(across)
    # each window is as wide as the rows it has
    begins = [0.0, *across[:-1]]
    for number, (_, values) in enumerate(shares):
        top = [low + value for low, value in zip(floor, values, strict=True)]
        up = " ".join(
            f"L{100 * a:.2f},{100 * (1 - y):.2f} L{100 * b:.2f},{100 * (1 - y):.2f}"
            for a, b, y in zip(begins, across, top, strict=True)
        )
        down = " ".join(
            f"L{100 * b:.2f},{100 * (1 - y):.2f} L{100 * a:.2f},{100 * (1 - y):.2f}"
            for a, b, y in reversed(list(zip(begins, across, floor, strict=True)))
        )
        drawn += f'<path d="M{up[1:]} {down}Z" fill="var(--c{number})" stroke="none" fill-opacity=".85"/>'
        floor = top
    ups = "".join(f'<span class="y" style="bottom:{100 * up:.0f}%">{up:.0%}</span>' for up in (0, 0.5, 1))
    key = _key([(name, f"--c{number}") for number, (name, _) in enumerate(shares)])
    return f'{key}<div class="plot" style="height:9rem">{_svg(drawn, label)}{ups}{_across(ticks, unit)}</div>'


def _svg(drawn: str, label: str) -> str:
    return (
        f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="{escape(label)}">{drawn}</svg>'
    )


def _across(ticks: Sequence[str], unit: str) -> str:
    """The numbers below, as many as stand on a phone, and what they count."""
    last = len(ticks) - 1
    places = ["first", *[""] * (last - 1), "last"]
    numbers = "".join(
        f'<span class="x {place}" style="left:{100 * number / last:.1f}%">{escape(tick)}</span>'
        for number, (tick, place) in enumerate(zip(ticks, places, strict=True))
    )
    return f'{numbers}<span class="across">{escape(unit)}</span>'


def _key(names: Sequence[tuple[str, str]]) -> str:
    entries = "".join(f'<span><i style="background:var({colour})"></i>{escape(name)}</span>' for name, colour in names)
    return f'<div class="key">{entries}</div>'


def _least(lines: Sequence[CurveLine]) -> float:
    """The tenth below all points, at most one half.

    >>> _least([CurveLine("a", "--main", [(0.0, 0.87), (1.0, None)], 1.0)])
    0.5
    """
    values = [y for line in lines for _, y in line.points if y is not None]
    return min(0.5, max(0.0, math.floor(10 * min(values, default=0.0) - 1e-9) / 10))
