"""The words of texts; and numbered features of LIBSVM's format, folded into a stated number of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from smartcl.saving.saved import Saved

#: A word: letters, digits and what stands inside it, such as an apostrophe.
WORD = re.compile(r"\w+(?:['’]\w+)*")
#: Longer words are told apart by their first characters.
LONGEST_WORD = 64
#: Of longer texts this many words are looked at.
MOST_WORDS = 1 << 14


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case; its numbers by their length, so that amounts and dates have a shape.

    >>> words_of("Don't miss it: 1,500 Euro!")
    ["don't", 'miss', 'it', '#1', '#3', 'euro']
    """
    words = (found.group()[:LONGEST_WORD].lower() for found in islice(WORD.finditer(text), MOST_WORDS))
    return [f"#{len(word)}" if word.isdecimal() else word for word in words]


class NameBook:
    """Features by number, and for each the number that was first folded into it.

    >>> book = NameBook(first=10, width=1000)
    >>> feature = book.numbered(2007)
    >>> feature, book.name(feature), book.name(feature + 1)
    (17, '2007', None)
    """

    def __init__(self, first: int, width: int) -> None:
        self._first, self._width = first, width
        self._names: dict[int, str] = {}

    def numbered(self, number: int) -> int:
        """The feature of a number in LIBSVM's format: its own, as long as there are enough."""
        feature = self._first + number % self._width
        self._names.setdefault(feature, str(number))
        return feature

    def take(self, other: NameBook) -> None:
        """Note the names of another book, of features that have none here."""
        self._names = {**other._names, **self._names}

    def name(self, feature: int) -> str | None:
        return self._names.get(feature)

    def keep(self, features: Iterable[int]) -> None:
        """Forget the names of all other features."""
        self._names = {feature: self._names[feature] for feature in features if feature in self._names}

    def __len__(self) -> int:
        return len(self._names)

    def copy(self) -> NameBook:
        """One that can be changed by itself."""
        made = NameBook(self._first, self._width)
        made._names = dict(self._names)
        return made

    def state_dict(self) -> dict[str, Any]:
        """Two arrays: names are many."""
        text = "\n".join(name.replace("\n", " ") for name in self._names.values())
        return {
            "features": np.fromiter(self._names, np.int64, len(self._names)),
            "names": np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8),
        }

    def load_state_dict(self, saved: Saved) -> None:
        features = saved.array("features", (None,), "int64")
        text = saved.array("names", (None,), "uint8").tobytes().decode("utf-8", "replace")
        names = text.split("\n") if len(features) else []
        if len(names) != len(features):
            saved.refuse("names", f"must be one for each of {len(features)} features, are {len(names)}")
        low, high = self._first, self._first + self._width
        if len(features) and not low <= features.min() <= features.max() < high:
            saved.refuse("features", f"must be from {low} to {high - 1}")
        self._names = dict(zip(features.tolist(), names, strict=True))
