"""Scores of a stream as one HTML page that needs no network: numbers, tables and two drawings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --paper: #fff; --line: #2f6f9f; --faint: #8a97a5;
  --cell: 47,111,159; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --paper: #14191f; --line: #7db8e0;
  --cell: 125,184,224; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; } .wide { overflow-x: auto; }
th, td { padding: .15rem .7rem; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; } thead th { border-bottom: 1px solid var(--faint); }
svg { width: 100%; height: auto; } .axis { stroke: var(--faint); fill: none; } .grid { opacity: .25; }
  .curve { stroke: var(--line); fill: none; stroke-width: 2; } .dot { fill: var(--line); }
  text { fill: var(--faint); font-size: 11px; }
"""
WIDTH, HEIGHT, EDGE = 640, 240, 40
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: How much of its colour the fullest cell has: what is written in it stays readable.
STRONGEST = 0.5
MOST_CLASSES = 40


def scores_page(result: dict[str, Any], model: str, inputs: Sequence[str]) -> str:
    """The page of what ``StreamScores.as_dict`` gave."""
    how = "as it is" if result["frozen"] else "test, then train"
    head = (
        f"{result['rows']:,} rows of {', '.join(inputs)}, {how}: accuracy {_share(result['accuracy'])} "
        f"(majority {_share(result['majority_share'])}), balanced accuracy {_share(result['balanced_accuracy'])}, "
        f"Brier score {result['brier']:.4f}, logarithmic loss {result['log_loss']:.4f}, "
        f"calibration error {_share(result['calibration_error'])}."
    )
    classes = sorted(result["classes"], key=lambda line: -line["rows"])
    names = [line["class"] for line in classes[:MOST_CLASSES]]
    time = [(point["rows"] / result["rows"], point["accuracy"], 0.0) for point in result["over_time"]]
    said = [(line["said"], line["true"], line["rows"] / result["rows"]) for line in result["calibration"]]
    counts = [f"{round(share * result['rows']):,}" for share in TICKS]
    shares = [f"{share:.0%}" for share in TICKS]
    by_class = ([c["class"], f"{c['rows']:,}", *map(_share, (c["precision"], c["recall"], c["f1"]))] for c in classes)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(model)}: evaluation</title><style>{STYLE}</style></head><body>"
        f"<h1>{escape(model)}</h1><p>{escape(head)}</p>"
        f"<h2>Accuracy over time</h2>{_drawing(time, 'rows', counts, 'accuracy', diagonal=False)}"
        f"<h2>By class</h2>{_table(('class', 'rows', 'precision', 'recall', 'F1'), by_class)}"
        f"<h2>Confusion</h2><p>Labels by row, predictions by column.</p>{_confusion(result, names)}"
        f"<h2>Calibration</h2><p>The larger a dot, the more rows; on the dashed line, what is said comes true.</p>"
        f"{_drawing(said, 'probability said', shares, 'share that came true', diagonal=True)}"
        f"{_counts('Skipped', 'why', result['skipped'])}{_counts('Missing values', 'column', result['missing'])}"
        "</body></html>\n"
    )


def _drawing(
    points: Sequence[tuple[float, float | None, float]], across: str, ticks: Sequence[str], up: str, diagonal: bool
) -> str:
    """A curve inside the unit square: across, up, and how much of all there is behind each point."""

    def at(x: float, y: float) -> str:
        return f"{EDGE + x * (WIDTH - 2 * EDGE):.1f},{HEIGHT - EDGE - y * (HEIGHT - 2 * EDGE):.1f}"

    there = [(x, y, share) for x, y, share in points if y is not None]
    curve = " ".join(at(x, y) for x, y, _ in there)
    dots = "".join(
        f'<g transform="translate({at(x, y)})"><circle class="dot" r="{3 + 7 * share**0.5:.1f}">'
        f"<title>{x:.2f}: {y:.1%}</title></circle></g>"
        for x, y, share in there
    )
    grid = "".join(
        f'<polyline class="axis grid" points="{at(0, tick)} {at(1, tick)}"/>'
        f'<text text-anchor="end" transform="translate({at(0, tick)})" dx="-5" dy="4">{tick:.0%}</text>'
        f'<text text-anchor="middle" transform="translate({at(tick, 0)})" dy="15">{escape(name)}</text>'
        for tick, name in zip(TICKS, ticks, strict=True)
    )
    ideal = f'<polyline class="axis" stroke-dasharray="3 4" points="{at(0, 0)} {at(1, 1)}"/>' if diagonal else ""
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(up)} by {escape(across)}">'
        f'<polyline class="axis" points="{at(0, 1)} {at(0, 0)} {at(1, 0)}"/>{grid}{ideal}'
        f'<polyline class="curve" points="{curve}"/>{dots}'
        f'<text x="{EDGE}" y="{EDGE - 14}">{escape(up)}</text>'
        f'<text x="{WIDTH - EDGE}" y="{HEIGHT - 5}" text-anchor="end">{escape(across)}</text></svg>'
    )


def _counts(title: str, first: str, counts: dict[str, int]) -> str:
    rows = ([name, f"{count:,}"] for name, count in counts.items())
    return f"<h2>{title}</h2>{_table((first, 'rows'), rows)}" if counts else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _confusion(result: dict[str, Any], names: Sequence[str]) -> str:
    counts = {(cell["label"], cell["prediction"]): cell["rows"] for cell in result["confusion"]}
    rows = {line["class"]: max(1, line["rows"]) for line in result["classes"]}
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *names))
    lines = []
    for label in names:
        cells = "".join(
            f'<td style="background: rgba(var(--cell),{STRONGEST * counts.get((label, said), 0) / rows[label]:.2f})">'
            f"{counts.get((label, said), 0):,}</td>"
            for said in names
        )
        lines.append(f"<tr><td>{escape(label)}</td>{cells}</tr>")
    body = "".join(lines)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
