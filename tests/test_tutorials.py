"""The tutorials run from the raw file to the answers, on small made files of the form of the real ones."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from pages import run_page

FOLDER = Path(__file__).parents[1] / "docs" / "tutorials"


def bank() -> None:
    """Calls with semicolons and quotation marks around names; longer calls end in a deposit more often."""
    rng = np.random.default_rng(0)
    names = {
        "job": ["admin.", "blue-collar", "retired", "student"],
        "marital": ["married", "single"],
        "contact": ["cellular", "telephone"],
        "month": ["may", "jun", "jul"],
    }
    with Path("bank.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(["age", *names, "duration", "euribor3m", "y"])
        for _ in range(500):
            seconds, rate = int(rng.exponential(250)), round(float(rng.normal(4, 1)), 3)
            said = "yes" if seconds / 250 - rate / 2 + rng.normal() / 2 > 0 else "no"
            parts = [str(rng.choice(values)) for values in names.values()]
            writer.writerow([int(rng.integers(18, 90)), *parts, seconds, rate, said])


def flights() -> None:
    """Flights in the order of the schedule; evening flights of one carrier are late more often."""
    rng = np.random.default_rng(1)
    columns = ["year", "month", "day", "dep_time", "sched_dep_time", "dep_delay", "arr_time", "sched_arr_time"]
    columns += ["arr_delay", "carrier", "flight", "tailnum", "origin", "dest", "air_time", "distance", "hour", "minute"]
    with Path("nycflights.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*columns, "time_hour"])
        for number in range(1600):
            hour, carrier = 5 + number % 18, str(rng.choice(["UA", "B6", "EV"]))
            delay = int(rng.normal(3 * (hour - 12) + (15 if carrier == "EV" else -10), 12))
            arrived = "" if rng.random() < 0.02 else delay
            day, place = 1 + number // 100, str(rng.choice(["IAH", "MIA", "ORD"]))
            schedule = [hour * 100, hour * 100 + 15, delay, hour * 100 + 230, hour * 100 + 215, arrived]
            names = [carrier, number, f"N{rng.integers(300)}", str(rng.choice(["EWR", "JFK"])), place]
            when = f"2013-01-{day:02d}T{hour:02d}:00:00Z"
            writer.writerow([2013, 1, day, *schedule, *names, 200, int(rng.integers(200, 2500)), hour, 15, when])


def comments() -> None:
    """Comments and ten annotations of each, of which one in ten is wrong."""
    rng = np.random.default_rng(2)
    words = {
        0: ["article", "source", "history", "page", "edit", "thanks"],
        1: ["idiot", "stupid", "hate", "dumb", "shut", "loser"],
    }
    with (
        Path("toxicity_annotated_comments.tsv").open("w", encoding="utf-8") as texts,
        Path("toxicity_annotations.tsv").open("w", encoding="utf-8") as votes,
    ):
        print("rev_id", "comment", "year", sep="\t", file=texts)
        print("rev_id", "worker_id", "toxicity", sep="\t", file=votes)
        for number in range(250):
            toxic = int(rng.random() < 0.3)
            own = rng.choice(words[toxic], 5).tolist() + rng.choice(["the", "a", "of", "you", "it"], 4).tolist()
            print(f"{100 + number}.0", "NEWLINE_TOKEN".join([" ".join(own), "ok"]), 2004, sep="\t", file=texts)
            for worker in range(10):
                vote = toxic if rng.random() > 0.1 else 1 - toxic
                print(f"{100 + number}.0", worker, vote, sep="\t", file=votes)


#: By the name of a tutorial, what makes its files; the others need none.
MADE = {"bank": bank, "flights": flights, "comments": comments}


@pytest.mark.parametrize("name", MADE)
def test_the_tutorial_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    MADE[name]()
    assert run_page(FOLDER / f"{name}.md") > 8
