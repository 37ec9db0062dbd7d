"""A learner that forecasts events, with the places and keywords it knows: from a day's counts to probabilities."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date

import numpy as np
from scipy import sparse

from smartcl.estimator import SmartClassifier
from smartcl.estimator.fitted import Built
from smartcl.events.calendar import EventDays
from smartcl.events.counts import count_table
from smartcl.events.event_calibration import EventCalibration
from smartcl.learners.stream_learner import StreamLearner
from smartcl.saving.saved import Saved


@dataclass(frozen=True)
class EventModel:
    """What ``smartcl events --out`` saves. ``SmartClassifier.load`` opens the same folder, and keeps the calibration
    in it when it saves.
    """

    learner: StreamLearner
    calibration: EventCalibration
    places: tuple[str, ...]
    keywords: tuple[str, ...]
    horizon: int
    seed: int
    built: Built

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
        names = [*self.keywords, *(f"place: {place}" for place in self.places)]
        calibration = asdict(self.calibration)
        events = {"places": list(self.places), "horizon": self.horizon, "seed": self.seed, "calibration": calibration}
        SmartClassifier._around(self.learner, np.array([0, 1]), self.built, names, {"events": events}).save(folder)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], trust: Sequence[str] | str = ()) -> EventModel:
        """The saved model; ``trust`` names the modules that may be imported for it, as of ``SmartClassifier.load``."""
        model = SmartClassifier.load(folder, trust)
        if "events" not in model._fitted.companions:
            raise ValueError(f"the model in {folder} was not made to forecast events")
        saved = Saved(model._fitted.companions).part("events")
        places = tuple(str(place) for place in saved.items("places"))
        calibration = saved.part("calibration")
        if not 0 < len(places) < model.n_features_in_:
            saved.refuse("places", f"must be fewer than the {model.n_features_in_} features, are {len(places)}")
        return cls(
            model.learner_,
            EventCalibration(*(calibration.number(part.name) for part in fields(EventCalibration))),
            places,
            tuple(model.feature_names_in_[: -len(places)].tolist()),
            saved.whole("horizon", 1),
            saved.whole("seed", 0),
            model._fitted.built,
        )
