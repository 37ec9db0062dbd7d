"""Meaning of a single value: a number, a truth value, a moment, a name, or nothing."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.columns.records import Values

#: Texts that stand for no value, blanks around them dropped.
MISSING = frozenset(
    ("", "NA", "N/A", "n/a", "na", "NaN", "nan", "null", "NULL", "Null", "None", "none", "?", "-", "#N/A", "NaT")
)
TRUE, FALSE = ("true", "yes", "t", "y", "on"), ("false", "no", "f", "n", "off")

#: In the place of a value that cannot be read as what its column holds.
UNREADABLE = math.inf
#: What the network can take, in single precision.
LARGEST = float(np.finfo(np.float32).max)


def is_missing(value: Any) -> bool:
    """Whether this is no value.

    >>> [is_missing(value) for value in (None, float("nan"), " NA ", 0, "0")]
    [True, True, True, False, False]
    """
    if isinstance(value, str):
        return value.strip() in MISSING
    return value is None or (isinstance(value, float | np.floating) and math.isnan(value)) or is_not_there(value)


def is_not_there(value: Any) -> bool:
    """Whether this is NumPy's or pandas' word for no moment, or pandas' for nothing."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return type(value).__name__ in ("NaTType", "NAType")


def number_of(value: Any) -> float:
    """A number, of a span of time its seconds; NaN for no value, ``UNREADABLE`` for anything else.

    >>> [number_of(value) for value in ("1.5", "", "soon", True, 2)]
    [1.5, nan, inf, 1.0, 2.0]
    """
    if is_missing(value):
        return math.nan
    try:
        number = _seconds(value) if isinstance(value, timedelta | np.timedelta64) else float(value)
    except (TypeError, ValueError, OverflowError):
        return UNREADABLE
    return number if -LARGEST <= number <= LARGEST else UNREADABLE


def _seconds(span: timedelta | np.timedelta64) -> float:
    return span.total_seconds() if isinstance(span, timedelta) else float(span / np.timedelta64(1, "s"))


def clock_of(value: Any) -> float:
    """A time of the day in hours, written 17:30, 17:30:15 or 1730; as ``number_of`` for what is none.

    >>> [clock_of(value) for value in ("17:30", 1730, 5, "24:00", 1775)]
    [17.5, 17.5, 0.08333333333333333, 24.0, inf]
    """
    if isinstance(value, time):
        return value.hour + value.minute / 60 + value.second / 3600
    if isinstance(value, str) and ":" in value:
        parts = value.strip().split(":")
        if len(parts) not in (2, 3) or not all(part.isdecimal() and len(part) <= 2 for part in parts):
            return UNREADABLE
        hours, minutes, seconds = (*map(int, parts), 0)[:3]
    else:
        number = number_of(value)
        if math.isnan(number) or number == UNREADABLE or not number.is_integer() or not 0 <= number <= 2400:
            return number if math.isnan(number) else UNREADABLE
        hours, minutes, seconds = int(number) // 100, int(number) % 100, 0
    there = minutes < 60 and seconds < 60 and (hours < 24 or (hours, minutes, seconds) == (24, 0, 0))
    return hours + minutes / 60 + seconds / 3600 if there else UNREADABLE


def truth_of(value: Any) -> float:
    """1 for true, 0 for false, as ``number_of`` for what is neither.

    >>> [truth_of(value) for value in ("Yes", "false", True, 0, "maybe")]
    [1.0, 0.0, 1.0, 0.0, inf]
    """
    if isinstance(value, str) and (word := value.strip().lower()) in (*TRUE, *FALSE):
        return float(word in TRUE)
    number = number_of(value)
    return number if number in (0.0, 1.0) or math.isnan(number) else UNREADABLE


def seconds_of(value: Any) -> float:
    """A moment as seconds since 1970, in UTC unless it says otherwise; as ``number_of`` for what is none.

    >>> seconds_of("1970-01-02"), seconds_of("1970-01-01 00:01"), seconds_of("soon")
    (86400.0, 60.0, inf)
    """
    if is_missing(value):
        return math.nan
    if isinstance(value, np.datetime64):
        return float((value - np.datetime64(0, "s")) / np.timedelta64(1, "s"))
    try:
        moment = value if isinstance(value, datetime) else _moment(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return UNREADABLE


def _moment(value: Any) -> datetime:
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if not isinstance(value, str):
        raise TypeError("neither a text nor a date")
    return datetime.fromisoformat(value.strip())


def numbers_of(values: Values, read: Any = number_of) -> NDArray[np.float64]:
    """A column through one of the functions above; numbers that are there already only lose what is beyond them."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and read is number_of:
        beyond = np.abs(values) > LARGEST
        return np.where(beyond, UNREADABLE, values) if beyond.any() else values
    return np.fromiter(map(read, values), np.float64, len(values))


def name_of(value: Any) -> str | None:
    """A category or a label as text; None for no value.

    >>> [name_of(value) for value in (" red ", 3, 3.0, True, None)]
    ['red', '3', '3', 'true', None]
    """
    if is_missing(value):
        return None
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)
