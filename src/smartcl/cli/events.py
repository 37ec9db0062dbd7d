"""``smartcl events``: forecast your own events from keyword counts."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from smartcl.cli.loading import loading
from smartcl.cli.options import AsJson, Memory, MethodName, Seed, SettingsOption
from smartcl.cli.screen import screen, shown, tell
from smartcl.cli.usage import arguments_checked, assignments, failure_of, json_text, one_thread
from smartcl.memory import format_bytes

SHOWN_PLACES = 20


def events(
    counts: Annotated[
        Path, typer.Option(help="Keyword counts, a row per place, date and keyword: .csv, .parquet, .jsonl.")
    ],
    events: Annotated[Path, typer.Option(help="Events, a row per event with its place and date.")],
    place: Annotated[str, typer.Option(help="The column of the place, in both files.")] = "place",
    date: Annotated[str, typer.Option(help="The column of the ISO date, in both files.")] = "date",
    keyword: Annotated[str, typer.Option(help="The column of the keyword.")] = "keyword",
    count: Annotated[str, typer.Option(help="The column of the count.")] = "count",
    horizon: Annotated[int, typer.Option(min=1, help="Forecast an event within this number of days.")] = 1,
    memory: Memory = "1MB",
    method: MethodName = "smart",
    settings: SettingsOption = None,
    seed: Seed = 0,
    test_from: Annotated[
        str | None, typer.Option(metavar="DATE", help="The first day whose forecasts are scored; else after a third.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A folder for the model, forecast.csv and backtest.csv.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the model in the folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forecast events at each place from keyword counts, with a backtest that never looks ahead."""
    with loading():
        from smartcl.cli.screen import bar_for, live_bars
        from smartcl.events.event_files import ColumnNames
        from smartcl.events.forecast import check_folder
        from smartcl.events.prepare import EventSpec, prepare_forecast
    with arguments_checked():
        if out is not None:
            check_folder(out, overwrite)
        first = None if test_from is None else _day("--test-from", test_from)
        spec = EventSpec(horizon, method, memory, seed, assignments(settings or []), first)
        prepared = prepare_forecast(counts, events, ColumnNames(place, date, keyword, count), spec)
    one_thread()
    with live_bars() as bars:
        forecast = prepared.run(bar_for(bars, method))
    failure = None if out is None else failure_of(lambda: forecast.save(out))
    result = forecast.as_dict()
    if as_json:
        print(json_text(result))
    else:
        _show(result, None if failure else out)
    if failure is not None:
        raise failure


def _day(option: str, text: str) -> dt.date:
    from smartcl.events.event_columns import day_of

    try:
        return day_of(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def _show(result: dict[str, Any], out: Path | None) -> None:
    console = screen()
    console.print(
        f"{result['places']:,} places, {result['first_day']} to {result['last_day']}, {result['keywords']:,} keywords, "
        f"{result['event_days']:,} days with events",
        highlight=False,
    )
    console.print(_backtest(result))
    console.print(_forecast(result))
    hidden = result["places"] - SHOWN_PLACES
    if hidden > 0:
        tell(f"and {hidden:,} more places: {'--json or --out' if out is None else out / 'forecast.csv'}")
    used, budget = format_bytes(result["memory_bytes"]), format_bytes(result["budget_bytes"])
    console.print(f"memory: {result['samples_held']:,} samples in {used} of {budget}; {result['seconds']:.1f} seconds")
    if out is not None:
        tell(f"saved: {out} (model, forecast.csv, backtest.csv)")


def _backtest(result: dict[str, Any]) -> Table:
    backtest = result["backtest"]
    first = next(iter(backtest["lines"].values()))
    table = Table(
        title=f"Backtest {backtest['from']} to {backtest['until']}: "
        f"{first['forecasts']:,} forecasts, {first['events']:,} events followed",
        title_justify="left",
    )
    table.add_column("")
    for name in ("AUC", "AUC within a place", "balanced accuracy, %", "Brier score"):
        table.add_column(name, justify="right")
    for name, line in backtest["lines"].items():
        table.add_row(
            name,
            _number(line["auc"], 3),
            _number(line["auc_within_places"], 3),
            _number(line["balanced_accuracy"], 1),
            _number(line["brier"], 4),
            style="bold" if name == result["method"] else None,
        )
    return table


def _forecast(result: dict[str, Any]) -> Table:
    first = result["forecast"][0]
    table = Table(title=f"Forecast of {first['day']}: an event within {_days(result['horizon'])}", title_justify="left")
    table.add_column("place")
    table.add_column("window")
    for name in ("probability", "base rate", "AUC in backtest"):
        table.add_column(name, justify="right")
    window = first["from"] if first["from"] == first["until"] else f"{first['from']} to {first['until']}"
    for row in sorted(result["forecast"], key=lambda row: -row["probability"])[:SHOWN_PLACES]:
        scores = result["backtest"]["places"][row["place"]][result["method"]]
        table.add_row(
            shown(row["place"]),
            window,
            f"{row['probability']:.1%}",
            f"{row['base_rate']:.1%}",
            _number(scores["auc"], 3),
        )
    return table


def _days(horizon: int) -> str:
    return "1 day" if horizon == 1 else f"{horizon} days"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
