"""A learner that forecasts events, with the places and keywords it knows: from a day's counts to probabilities."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

import numpy as np
from scipy import sparse

from smartcl.estimator import SmartClassifier
from smartcl.evaluation.calibration import Calibration
from smartcl.learners.learner import Learner
from smartcl.learners.methods import build_learner, find_method
from smartcl.persistence import load_state, save_state
from smartcl.streams.event_days import EventDays
from smartcl.streams.panel import count_table
from smartcl.streams.stream import InputSpec


@dataclass(frozen=True)
class EventModel:
    """What ``smartcl events --out`` saves. ``SmartClassifier.load`` opens the same folder, without the calibration."""

    learner: Learner
    calibration: Calibration
    places: tuple[str, ...]
    keywords: tuple[str, ...]
    horizon: int
    method: str
    memory: str
    seed: int
    parameters: Mapping[str, Any]

    def forecast(self, counts: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """For each place, the probability of an event within ``horizon`` days after the day of these counts.

        ``counts`` are by place and keyword; keywords that were not there in training are passed over.
        """
        place_number = {name: number for number, name in enumerate(self.places)}
        column = {name: number for number, name in enumerate(self.keywords)}
        stranger = next((place for place in counts if place not in place_number), None)
        if stranger is not None:
            raise ValueError(f"no forecast for {stranger!r}: the model knows {', '.join(self.places)}")
        cells = [
            (place_number[place], column[keyword], count)
            for place, its_counts in counts.items()
            for keyword, count in its_counts.items()
            if keyword in column
        ]
        row, col, value = zip(*cells, strict=True) if cells else ((), (), ())
        shape = (len(self.places), len(self.keywords))
        table = count_table(sparse.coo_array((np.array(value, dtype=np.float64), (row, col)), shape=shape))
        day = EventDays(date.min, self.places, self.keywords, table, np.zeros((1, len(self.places)), dtype=np.bool_))
        asked = np.array([place_number[place] for place in counts], dtype=np.int64)
        raw = self.learner.predict_proba(day.features(asked)).numpy()[:, 1]
        return dict(zip(counts, self.calibration(raw).tolist(), strict=True))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write all that the future depends on, atomically."""
        estimator = SmartClassifier(self.memory, method=self.method, random_state=self.seed)
        save_state(
            folder,
            {
                "parameters": {**estimator.get_params(), **self.parameters},
                "spec": asdict(self.learner.spec),
                "classes": [0, 1],
                "classes_dtype": np.dtype(np.int64).str,
                "fixed_classes": True,
                "feature_names": [*self.keywords, *(f"place: {place}" for place in self.places)],
                "learner": self.learner.state_dict(),
                "events": {"places": self.places, "horizon": self.horizon, "calibration": asdict(self.calibration)},
            },
        )

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> EventModel:
        """The saved model."""
        state = load_state(folder)
        if "events" not in state:
            raise ValueError(f"the model in {folder} was not made to forecast events")
        saved, events = state["parameters"], state["events"]
        method, memory, seed = saved["method"], saved["memory"], saved["random_state"]
        parameters = {name: saved[name] for name in find_method(method).parameters if saved.get(name) is not None}
        learner = build_learner(method, InputSpec(**state["spec"]), memory, seed, **parameters)
        learner.load_state_dict(state["learner"])
        places = tuple(events["places"])
        keywords = tuple(state["feature_names"][: -len(places)])
        calibration = Calibration(**events["calibration"])
        return cls(learner, calibration, places, keywords, events["horizon"], method, memory, seed, parameters)
