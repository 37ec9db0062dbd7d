"""Tables for tests: small, seeded, with a label that can be learned."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

#: Settings that make training quick; the same as options of the command.
QUICK = {"hidden": (12,), "iterations": 2, "lr": 1e-2}
QUICK_OPTIONS = ["--set", "hidden=12", "--set", "iterations=2", "--set", "lr=0.01"]

WORDS = {
    "spam": "free prize winner call now claim cash urgent",
    "ham": "lunch tomorrow home sorry thanks meeting later ok",
}


def mixed_rows(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Rows of every kind of column: the label follows the number and the colour."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for number in range(count):
        size, colour = round(float(rng.normal()), 3), str(rng.choice(["red", "green", "blue"]))
        rows.append(
            {
                "id": f"row-{number}",
                "size": "" if rng.random() < 0.05 else size,
                "colour": colour,
                "sold": bool(rng.random() < 0.5),
                "day": f"2024-{1 + number % 12:02d}-{1 + number % 28:02d}",
                "kind": "big" if size > 0 else "small",
            }
        )
    return rows


def text_rows(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Short messages of two classes."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        label = str(rng.choice(["spam", "ham"]))
        own = rng.choice(WORDS[label].split(), 4).tolist()
        others = rng.choice(["a", "the", "it", "you", "we"], 3).tolist()
        rows.append({"label": label, "message": " ".join([*own, *others])})
    return rows


def csv_text(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text(csv_text(rows), encoding="utf-8")
    return path
