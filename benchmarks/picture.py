"""The picture of the README: accuracy against rows a second on real streams, out of ``benchmarks/results.json``.

``python -m benchmarks.picture`` writes ``docs/accuracy-speed.svg``; ``python -m benchmarks tables`` comes before.
"""

from __future__ import annotations

import json
from math import log10
from pathlib import Path
from typing import Any

from benchmarks.__main__ import PATH
from smartcl.paper.report.svg import Drawing, Key, marker, rule, text

OUT = Path(__file__).parents[1] / "docs" / "accuracy-speed.svg"
#: The streams by the beginning of their figures, and the learners by the end of them.
STREAMS = {"elec": "elec (prices)", "weather": "weather", "covtype": "covtype (forest)", "flights": "flights"}
LEARNERS = {
    "default in 100kB": Key("smartcl", "smartcl, 100 kB", "red"),
    "river-arf": Key("arf", "River's adaptive random forest", "blue"),
    "lightgbm": Key("lightgbm", "LightGBM refitted on a window", "green"),
    "logistic": Key("logistic", "logistic regression by steps", "violet"),
}
WIDTH, HEIGHT, SPAN = 760.0, 250.0, 180.0
#: Rows a second at the left and at the right end.
SLOW, FAST = 300.0, 300_000.0


def scores(stream: str, learner: str, lines: list[dict[str, Any]]) -> dict[str, float] | None:
    """The means of a learner on a stream; None where they were not measured."""
    named = (line for line in lines if line["figure"].startswith(f"{stream}, ") and "frozen" not in line["figure"])
    return next((line["means"] for line in named if line["figure"].endswith(f", {learner}: accuracy")), None)


def panel(stream: str, left: float, lines: list[dict[str, Any]]) -> str:
    """One stream: a mark for each learner."""
    found = {key: got for learner, key in LEARNERS.items() if (got := scores(stream, learner, lines)) is not None}
    accuracies = [each["accuracy"] for each in found.values()]
    low, high = int(min(accuracies)) - 1, int(max(accuracies)) + 2
    top, bottom = 40.0, HEIGHT - 50

    def place(accuracy: float) -> float:
        return bottom - (accuracy - low) / (high - low) * (bottom - top)

    parts = [text(left + SPAN / 2, 20, STREAMS[stream]), rule(left, bottom, left + SPAN - 18, bottom, "muted")]
    for value in (low, high):
        parts += [rule(left, place(value), left + SPAN - 18, place(value), "line")]
        parts += [text(left - 4, place(value) + 4, str(value), anchor="end", colour="muted")]
    for pace, said in ((1e3, "1,000"), (1e5, "100,000")):
        parts.append(text(left + across(pace), bottom + 18, said, colour="muted"))
    for key, got in found.items():
        says = f"{key.label}: {got['accuracy']:.1f}%, {got['rows_a_second']:,.0f} rows a second"
        parts.append(marker(left + across(got["rows_a_second"]), place(got["accuracy"]), key.colour, says))
    return "".join(parts)


def across(pace: float) -> float:
    """How far to the right a speed is."""
    return (SPAN - 18) * log10(pace / SLOW) / log10(FAST / SLOW)


def main() -> None:
    """Write the picture."""
    lines = json.loads(PATH.read_text())["tables"]
    body = "".join(panel(stream, 34 + place * (SPAN + 4), lines) for place, stream in enumerate(STREAMS))
    body += text(WIDTH / 2, HEIGHT - 8, "rows a second of one core: each batch of 50 predicted, then learned")
    says = "Accuracy in percent against rows a second on four real streams"
    OUT.write_text(Drawing(WIDTH, HEIGHT, body, says, tuple(LEARNERS.values())).file(), encoding="utf-8")


if __name__ == "__main__":
    main()
