"""Small calendars of keyword counts and events, and the files a user would have of them."""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

import numpy as np

from smartcl.events.calendar import EventDays
from smartcl.events.counts import count_table

#: Settings that walk through a small calendar in a second.
QUICK = {"hidden": (8,), "iterations": 6, "lr": 2e-2, "average": 0.9}


def example_days(
    n_places: int = 6, n_days: int = 90, n_keywords: int = 10, signal: float = 0.85, seed: int = 0
) -> EventDays:
    """Events at random; on the day before one, keyword 0 occurs with the probability ``signal``, else seldom."""
    rng = np.random.default_rng(seed)
    events = rng.random((n_days, n_places)) < rng.uniform(0.1, 0.3, n_places)
    counts = rng.poisson(0.2, size=(n_days, n_places, n_keywords))
    counts[..., 0] = rng.random(events.shape) < 0.05
    counts[:-1, :, 0] += events[1:] & (rng.random(events[1:].shape) < signal)
    return EventDays(
        date(2014, 1, 1),
        tuple(f"city {number}" for number in range(n_places)),
        tuple(f"word {number}" for number in range(n_keywords)),
        count_table(counts.reshape(-1, n_keywords)),
        events,
    )


def write_files(days: EventDays, folder: Path) -> tuple[Path, Path]:
    """Its counts and events as CSV, under the column names city, day, keyword and count."""
    counts, events = folder / "counts.csv", folder / "events.csv"
    table = days.counts.tocoo()
    write_csv(
        counts,
        ("city", "day", "keyword", "count"),
        (
            (days.places[row % days.n_places], days.day(row // days.n_places), days.keywords[column], int(value))
            for row, column, value in zip(*(part.tolist() for part in (*table.coords, table.data)), strict=True)
        ),
    )
    write_csv(
        events,
        ("city", "day"),
        ((days.places[place], days.day(day)) for day, place in np.argwhere(days.events).tolist()),
    )
    return counts, events


def write_csv(path: Path, header: object, rows: object) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)  # type: ignore[arg-type]
        writer.writerows(rows)  # type: ignore[arg-type]
