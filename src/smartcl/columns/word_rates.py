"""Statistics of the words of a text column: how often each came, with which class, and what it weighs.

Words and pairs of words are hashed into a stated number of places. Each place counts its rows, the rows of each class,
and holds a weight of a logistic regression that takes a step for every row (AdaGrad), in which a word counts by its
inverse document frequency so far. A text becomes a few numbers: how its words lean together, and how the leanest of
them do. Everything is of rows before.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from smartcl.columns.change_log import ChangeLog
from smartcl.columns.hashing import words_of
from smartcl.data.batch import Floats, Ints
from smartcl.saving.saved import Saved

#: A weight's first step. 0.3 and 1 gave the same AUC within 0.002 on toxicity texts 20,000 to 26,000.
RATE = 0.3
#: What a weight's squared slopes begin with.
FIRST_SLOPE = 0.01
#: Rows at the rate of all that a word's own is mixed with, and from which it counts wholly. 1 and 3 rows gave the same.
SHRINK_ROWS, SURE_ROWS = 1.0, 3.0
#: Texts after which all counts are halved, so that words follow a change.
HALVED_ROWS = 50_000
#: The number of words that the strongest and the weakest of a text are averaged over.
FEW = 3
#: Words of which the letters are kept, for people; the rows that each came in at least.
NAMED_WORDS, NAMED_ROWS = 4096, 5
#: What is stored are multiples of this.
GRAIN = 1 / 32
#: All weights and counts of a column hold at most this many numbers: 16 MB.
MOST_CELLS = 1 << 22


class Words(NamedTuple):
    """The places of a text's words and of its pairs of words, each once, how many words it has, and what they are."""

    single: Ints
    pairs: Ints
    length: int
    names: Sequence[str]


def words_state(words: Sequence[Words | None]) -> dict[str, Any]:
    """Places of the words of texts, as arrays; no text has a length of -1."""
    there = [each for each in words if each is not None]
    parts = [part for each in there for part in (each.single, each.pairs)]
    return {
        "length": np.array([-1 if each is None else each.length for each in words], np.int64),
        "singles": np.array([len(each.single) for each in there], np.int64),
        "pairs": np.array([len(each.pairs) for each in there], np.int64),
        "places": np.concatenate([np.zeros(0, np.int64), *parts]),
    }


def words_from(saved: Saved, rows: int, places: int) -> list[Words | None]:
    """What ``words_state`` gave, or a ``StateError``."""
    length = saved.array("length", (rows,), "int64")
    count = int((length >= 0).sum())
    singles, pairs = saved.array("singles", (count,), "int64"), saved.array("pairs", (count,), "int64")
    if (length < -1).any() or (singles < 0).any() or (pairs < 0).any():
        saved.refuse("length", "must be -1 or more, as singles and pairs 0 or more")
    at = saved.array("places", (int(singles.sum() + pairs.sum()),), "int64")
    if len(at) and not 0 <= at.min() <= at.max() < places:
        saved.refuse("places", f"must be below {places}")
    ends = np.cumsum(np.stack([singles, pairs], axis=1).ravel())
    parts = iter(np.split(at, ends[:-1])) if count else iter(())
    return [None if size < 0 else Words(next(parts), next(parts), int(size), ()) for size in length]


