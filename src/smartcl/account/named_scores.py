"""The account of a model, with the names of its classes and the changes of the stream: what ``model.scores_`` is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smartcl.account.account import Account
from smartcl.account.tally import RELIABILITY_BINS, StreamScores, bin_probability

#: Standard errors from which the account warns of a difference of accuracies.
SURE = 3.0
#: The last tenth is far below all rows from this difference of accuracies on.
FAR_BELOW = 0.05
#: And the mix of the classes is another from this difference of a class's share on.
OTHER_MIX = 0.2


@dataclass(frozen=True, eq=False)
class NamedScores:
    """How good answers were that were given before their rows were learned.

    ``overall`` and ``last_tenth`` are ``StreamScores``; any score of ``overall`` is an attribute too. ``by_class``,
    ``over_time``, ``confusion`` and ``calibration`` are lists of plain values, and ``as_dict`` is everything.
    ``changes`` are the changes of the stream that the learner noticed.

    >>> account = Account.none(2).after(np.array([0, 1]), None)
    >>> account = account.after(np.array([0, 1]), np.array([[0.9, 0.1], [0.4, 0.6]]))
    >>> NamedScores(account, ["ham", "spam"])
    accuracy 100.0% of 2 rows (always the commonest 50.0%, repeat the last 50.0%), balanced 100.0%, AUC 1.000,
    average precision 1.000, log loss 0.308, calibration error 25.0%; last tenth 100.0%
    """

    account: Account
    classes: Sequence[str]
    changes: tuple[Any, ...] = ()

    @property
    def overall(self) -> StreamScores:
        return self.account.total.scores()

    @property
    def last_tenth(self) -> StreamScores:
        return self.account.last_tenth.scores()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in StreamScores.__dataclass_fields__:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        return getattr(self.overall, name)

    @property
    def by_class(self) -> list[dict[str, Any]]:
        """Rows, precision, recall, F1, AUC and average precision of each class."""
        total = self.account.total
        return [{"class": name, **total.of_class(label)} for label, name in enumerate(self.classes)]

    @property
    def over_time(self) -> list[dict[str, Any]]:
        """Of each window of rows: its last row, its scores, and the share of each class."""
        return [
            {"row": row, **window.scores().as_dict(), "shares": (window.rows / max(1, window.n)).round(6).tolist()}
            for row, window in self.account.over_time()
            if window.n
        ]

    @property
    def confusion(self) -> list[dict[str, Any]]:
        """How many rows of each class were predicted as each; nothing of more than 32 classes."""
        cells = np.argwhere(self.account.confusion)
        return [
            {
                "label": self.classes[label],
                "prediction": self.classes[said],
                "rows": int(self.account.confusion[label, said]),
            }
            for label, said in cells
        ]

    @property
    def calibration(self) -> list[dict[str, Any]]:
        """By bin of the probability of the prediction: rows, the mean probability, and the share that came true."""
        return [
            {"from": place / RELIABILITY_BINS, "rows": int(n), "said": said / n, "true": true / n}
            for place, (n, said, true) in enumerate(self.account.total.reliability.tolist())
            if n
        ]

    @property
    def thresholds(self) -> dict[str, dict[str, list[float]]]:
        """By class, at thresholds of its probability from the highest down: the rows of the class, and all, above."""
        found = {}
        for label, name in enumerate(self.classes):
            curve = self.account.total.curve(label)
            if curve is not None:
                hits, said = curve.at_least
                above = np.flatnonzero(np.diff(said, prepend=0))
                least = bin_probability(len(said))[::-1]
                found[name] = {
                    "threshold": least[above].round(6).tolist(),
                    "hits": hits[above].tolist(),
                    "rows": said[above].tolist(),
                }
        return found

    def warnings(self) -> list[str]:
        """What a person should know who reads the accuracy alone."""
        overall, late = self.overall, self.last_tenth
        if overall.accuracy is None or overall.commonest is None or overall.last is None or late.accuracy is None:
            return []
        assert late.commonest is not None
        told = []
        name = self.classes[int(np.argmax(self.account.known))]
        if overall.accuracy < overall.commonest:
            told.append(
                f"accuracy is below that of always saying the commonest label ({name!r}): "
                f"{overall.accuracy:.1%} against {overall.commonest:.1%}"
            )
        elif late.accuracy < late.commonest and _surely(late.commonest, late.accuracy, late.rows):
            told.append(
                f"in the last tenth accuracy is below that of always saying the commonest label: "
                f"{late.accuracy:.1%} against {late.commonest:.1%}"
            )
        if overall.accuracy < overall.last:
            told.append(
                f"accuracy is below that of repeating the last known label: {overall.accuracy:.1%} against "
                f"{overall.last:.1%}; labels come in runs, which the columns do not show"
            )
        if overall.accuracy - late.accuracy > FAR_BELOW and _surely(overall.accuracy, late.accuracy, late.rows):
            told.append(f"the last tenth is far below all rows: {late.accuracy:.1%} against {overall.accuracy:.1%}")
        share, before = self.account.last_tenth.rows / late.rows, self.account.total.rows / overall.rows
        moved = int(np.abs(share - before).argmax())
        if abs(share[moved] - before[moved]) > OTHER_MIX:
            told.append(
                f"in the last tenth {share[moved]:.0%} of the labels are {self.classes[moved]!r}, "
                f"of all rows {before[moved]:.0%}"
            )
        return told

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            **self.overall.as_dict(),
            "last_tenth": self.last_tenth.as_dict(),
            "classes": self.by_class,
            "over_time": self.over_time,
            "calibration": self.calibration,
            "confusion": self.confusion,
            "changes": [change.state_dict() for change in self.changes],
            "warnings": self.warnings(),
        }

    def __repr__(self) -> str:
        overall = self.overall
        if overall.accuracy is None:
            return "no row was answered before it was learned"
        return f"accuracy {overall.accuracy:.1%} of {overall.rows:,} rows {self.line()}"

    def line(self) -> str:
        """All scores but the accuracy, for people."""
        overall, late = self.overall, self.last_tenth
        parts = [f"balanced {percent(overall.balanced_accuracy)}"]
        if overall.auc is not None:
            parts += [f"AUC {overall.auc:.3f}", f"average precision {overall.average_precision:.3f}"]
        parts += [f"log loss {overall.log_loss:.3f}", f"calibration error {percent(overall.calibration_error)}"]
        return (
            f"(always the commonest {percent(overall.commonest)}, repeat the last {percent(overall.last)}), "
            f"{', '.join(parts)}; last tenth {percent(late.accuracy)}"
        )


def percent(share: float | None) -> str:
    """
    >>> percent(0.1234), percent(None)
    ('12.3%', '-')
    """
    return "-" if share is None else f"{share:.1%}"


def _surely(larger: float, smaller: float, rows: int) -> bool:
    """Whether this number of rows tells the two shares apart."""
    variance = larger * (1 - larger) + smaller * (1 - smaller)
    return larger - smaller > SURE * math.sqrt(max(variance, 1e-12) / max(1, rows))
