"""The format of LIBSVM: a label, then ``feature:value`` for the features that are not zero."""

from __future__ import annotations

import math
import re
from typing import TypeAlias

import numpy as np

from smartcl.columns.records import Records
from smartcl.columns.values import LARGEST

#: The names that the two columns of such a file go by.
LABEL, FEATURES = "label", "features"

#: The features of a row that are not zero: their numbers and their values.
Indexed: TypeAlias = "tuple[list[int], list[float]]"

#: Larger numbers of a feature are damage.
MOST_FEATURE = 2**62

LOOKS_LIKE = re.compile(rb"\S+(\s+(\d+:\S+|qid:\d+))+\s*(#.*)?\r?$")


def libsvm_records(text: bytes) -> Records:
    """The records of a piece of text.

    >>> libsvm_records(b"+1 3:0.5 7:1 # why\\nx:2\\n").columns
    {'label': ['+1'], 'features': [([3, 7], [0.5, 1.0])]}
    """
    labels: list[str] = []
    features: list[Indexed] = []
    at: list[int] = []
    bad: dict[int, str] = {}
    lines = [line for line in (raw.partition(b"#")[0].split() for raw in text.split(b"\n")) if line]
    for number, (label, *pairs) in enumerate(lines):
        row = _features(pairs)
        if row is None or b":" in label:
            bad[number] = "not 'label feature:value ...'"
            continue
        labels.append(label.decode("utf-8", "replace"))
        features.append(row)
        at.append(number)
    return Records({LABEL: labels, FEATURES: features}, len(lines), np.array(at, dtype=np.int64), bad)


def _features(pairs: list[bytes]) -> Indexed | None:
    ids, values = [], []
    try:
        for pair in pairs:
            name, _, value = pair.partition(b":")
            if name == b"qid":
                continue
            number, amount = int(name), float(value)
            if not (0 <= number < MOST_FEATURE and math.isfinite(amount) and abs(amount) <= LARGEST):
                return None
            ids.append(number)
            values.append(amount)
    except ValueError:
        return None
    return ids, values