class WordRates:
    """Rates and weights of hashed words, in ``width`` columns of classes.

    >>> rates = WordRates(1, places=1024)
    >>> spam, ham = rates.words("you win a prize"), rates.words("you are at home")
    >>> for _ in range(20):
    ...     rates.learn([spam, ham], np.array([[1.0], [0.0]], np.float32))
    >>> rates.features(spam)[1] > rates.features(ham)[1]
    True
    >>> "you" in rates.strongest(4)
    False
    """

    def __init__(self, width: int, places: int) -> None:
        self.width, self.places = width, min(places, MOST_CELLS // (3 * width + 1))
        self._rows = 0.0
        self._base = np.zeros(width, np.float32)
        self._bias = np.zeros(width, np.float32)
        self._seen = np.zeros(self.places, np.float32)
        self._held = np.zeros((self.places, width), np.float32)
        self._weight = np.zeros((self.places, width), np.float32)
        self._slope = np.full((self.places, width), FIRST_SLOPE, np.float32)
        self._names: dict[int, str] = {}

    @staticmethod
    def feature_names(column: str, width: int) -> list[str]:
        """What the features of a text are called."""
        if width > 1:
            parts = [part for rate in range(width) for part in (f"leaning {rate + 1}", f"mean {rate + 1}")]
            return [f"{column} length", *(f"{column} words: {part}" for part in parts)]
        own = ("leaning", "mean", "strongest", f"strongest {FEW}", f"weakest {FEW}")
        return [f"{column} length", *(f"{column} {what}: {part}" for what in ("words", "pairs") for part in own)]

    @property
    def nbytes(self) -> int:
        """Of counts, weights and names."""
        arrays = (self._seen, self._held, self._weight, self._slope)
        return sum(each.nbytes for each in arrays) + sum(len(name) + 8 for name in self._names.values())

    def words(self, text: str) -> Words:
        """Where the words of a text stand; single letters are none."""
        names = [word for word in words_of(text) if len(word) > 1 or not word.isascii()]
        codes = [crc32(word.encode("utf-8", "surrogatepass")) for word in names]
        pairs = {(first * 0x9E3779B1 + second) % 0xFFFFFFFB % self.places for first, second in pairwise(codes)}
        single = {code % self.places for code in codes}
        return Words(np.array(sorted(single), np.int64), np.array(sorted(pairs), np.int64), len(names), names)

    def features(self, words: Words) -> list[float]:
        """What is stored of a text, a multiple of a grain each."""
        found = [float(np.log1p(words.length))]
        if self.width == 1:
            for at in (words.single, words.pairs):
                found += self._leanings(at)
        else:
            value = [(at, self._frequencies(at)) for at in (words.single, words.pairs)]
            lean = sum((share @ self._weight[at] for at, share in value), np.zeros(self.width, np.float32))
            mean = self._log_odds(words.single).mean(axis=0) if len(words.single) else np.zeros(self.width)
            found += np.stack([lean, mean], axis=1).ravel().tolist()
        return (np.rint(np.array(found) / GRAIN) * GRAIN).tolist()  # type: ignore[no-any-return]

    def _leanings(self, at: Ints) -> list[float]:
        """How words lean together by their weights, and by their rates in the mean and at the ends."""
        if not len(at):
            return [0.0] * 5
        odds = np.sort(self._log_odds(at)[:, 0])
        lean = float(self._frequencies(at) @ self._weight[at, 0])
        return [lean, *map(float, (odds.mean(), odds[-1], odds[-FEW:].mean(), odds[:FEW].mean()))]

    def _frequencies(self, at: Ints) -> Floats:
        """Inverse document frequencies so far, of length 1 together."""
        found: Floats = np.maximum(np.log((1 + self._rows) / (1 + self._seen[at])), 0).astype(np.float32)
        length = np.float32(np.sqrt(found @ found))
        return np.divide(found, length, dtype=np.float32) if length else found

    def _log_odds(self, at: Ints) -> Floats:
        """How much more often than in all rows the classes come with these words, as logarithms."""
        base, seen = (self._base + 1) / (self._rows + 2), self._seen[at][:, None]
        rate = (self._held[at] + SHRINK_ROWS * base) / (seen + SHRINK_ROWS)
        odds = np.log(np.maximum(rate, 1e-4) / base) * np.minimum(1, seen / SURE_ROWS)
        found: Floats = odds.astype(np.float32)
        return found

    def learn(self, texts: Sequence[Words | None], targets: Floats, journal: ChangeLog | None = None) -> None:
        """Take a step for each text, in their order; ``targets`` are 0 or 1 in each column of classes."""
        if journal is not None:
            for name in ("_rows", "_base", "_bias"):
                journal.attribute(self, name)
        if self._rows >= HALVED_ROWS:
            self._halve(journal)
        for words, target in zip(texts, targets, strict=True):
            if words is not None:
                self._learn(words, target, journal)

    def _learn(self, words: Words, target: Floats, journal: ChangeLog | None) -> None:
        at = np.concatenate([words.single, words.pairs])
        at, first = np.unique(at, return_index=True)
        values = np.concatenate([self._frequencies(words.single), self._frequencies(words.pairs)])[first]
        if journal is not None:
            for each in (self._seen, self._held, self._weight, self._slope):
                journal.array(each, at)
        score = self._bias + values @ self._weight[at]
        error = (1 / (1 + np.exp(-np.clip(score, -30, 30))) - target).astype(np.float32)
        slopes = values[:, None] * error
        self._slope[at] += slopes * slopes
        self._weight[at] -= np.float32(RATE) * slopes / np.sqrt(self._slope[at])
        self._bias = self._bias - np.float32(0.02) * error
        self._seen[at] += 1
        self._held[at] += target
        self._rows += 1
        self._base = self._base + target
        self._name(words, journal)

    def _name(self, words: Words, journal: ChangeLog | None) -> None:
        """Keep the letters of words that come often enough."""
        for place in words.single[np.floor(self._seen[words.single]) == NAMED_ROWS].tolist():
            letters = (
                name for name in words.names if crc32(name.encode("utf-8", "surrogatepass")) % self.places == place
            )
            spelled = next(letters, None)
            if spelled is None:  # words that were saved while they waited have no letters
                continue
            if journal is not None:
                journal.entry(self._names, place)
            self._names[place] = spelled
        if len(self._names) > NAMED_WORDS:
            if journal is not None:
                journal.attribute(self, "_names")
            self._names = {place: self._names[place] for place in self._by_strength()[: NAMED_WORDS // 2]}

    def _by_strength(self) -> list[int]:
        """Places of the words whose letters are known, those that move most answers most first."""
        at = np.array(sorted(self._names), np.int64)
        rows = max(self._rows, 1.0)
        rarity = np.log((1 + rows) / (1 + self._seen[at])) * np.sqrt(self._seen[at] / rows)
        strength = np.abs(self._weight[at]).max(axis=1) * np.maximum(rarity, 0)
        return at[np.argsort(-strength, kind="stable")].tolist()  # type: ignore[no-any-return]

    def strongest(self, count: int) -> list[str]:
        """The words that answers depend on most."""
        return [self._names[place] for place in self._by_strength()[:count]] if self._names else []

    def _halve(self, journal: ChangeLog | None) -> None:
        if journal is not None:
            journal.attribute(self, "_seen")
            journal.attribute(self, "_held")
        half = np.float32(0.5)
        self._rows, self._base = self._rows / 2, self._base * half
        self._seen, self._held = self._seen * half, self._held * half

    def copy(self) -> WordRates:
        """One that can be changed by itself."""
        made = copy(self)
        made._names = dict(self._names)
        for name in ("_seen", "_held", "_weight", "_slope"):
            vars(made)[name] = vars(self)[name].copy()
        return made

    def state_dict(self) -> dict[str, Any]:
        used = np.flatnonzero(self._seen)
        text = "\n".join(self._names.values())
        return {
            **{"rows": float(self._rows), "base": self._base, "bias": self._bias, "places": used},
            **{"seen": self._seen[used], "held": self._held[used]},
            **{"weight": self._weight[used], "slope": self._slope[used]},
            "named": np.fromiter(self._names, np.int64, len(self._names)),
            "names": np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8),
        }

    def load_state_dict(self, saved: Saved) -> None:
        """Go on as the one that gave this state, or raise a ``StateError``."""
        self._rows = saved.number("rows", 0.0)
        self._base = np.array(saved.array("base", (self.width,), "float32"))
        self._bias = np.array(saved.array("bias", (self.width,), "float32"))
        used = self._places(saved, "places")
        seen = saved.array("seen", (len(used),), "float32")
        held, weight, slope = (
            saved.array(name, (len(used), self.width), "float32") for name in ("held", "weight", "slope")
        )
        if not (seen > 0).all() or not (held >= 0).all() or not (slope > 0).all() or not (self._base >= 0).all():
            saved.refuse("seen", "must be above 0, as slope, and held and base not below it")
        self._seen[used], self._held[used], self._weight[used], self._slope[used] = seen, held, weight, slope
        named = self._places(saved, "named")
        text = saved.array("names", (None,), "uint8").tobytes().decode("utf-8", "replace")
        names = text.split("\n") if len(named) else []
        if len(names) != len(named) or len(named) > NAMED_WORDS:
            saved.refuse("names", f"must be one for each of {len(named)} places, at most {NAMED_WORDS}")
        self._names = dict(zip(named.tolist(), names, strict=True))

    def _places(self, saved: Saved, name: str) -> Ints:
        found = saved.array(name, (None,), "int64")
        if len(np.unique(found)) < len(found) or (len(found) and not 0 <= found.min() <= found.max() < self.places):
            saved.refuse(name, f"must be different places below {self.places}")
        return found
