"""Figures of a service for Prometheus, read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from smartcl.serve.served_models import Models

#: Bounds in seconds: a single row takes about 1 ms, 10,000 rows take a few seconds.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
PREFIX = "smartcl_"

#: Counters: their name, what they count, and under which name of ``Counts`` it stands.
COUNTERS = {
    "predicted_rows": "Rows predicted.",
    "accepted_rows": "Rows with labels that were written to the journal.",
    "repeated_rows": "Rows that were not learned again, for their id had been learned.",
    "unknown_ids": "Labels whose row was not known, or not any more.",
    "refused_rows": "Rows refused because too many waited.",
    "learned_rows": "Rows learned.",
    "failed_rows": "Rows that could not be learned.",
    "replayed_rows": "Rows learned from the journal after a fall.",
    "saves": "Saves of a model.",
    "take_overs": "Times that a shadow copy took over.",
}
FIELDS = (
    "predicted",
    "accepted",
    "repeated",
    "unknown",
    "refused_full",
    "learned",
    "failed",
    "replayed",
    "saves",
    "take_overs",
)


class Figures:
    """What ``/metrics`` shows: sums over the models that are open and those that were closed, and times of requests."""

    def __init__(self, models: Models) -> None:
        self.registry = CollectorRegistry()
        self.seconds = Histogram(
            f"{PREFIX}request_seconds",
            "Seconds that requests took.",
            ("path",),
            registry=self.registry,
            buckets=SECONDS,
        )
        self._models = models
        self.registry.register(self)

    def text(self) -> bytes:
        return generate_latest(self.registry)

    def collect(self) -> Iterable[Any]:
        """All but the times."""
        there = [served for _, served in self._models.now()]
        for (name, told), attribute in zip(COUNTERS.items(), FIELDS, strict=True):
            gone = getattr(self._models.gone, attribute)
            yield CounterMetricFamily(
                PREFIX + name, told, value=gone + sum(getattr(s.counts, attribute) for s in there)
            )
        for name, told, value in self._gauges():
            yield GaugeMetricFamily(PREFIX + name, told, value=value)
        drops = CounterMetricFamily(
            PREFIX + "pending_lost", "Predicted rows that left before their label.", labels=["why"]
        )
        drops.add_metric(["time"], sum(served.pending.expired for served in there))
        drops.add_metric(["room"], sum(served.pending.crowded_out for served in there))
        yield drops

    def _gauges(self) -> Iterable[tuple[str, str, float]]:
        there = [served for _, served in self._models.now()]
        yield "models_open", "Models in memory.", len(there)
        yield (
            "state_bytes",
            "Bytes of the models in memory, of pending rows and of queues.",
            sum(s.nbytes for s in there),
        )
        yield "queued_rows", "Rows that wait for the learner.", sum(s.queued for s in there)
        yield "pending_rows", "Predicted rows that wait for their label.", sum(len(s.pending) for s in there)
        yield "pending_bytes", "Bytes of these.", sum(s.pending.nbytes for s in there)
        yield "pending_budget_bytes", "Bytes that these may have.", sum(s.pending.budget for s in there)
        yield "journal_bytes", "Bytes of the journals on the disk.", sum(s.journal.nbytes for s in there)
        yield "troubles", "Things that are wrong: see /health/ready.", sum(len(s.troubles) for s in there)
        if len(there) == 1:
            yield from self._gauges_of_one(there[0])

    def _gauges_of_one(self, served: Any) -> Iterable[tuple[str, str, float]]:
        yield "version", "Rows learned by the model that answers.", served.version
        model = served.model
        if model is not None and model.progress.rows:
            store = model.classifier.learner_.memory.store
            yield "memory_samples", "Samples in memory.", len(store)
            yield "memory_bytes", "Bytes of these.", store.nbytes
            yield "memory_budget_bytes", "Bytes that these may have.", model.classifier.learner_.memory.budget.nbytes
        if served.answered.rows:
            yield (
                "answered_accuracy",
                "Share of right answers, by labels that came later.",
                served.answered.accuracy,
            )
            yield "answered_log_loss", "Mean log loss of these.", served.answered.log_loss
        if model is not None and model.progress.rows and (before := model.scores_.overall).accuracy is not None:
            yield (
                "before_learning_accuracy",
                "Share of right answers to rows not learned yet.",
                before.accuracy,
            )
            yield "before_learning_log_loss", "Mean log loss of these.", before.log_loss
