"""Kafka topics and Redis streams: each message counts exactly once, whatever ends a training.

Redis is a server of its own process. Kafka is the client library's own broker in memory, which speaks its protocol.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smartcl.files.blocks import Mark
from smartcl.files.sources import Source
from smartcl.files.table_model import TableModel
from smartcl.files.training import train_stream

REDIS = shutil.which("redis-server")
SETTINGS: dict[str, Any] = {"method": "er", "hidden": (8,), "iterations": 1, "random_state": 0, "batch_size": 10}


def rows(count: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    sizes = rng.normal(size=count).round(3).tolist()
    return [
        {"size": size, "colour": "red" if size > 0 else "blue", "label": "big" if size > 0.2 else "small"}
        for size in sizes
    ]


ROWS = rows(400)


@pytest.fixture(scope="module")
def broker() -> Iterator[Any]:
    kafka = pytest.importorskip("confluent_kafka")
    producer = kafka.Producer({"test.mock.num.brokers": 1, "log_level": 0})
    yield producer
    producer.flush(5)


def address_of(broker: Any) -> str:
    return ",".join(f"{each.host}:{each.port}" for each in broker.list_topics(timeout=10).brokers.values())


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    redis = pytest.importorskip("redis")
    if REDIS is None:
        pytest.skip("there is no redis-server here")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    words = [REDIS, "--port", str(port), "--save", "", "--dir", str(tmp_path_factory.mktemp("redis"))]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    url = f"redis://127.0.0.1:{port}"
    client = redis.Redis.from_url(url)
    for _ in range(100):
        try:
            client.ping()
            break
        except redis.ConnectionError:
            time.sleep(0.05)
    yield url
    client.close()
    server.terminate()
    server.wait(10)


def stops_after(count: int) -> Callable[[TableModel], bool]:
    """Fall after this number of rows, as a kill would: what is learned since the last checkpoint is gone."""

    def watch(model: TableModel) -> bool:
        if model.progress.rows >= count:
            raise MemoryError("killed")
        return False

    return watch


def falls_and_goes_on(make: Callable[[], Source], folder: Path) -> TableModel:
    """Train with two falls on the way."""
    for count in (120, 250):
        with pytest.raises(MemoryError):
            train_stream(
                make(), "label", out=folder, resume=True, checkpoint_rows=50, watch=stops_after(count), **SETTINGS
            )
    return train_stream(make(), "label", out=folder, resume=True, **SETTINGS)


def same(one: TableModel, other: TableModel) -> bool:
    probes = [{name: row[name] for name in ("size", "colour")} for row in ROWS[:50]]
    return one.progress.rows == other.progress.rows and np.array_equal(
        one.predict_proba(probes), other.predict_proba(probes)
    )


def test_each_message_of_a_topic_counts_once(broker: Any, tmp_path: Path) -> None:
    from smartcl.files.message_sources import KafkaSource

    for place, row in enumerate(ROWS):
        broker.produce("rows", json.dumps(row).encode(), partition=place % 2)
        if place == 100:
            broker.produce("rows", b"no JSON", partition=0)
    broker.flush(10)
    config = {"bootstrap.servers": address_of(broker), "log_level": 0}

    def make() -> Source:
        return KafkaSource("rows", config, follow=False, chunk=30)

    model = falls_and_goes_on(make, tmp_path / "model")
    assert (model.progress.rows, model.progress.skipped) == (400, {"not a JSON object": 1})
    ends = {name: mark.place + mark.records for name, mark in model.progress.marks.items()}
    assert sum(ends.values()) == 401
    for row in ROWS[:20]:
        broker.produce("rows", json.dumps(row).encode(), partition=1)
    broker.flush(10)
    more = train_stream(make(), "label", out=tmp_path / "model", resume=True, **SETTINGS)
    assert more.progress.rows == 420
    with pytest.raises(ValueError, match="no topic 'nowhere'"):
        assert KafkaSource("nowhere", {**config, "allow.auto.create.topics": False}, follow=False).inputs


def test_a_partition_without_news_ends_though_the_broker_is_slow(broker: Any) -> None:
    """Its position is not known before a message of it has come."""
    from smartcl.files.message_sources import KafkaSource

    for place in range(6):
        broker.produce("slow", json.dumps(ROWS[place]).encode(), partition=place % 2)
    broker.flush(10)
    source = KafkaSource("slow", {"bootstrap.servers": address_of(broker), "log_level": 0}, follow=False)
    source.__dict__["_consumer"] = slow = SlowConsumer(source._consumer)
    done = {source.inputs[0]: Mark(0, 3)}
    assert sum(len(block.parse(None).at) for block in source.blocks(done)) == 3
    assert slow.asked < 50


class SlowConsumer:
    """A consumer whose first answer is that nothing has come yet; one that is asked for ever fails."""

    def __init__(self, real: Any) -> None:
        self.real, self.asked = real, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def consume(self, *arguments: Any) -> Any:
        self.asked += 1
        assert self.asked < 50, "it does not end"
        return [] if self.asked == 1 else self.real.consume(*arguments)


def test_each_entry_of_a_stream_counts_once(redis_url: str, tmp_path: Path) -> None:
    import redis

    from smartcl.files.message_sources import RedisSource

    with redis.Redis.from_url(redis_url) as client:
        for row in ROWS:
            client.xadd("rows", row)
            client.xadd("texts", {"json": json.dumps(row)})

        def make() -> Source:
            return RedisSource("rows", redis_url, follow=False, chunk=30)

        undisturbed = train_stream(make(), "label", **SETTINGS)
        model = falls_and_goes_on(make, tmp_path / "model")
        assert (model.progress.rows, same(model, undisturbed)) == (400, True)
        client.xtrim("rows", maxlen=5, approximate=False)  # what was learned may go
        client.xadd("rows", {**ROWS[0], "strange": 1})
        more = train_stream(make(), "label", out=tmp_path / "model", resume=True, **SETTINGS)
        assert (more.progress.rows, list(more.progress.strangers)) == (401, ["strange"])
        texts = train_stream(RedisSource("texts", redis_url, field="json", follow=False), "label", **SETTINGS)
        assert same(texts, undisturbed)
