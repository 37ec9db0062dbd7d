"""Messages of a Kafka topic as rows. How far each partition was read is saved with the model, in one moment with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from smartcl.errors import extra
from smartcl.files.blocks import Block, Mark
from smartcl.files.messages import json_block, next_number

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
