"""Messages of a Kafka topic or a Redis stream as rows.

How far each was read is saved with the model, in one moment with it. Each message has a number, numbers may have gaps,
and a mark says which number comes next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from smartcl.columns.nested import columns_of
from smartcl.columns.records import Records, Wanted
from smartcl.data.batch import Ints
from smartcl.errors import extra
from smartcl.files.blocks import Block, Mark
from smartcl.files.record_formats import json_records


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


#: Seconds that a question to the broker may take.
ANSWER_SECONDS = 30.0


@dataclass(frozen=True)
class KafkaSource:
    """The JSON objects of a topic, from the first message on, or from where a model has read to.

    ``config`` is that of ``confluent_kafka.Consumer``. Offsets are kept in the model's folder and nowhere else, so that
    each message counts exactly once, whatever ends the training. With ``follow`` the source waits for more at the end.
    One training reads all partitions.

    ``train_stream(KafkaSource("orders", {"bootstrap.servers": "broker:9092"}), "churn", out="model", resume=True)``
    """

    topic: str
    config: Mapping[str, Any]
    follow: bool = True
    #: Messages that are taken at a time, and seconds after which fewer are.
    chunk: int = 500
    wait_seconds: float = 0.5

    @cached_property
    def _kafka(self) -> Any:
        return extra("confluent_kafka", "kafka")

    @cached_property
    def _consumer(self) -> Any:
        own = {"group.id": "smartcl", "enable.auto.commit": False, "auto.offset.reset": "error"}
        return self._kafka.Consumer({**own, **self.config})

    @cached_property
    def inputs(self) -> Sequence[str]:
        """A name for each partition."""
        topics = self._consumer.list_topics(self.topic, timeout=ANSWER_SECONDS).topics
        partitions = topics[self.topic].partitions if self.topic in topics else {}
        if not partitions:
            raise ValueError(f"there is no topic {self.topic!r}")
        return tuple(f"{self.topic}/{number}" for number in sorted(partitions))

    def blocks(self, marks: Mapping[str, Mark]) -> Iterator[Block]:
        """Messages as they come, those of a partition together."""
        ends, left = {}, []
        for number, name in enumerate(self.inputs):
            place = self._kafka.TopicPartition(self.topic, number)
            low, high = self._consumer.get_watermark_offsets(place, timeout=ANSWER_SECONDS)
            place.offset = next_number(marks.get(name), low)
            if place.offset < low:
                raise ValueError(f"{name}: the messages from {place.offset:,} on are gone, the first is {low:,}")
            ends[number] = high
            left.append(place)
        self._consumer.assign(left)
        reached = {place.partition: place.offset for place in left}
        while self.follow or any(reached[number] < end for number, end in ends.items()):
            by_partition: dict[int, list[Any]] = {}
            for message in self._consumer.consume(self.chunk, self.wait_seconds):
                if message.error() is not None:
                    raise OSError(f"{self.topic}: {message.error().str()}")
                by_partition.setdefault(message.partition(), []).append(message)
            for number, messages in sorted(by_partition.items()):
                offsets = [message.offset() for message in messages]
                reached[number] = offsets[-1] + 1
                yield json_block(self.inputs[number], offsets, [message.value() or b"" for message in messages])
            if not self.follow and not by_partition:  # what is left are no messages, but marks of transactions
                for place in self._consumer.position(left):  # below 0 where nothing has come since the assignment
                    reached[place.partition] = max(reached[place.partition], place.offset)


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
