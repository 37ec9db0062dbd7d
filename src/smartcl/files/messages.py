"""Messages of a log as records: each has a number, numbers may have gaps, and a mark says which number comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from smartcl.columns.records import Records
from smartcl.data.batch import Ints
from smartcl.files.blocks import Block, Mark
from smartcl.files.json_records import json_records


def next_number(mark: Mark | None, first: int = 0) -> int:
    """The number of the first message that was not read."""
    return first if mark is None else mark.place + mark.records


def json_block(name: str, numbers: Sequence[int], values: Sequence[bytes]) -> Block:
    """Messages that are JSON objects, with their numbers in order.

    >>> json_block("topic/0", [7, 9], [b'{"a": 1}', b"no JSON"]).parse({"a": True})
    Records(columns={'a': [1]}, count=3, at=array([0]), bad={2: 'not a JSON object'}, strangers={})
    """
    # a line is a message: JSON's own texts have no line ends, and an empty message is no object
    text = b"\n".join(value.replace(b"\n", b" ").strip() or b"0" for value in values)
    return Block(name, numbers[0], lambda wanted: numbered(json_records(text, wanted), numbers))


def numbered(records: Records, numbers: Sequence[int]) -> Records:
    """Records with the places that the numbers of their messages have."""
    places: Ints = np.array(numbers, dtype=np.int64) - numbers[0]
    return replace(
        records,
        count=int(places[-1]) + 1,
        at=places[records.at],
        bad={int(places[row]): why for row, why in records.bad.items()},
        strangers={name: int(places[row]) for name, row in records.strangers.items()},
    )
