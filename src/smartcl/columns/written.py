"""Numbers and dates as people write them, and which way of writing a column follows.

Plain numbers and ISO dates have the style ``""``. Any other is named by an example of it, which stands in the schema.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from smartcl.columns.values import UNREADABLE, clock_of, number_of, numbers_of, seconds_of, truth_of

ReadValue = Callable[[Any], float]

MONEY = "[$€£¥]"
#: What may stand between groups of three digits beside a point or a comma.
BLANKS = "'’ \u00a0\u202f"


def _number(point: str, group: str) -> re.Pattern[str]:
    digits = rf"(?:\d{{1,3}}(?:[{group}{BLANKS}]\d{{3}})+|\d+)?(?:{point}\d+)?"
    return re.compile(rf"(?P<sign>[-+]?)\s?{MONEY}?\s?(?P<digits>{digits})\s?(?:%|{MONEY})?")


POINTED, COMMA = _number(r"\.", ","), _number(",", r"\.")
DAY = re.compile(
    r"(?:(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<between>[./-])(?P<second>\d{1,2})(?P=between)(?P<last>\d{4}|\d{2}))"
    r"(?:(?:T|,?\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<seconds>\d{2})(?:\.\d+)?)?(?:\s?(?P<half>[AaPp])[Mm])?)?"
)
#: Of years written with two digits, those from here on are of the last century.
LAST_CENTURY = 70


def written_number(value: Any, comma: bool) -> float:
    """A number with groups of digits, a currency or a per cent sign; ``comma``: it has a decimal comma.

    >>> [written_number(text, False) for text in ("$1,234.50", "-7%", "1 000 000", "1,5", "")]
    [1234.5, -7.0, 1000000.0, inf, nan]
    >>> written_number("1.234,5 €", True)
    1234.5
    """
    found = number_of(value)
    if not isinstance(value, str) or math.isnan(found) or (found != UNREADABLE and not (comma and "." in value)):
        return found
    match = (COMMA if comma else POINTED).fullmatch(value.strip())
    if match is None or not match["digits"]:
        return UNREADABLE
    digits = re.sub(rf"[{BLANKS}{'.' if comma else ','}]", "", match["digits"])
    return number_of(match["sign"] + digits.replace(",", "."))


def written_seconds(value: Any, day_first: bool) -> float:
    """A date as seconds since 1970: ISO's, 2024/12/31, 31.12.2024, or with slashes the day or the month first.

    >>> written_seconds("2.1.1970", False), written_seconds("1/2/70 0:01", False), written_seconds("1/2/1970", True)
    (86400.0, 86460.0, 2678400.0)
    """
    found = seconds_of(value)
    match = DAY.fullmatch(value.strip()) if isinstance(value, str) and found == UNREADABLE else None
    if match is None:
        return found
    try:
        year, month, day = _calendar(match, day_first or match["between"] == ".")
        hour, minute, seconds = (int(match[part] or 0) for part in ("hour", "minute", "seconds"))
        if match["half"]:
            hour = hour % 12 + 12 * (match["half"] in "pP")
        return datetime(year, month, day, hour, minute, seconds, tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return UNREADABLE


def _calendar(match: re.Match[str], day_first: bool) -> tuple[int, int, int]:
    if match["year"]:
        return int(match["year"]), int(match["month"]), int(match["day"])
    first, second, year = int(match["first"]), int(match["second"]), int(match["last"])
    if len(match["last"]) == 2:
        year += 1900 if year >= LAST_CENTURY else 2000
    return (year, second, first) if day_first else (year, first, second)


#: The share of a column's values that may be unlike the others: a slip does not make a number a name.
SLIPS = 0.02

NUMBERS: Mapping[str, ReadValue] = {
    "": number_of,
    "1,234.5": partial(written_number, comma=False),
    "1.234,5": partial(written_number, comma=True),
}

#: By kind of column, its styles, the plainest first, and what reads them.
READERS: Mapping[str, Mapping[str, ReadValue]] = {
    "number": NUMBERS,
    "code": NUMBERS,
    "clock": {"": clock_of},
    "truth": {"": truth_of},
    "date": {
        "": seconds_of,
        "12/31/2024": partial(written_seconds, day_first=False),
        "31/12/2024": partial(written_seconds, day_first=True),
    },
}


def best_style(kind: str, values: Sequence[Any]) -> tuple[str, float]:
    """The plainest style if it reads all but a few slips, else the one that reads most; and what share it cannot read.

    >>> best_style("number", ["1,5", "2,25"]), best_style("date", ["1/2/2024", "25/2/2024"])
    (('1.234,5', 0.0), ('31/12/2024', 0.0))
    """
    best, least = "", math.inf
    for style, read in READERS[kind].items():
        wrong = float(np.mean(numbers_of(values, read) == UNREADABLE)) if len(values) else 0.0
        if wrong < least:
            best, least = style, wrong
        if least <= (0 if style else SLIPS):
            break
    return best, least
