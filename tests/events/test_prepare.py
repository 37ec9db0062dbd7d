from __future__ import annotations

import csv
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from event_examples import QUICK, example_days, write_files
from helpers import assert_same_state
from smartcl.estimator import SmartClassifier
from smartcl.events import forecast as event_forecast
from smartcl.events.calendar import EventDays
from smartcl.events.counts import count_table
from smartcl.events.event_files import ColumnNames
from smartcl.events.event_model import EventModel
from smartcl.events.forecast import EventForecast, check_folder
from smartcl.events.prepare import LEAST_TESTED_DAYS, PARTS, EventSpec, first_test_day, least_days, prepare_forecast

NAMES = ColumnNames("city", "day")
SPEC = EventSpec(memory="20kB", parameters=QUICK)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[EventForecast, Path]:
    """A forecast of the example, saved."""
    folder = tmp_path_factory.mktemp("events")
    forecast = prepare_forecast(*write_files(example_days(), folder), NAMES, SPEC).run()
    forecast.save(folder / "model")
    return forecast, folder / "model"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_precursor_beats_the_lines_that_need_no_learning(made: tuple[EventForecast, Path]) -> None:
    backtest = made[0].backtest()
    smart, base, majority = (backtest["lines"][name] for name in ("smart", "place base rate", "majority"))
    assert (backtest["from"], backtest["until"]) == ("2014-01-31", "2014-03-30")
    assert smart["forecasts"] == base["forecasts"] == majority["forecasts"] == 59 * 6
    assert smart["events"] == example_days().events[31:].sum()
    assert smart["auc"] > 0.8
    assert smart["auc"] > base["auc"] + 0.15
    assert smart["brier"] < 0.8 * base["brier"]
    assert base["brier"] < majority["brier"]
    assert sum(place["smart"]["events"] for place in backtest["places"].values()) == smart["events"]


def test_the_latest_forecast_is_of_the_days_after_the_last(made: tuple[EventForecast, Path]) -> None:
    forecast, folder = made
    rows = forecast.latest()
    assert [row["place"] for row in rows] == list(example_days().places)
    assert {(row["day"], row["from"], row["until"]) for row in rows} == {("2014-03-31", "2014-04-01", "2014-04-01")}
    written = rows_of(folder / "forecast.csv")
    assert list(written[0]) == ["city", "day", "from", "until", "probability", "base_rate"]
    assert [float(row["probability"]) for row in written] == [row["probability"] for row in rows]


def test_the_backtest_is_written_forecast_by_forecast(made: tuple[EventForecast, Path]) -> None:
    forecast, folder = made
    written = rows_of(folder / "backtest.csv")
    errors = [(float(row["probability"]) - int(row["event"])) ** 2 for row in written]
    assert np.mean(errors) == pytest.approx(forecast.backtest()["lines"]["smart"]["brier"], abs=1e-5)
    assert (written[0]["city"], written[0]["day"]) == ("city 0", "2014-01-31")


def test_a_loaded_model_forecasts_the_same(made: tuple[EventForecast, Path]) -> None:
    forecast, folder = made
    model = EventModel.load(folder)
    assert_same_state(model.learner.state_dict(), forecast.model.learner.state_dict())
    days = example_days()
    today = days.between(days.n_days - 1, days.n_days - 1).counts.toarray()
    counts = {
        place: {word: count for word, count in zip(days.keywords, row, strict=True) if count} | {"never seen": 3.0}
        for place, row in zip(days.places, today, strict=True)
    }
    expected = {row["place"]: pytest.approx(row["probability"]) for row in forecast.latest()}
    assert model.forecast(counts) == expected
    assert model.forecast({"city 3": counts["city 3"]}) == {"city 3": expected["city 3"]}
    with pytest.raises(ValueError, match="no forecast for 'Atlantis': the model knows city 0, city 1"):
        model.forecast({"Atlantis": {}})


def test_the_estimator_opens_the_folder_too(made: tuple[EventForecast, Path]) -> None:
    forecast, folder = made
    model = SmartClassifier.load(folder)
    assert model.feature_names_in_.tolist() == list(forecast.days.feature_names)
    assert_same_state(model.learner_.state_dict(), forecast.model.learner.state_dict())
    assert model.classes_.tolist() == [0, 1]


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    x, y = np.eye(4), np.array([0, 1, 0, 1])
    SmartClassifier("1kB", hidden=(4,), iterations=1, random_state=0).fit(x, y).save(tmp_path / "other")
    with pytest.raises(ValueError, match="was not made to forecast events"):
        EventModel.load(tmp_path / "other")


