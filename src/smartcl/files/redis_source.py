"""Entries of a Redis stream as rows. How far it was read is saved with the model, in one moment with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from smartcl.columns.nested import columns_of
from smartcl.columns.records import Records, Wanted
from smartcl.errors import extra
from smartcl.files.blocks import Block, Mark
from smartcl.files.messages import json_block, next_number, numbered

#: An entry's name is a millisecond and a number within it; the bits of such a number.
SEQUENCE_BITS = 20


@dataclass(frozen=True)
class RedisSource:
    """The entries of a stream, from the first on, or from where a model has read to.

    The fields of an entry are the columns; with ``field``, that one holds a JSON object. ``url`` is as redis-py takes
    it. With ``follow`` the source waits for more at the end. No consumer group is used: what was read is in the model's
    folder, so that each entry counts exactly once.

    ``train_stream(RedisSource("orders", "redis://localhost"), "churn", out="model", resume=True)``
    """

    stream: str
    url: str = "redis://localhost"
    field: str | None = None
    follow: bool = True
    #: Entries that are taken at a time, and seconds after which the wait for more begins anew.
    chunk: int = 500
    wait_seconds: float = 0.5

    @cached_property
    def _redis(self) -> Any:
        return extra("redis", "redis").Redis.from_url(self.url)

    @property
    def inputs(self) -> Sequence[str]:
        return (self.stream,)

    def blocks(self, marks: Mapping[str, Mark]) -> Iterator[Block]:
        """Entries as they come."""
        last = next_number(marks.get(self.stream)) - 1
        wait = round(1000 * self.wait_seconds) if self.follow else None
        while True:
            found = self._redis.xread({self.stream: name_of_number(max(0, last))}, count=self.chunk, block=wait)
            entries = _entries(found)
            if entries:
                numbers = [number_of_name(name) for name, _ in entries]
                last = numbers[-1]
                yield self._block(numbers, [fields for _, fields in entries])
            elif not self.follow:
                return

    def _block(self, numbers: list[int], rows: list[Mapping[bytes, bytes]]) -> Block:
        if self.field is not None:
            return json_block(self.stream, numbers, [row.get(self.field.encode(), b"") for row in rows])
        flat = [{_text(name): _text(value) for name, value in row.items()} for row in rows]

        def parse(wanted: Wanted | None) -> Records:
            known = dict[str, int]() if wanted is None else dict(wanted)
            strangers = {
                name: place for place, row in reversed(list(enumerate(flat))) for name in row if name not in known
            }
            columns = columns_of(flat, wanted)
            plain = Records(columns, len(flat), Records.of({"": flat}).at, {}, strangers if wanted is not None else {})
            return numbered(plain, numbers)

        return Block(self.stream, numbers[0], parse)


def number_of_name(name: bytes) -> int:
    """An entry's name as a number, in the order of the entries.

    >>> number_of_name(b"1700000000000-2") == (1700000000000 << 20) + 2
    True
    """
    millisecond, _, sequence = name.partition(b"-")
    if int(sequence) >> SEQUENCE_BITS:
        raise ValueError(f"the entry {_text(name)} has a higher number within its millisecond than can be kept")
    return (int(millisecond) << SEQUENCE_BITS) + int(sequence)


def name_of_number(number: int) -> str:
    """The name again.

    >>> name_of_number(number_of_name(b"1700000000000-2"))
    '1700000000000-2'
    """
    return f"{number >> SEQUENCE_BITS}-{number & ((1 << SEQUENCE_BITS) - 1)}"


def _entries(found: Any) -> list[tuple[bytes, Mapping[bytes, bytes]]]:
    """What xread gave of the one stream: a list of pairs, or a dict in newer forms of the protocol."""
    if not found:
        return []
    entries = next(iter(found.values())) if isinstance(found, dict) else found[0][1]
    if entries and isinstance(entries[0], list) and entries[0] and isinstance(entries[0][0], list | tuple):
        entries = entries[0]
    return [(name, fields) for name, fields in entries if fields is not None]


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
