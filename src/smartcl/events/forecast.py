"""Result of forecasting events: the backtest, the forecast of the latest day, and the folder they are saved in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from smartcl.events.calendar import EventDays
from smartcl.events.event_files import ColumnNames
from smartcl.events.event_model import EventModel
from smartcl.events.scores import ForecastScores, auc_within_places, scores_by_place
from smartcl.events.walk_forward import Walk
from smartcl.saving.atomic import check_writable, write_file
from smartcl.saving.persistence import load_state, path_of

#: The lines that need no learning.
BASE_RATE, MAJORITY = "place base rate", "majority"


@dataclass(frozen=True)
class EventForecast:
    """Forecasts of every day, of which those from ``first_tested`` on are scored, and the model that made them."""

    days: EventDays
    walk: Walk
    first_tested: int
    model: EventModel
    names: ColumnNames
    seconds: float

    def latest(self) -> list[dict[str, Any]]:
        """For each place, the forecast made on the last day."""
        today = self.days.n_days - 1
        return [
            {
                "place": place,
                "day": self.days.last.isoformat(),
                "from": self.days.day(today + 1).isoformat(),
                "until": self.days.day(today + self.model.horizon).isoformat(),
                "probability": float(self.walk.probability[today, number]),
                "base_rate": float(self.walk.base_rate[today, number]),
            }
            for number, place in enumerate(self.days.places)
        ]

    def backtest(self) -> dict[str, Any]:
        """The scores of the method and of the lines beside it, on the same forecasts: of all, and of each place."""
        tested = slice(self.first_tested, self.days.n_days - self.model.horizon)
        usual, labels = self.walk.share[tested], self.walk.labels[tested]
        lines = {
            self.model.built.method: self.walk.probability[tested],
            BASE_RATE: self.walk.base_rate[tested],
            MAJORITY: self.walk.majority[tested],
        }
        by_place = {name: scores_by_place(line, usual, labels) for name, line in lines.items()}
        return {
            "from": self.days.day(tested.start).isoformat(),
            "until": self.days.day(tested.stop - 1).isoformat(),
            "lines": {
                name: {
                    **asdict(ForecastScores.of(line, usual, labels)),
                    "auc_within_places": auc_within_places(by_place[name]),
                }
                for name, line in lines.items()
            },
            "places": {
                place: {name: asdict(scores[number]) for name, scores in by_place.items()}
                for number, place in enumerate(self.days.places)
            },
        }

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        memory = self.model.learner.memory
        return {
            "method": self.model.built.method,
            "memory": self.model.built.memory,
            "seed": self.model.seed,
            "parameters": dict(self.model.built.parameters),
            "horizon": self.model.horizon,
            "first_day": self.days.first.isoformat(),
            "last_day": self.days.last.isoformat(),
            "places": self.days.n_places,
            "keywords": len(self.days.keywords),
            "event_days": int(self.days.events.sum()),
            "forecast": self.latest(),
            "backtest": self.backtest(),
            "samples_held": len(memory.store),
            "memory_bytes": memory.store.nbytes,
            "budget_bytes": memory.budget.nbytes,
            "features_kept": len(memory.store.schema),
            "seconds": self.seconds,
        }

    def save(self, folder: Path) -> None:
        """The model, ``forecast.csv`` and ``backtest.csv``; each file is replaced whole."""
        self.model.save(folder)
        header = (self.names.place, self.names.date)
        forecast = ([row[name] for name in ("place", "day", *_FORECAST)] for row in self.latest())
        write_file(folder / "forecast.csv", _csv((*header, *_FORECAST), forecast))
        write_file(folder / "backtest.csv", _csv((*header, "probability", "base_rate", "event"), self._history()))

    def _history(self) -> Iterable[Sequence[Any]]:
        """Every scored forecast and what came true."""
        walk = self.walk
        for day in range(self.first_tested, self.days.n_days - self.model.horizon):
            for place, name in enumerate(self.days.places):
                values = (walk.probability[day, place], walk.base_rate[day, place], walk.labels[day, place])
                yield name, self.days.day(day).isoformat(), *(f"{value:.6g}" for value in values)


_FORECAST = ("from", "until", "probability", "base_rate")


def check_folder(folder: Path, overwrite: bool) -> None:
    """Check that a result can be saved here: the folder is new or empty, or holds a model that is to be replaced."""
    if path_of(folder, "--out").exists() and not folder.is_dir():
        raise ValueError(f"--out must be a folder, but {folder} is a file")
    if folder.exists() and any(folder.iterdir()):
        _check_model(folder)
        if not overwrite:
            raise ValueError(f"{folder} holds a saved model: add --overwrite to replace it, or name another folder")
    check_writable(folder)


def _check_model(folder: Path) -> None:
    """What is replaced must be a model, and whole: what cannot be loaded may be the user's own work."""
    try:
        load_state(folder)
    except PermissionError:
        raise
    except Exception as error:
        raise ValueError(f"--out must be a new folder or hold a whole saved model: {error}") from None


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()