def test_a_keyword_counted_after_the_event_is_told(tmp_path: Path) -> None:
    days = example_days()
    counts = days.counts.toarray()
    counts[:, 1] = (days.labels(1) == 1).reshape(-1)
    files = write_files(replace(days, counts=count_table(counts)), tmp_path)
    with pytest.warns(UserWarning, match=r"the count of 'word 1' alone tells events with an AUC of 1.000"):
        prepare_forecast(*files, NAMES, SPEC)


def test_what_forecasting_sets_and_what_the_user_sets(tmp_path: Path) -> None:
    files = write_files(example_days(), tmp_path)
    prepared = prepare_forecast(*files, NAMES, EventSpec(parameters={"hidden": "5"}))
    learning = {"lr": 1e-3, "iterations": 10, "smoothing": 0.0, "robust": 0.0, "distill": 0.0, "trust": False}
    assert prepared.built.parameters == {"hidden": (5,), **learning}
    assert "smoothing" not in prepare_forecast(*files, NAMES, EventSpec(method="smart-paper")).built.parameters
    with pytest.raises(ValueError, match="'gem' must be told which task each sample is of"):
        prepare_forecast(*files, NAMES, EventSpec(method="gem"))


@pytest.mark.parametrize("horizon", [1, 7])
def test_the_least_number_of_days_is_the_least(horizon: int) -> None:
    def start(n_days: int) -> int:
        return first_test_day(example_days(n_days=n_days), horizon)

    with pytest.raises(ValueError, match="too few days: counts reach from 2014-01-01 to 2014-01-05, 5 days") as refused:
        start(5)
    least = int(str(refused.value).rsplit(" ", 1)[1])
    assert least - horizon - start(least) == 10
    with pytest.raises(ValueError, match="too few days"):
        start(least - 1)


def test_the_least_number_of_days_is_worked_out_and_not_searched_for() -> None:
    def enough(n_days: int, horizon: int) -> bool:
        start = horizon + (n_days - horizon) // PARTS
        return n_days - horizon - start >= LEAST_TESTED_DAYS

    for horizon in range(1, 100):
        assert enough(least_days(horizon), horizon)
        assert not any(enough(n_days, horizon) for n_days in range(least_days(horizon)))


def test_the_first_tested_day_can_be_chosen() -> None:
    days = example_days()
    assert first_test_day(days, 2, date(2014, 1, 4)) == 3
    for wrong in (date(2014, 1, 3), date(2014, 3, 30), date(2020, 1, 1)):
        with pytest.raises(ValueError, match=f"must lie in 2014-01-04 to 2014-03-29 for a horizon of 2, got {wrong}"):
            first_test_day(days, 2, wrong)


@pytest.mark.parametrize(("all_events", "message"), [(True, "every day at every place"), (False, "no day with counts")])
def test_there_must_be_something_to_tell_apart(all_events: bool, message: str, tmp_path: Path) -> None:
    days = example_days()
    events = np.full(days.events.shape, all_events)
    events[0] = True
    with pytest.raises(ValueError, match=f"nothing to forecast: {message} is followed by an event within 1 days"):
        prepare_forecast(*write_files(replace(days, events=events), tmp_path), NAMES, SPEC)


def test_only_a_model_is_replaced_and_only_if_asked(made: tuple[EventForecast, Path], tmp_path: Path) -> None:
    _, model = made
    check_folder(tmp_path / "new", overwrite=False)
    (tmp_path / "empty").mkdir()
    check_folder(tmp_path / "empty", overwrite=False)
    check_folder(model, overwrite=True)
    with pytest.raises(ValueError, match="holds a saved model: add --overwrite"):
        check_folder(model, overwrite=False)
    (tmp_path / "thesis.tex").write_text("years of work")
    for folder, message in (
        (tmp_path, "a whole saved model: .*model.json is missing"),
        (tmp_path / "thesis.tex", "is a file"),
    ):
        with pytest.raises(ValueError, match=message):
            check_folder(folder, overwrite=True)


def test_an_interrupted_save_leaves_the_old_files_whole(
    made: tuple[EventForecast, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forecast, _ = made
    forecast.save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(event_forecast, "write_file", interrupt)
    with pytest.raises(KeyboardInterrupt):
        forecast.save(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_the_calendar_may_hold_a_single_place(tmp_path: Path) -> None:
    days: EventDays = example_days(n_places=1, n_days=60, seed=3)
    result = prepare_forecast(*write_files(days, tmp_path), NAMES, SPEC).run().as_dict()
    assert len(result["forecast"]) == 1
    assert result["backtest"]["lines"]["smart"]["auc"] == result["backtest"]["lines"]["smart"]["auc_within_places"]
