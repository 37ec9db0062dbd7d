"""Places observed over the same days, and the stream that learns to warn of events in one place after another.

The protocol: the first days of the calendar are for training, the rest for testing; a place becomes a task if
both parts hold enough days of both labels; a task's training samples are drawn so that both labels are equally
many; only keywords that occur in training are features; their values are log(1 + count).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from smartcl.data.batch import Batch, Bools, Ints
from smartcl.data.spec import InputSpec
from smartcl.events.counts import UNKNOWN, Csr, log_counts
from smartcl.paper.datasets.corruption import NoiseModel, corrupt
from smartcl.paper.datasets.protocols import PanelProtocol
from smartcl.paper.datasets.task_stream import CORRUPT, SAMPLE, Task, TaskStream


@dataclass(frozen=True)
class Panel:
    """For each place the keyword counts ``[day, keyword]``, and whether an event follows (1), not (0) or ``UNKNOWN``.

    >>> from scipy import sparse
    >>> counts = sparse.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> Panel((counts,), np.array([[1, UNKNOWN]]), ("Recife",)).n_days
    2
    """

    counts: tuple[Csr, ...]
    labels: Ints
    places: tuple[str, ...]
    keywords: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        n_places = len(self.counts)
        if not n_places or self.labels.ndim != 2 or len(self.labels) != n_places or len(self.places) != n_places:
            raise ValueError(
                f"one table of counts, one row of labels and one name per place: got {n_places} tables, "
                f"labels of the shape {self.labels.shape} and {len(self.places)} names"
            )
        width = self.counts[0].shape[1] if self.keywords is None else len(self.keywords)
        expected = (self.n_days, width)
        for place, counts in zip(self.places, self.counts, strict=True):
            if counts.shape != expected:
                raise ValueError(f"{place}: expected {expected} days x keywords, got {counts.shape}")

    @property
    def n_days(self) -> int:
        return int(self.labels.shape[1])


def rehearsal(panel: Panel, protocol: PanelProtocol) -> tuple[Panel, PanelProtocol]:
    """The training days alone, split again the same way: what settings may be chosen by, no test day being seen."""
    cut = protocol.n_train(panel.n_days)
    first = Panel(tuple(counts[:cut] for counts in panel.counts), panel.labels[:, :cut], panel.places, panel.keywords)
    return first, protocol.shorter(protocol.train_share)


def panel_stream(
    name: str, panel: Panel, protocol: PanelProtocol, seed: int, noise: NoiseModel, source: str = ""
) -> TaskStream:
    """One task per place that has enough days of both labels."""
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    if protocol.validation:
        panel, protocol = rehearsal(panel, protocol)
    cut = protocol.n_train(panel.n_days)
    chosen = eligible(panel.labels, cut, protocol)
    if not len(chosen):
        raise ValueError(
            f"{name}: no place has {protocol.least_train} days of each label in the first {cut} days "
            f"and {protocol.least_test} in the other {panel.n_days - cut}"
        )
    seen = np.flatnonzero(seen_keywords(panel, chosen, cut))
    tasks = tuple(
        place_task(panel.counts[place][:, seen], panel.labels[place], cut, protocol.samples, number, seed, noise)
        for number, place in enumerate(chosen)
    )
    return TaskStream(
        name,
        InputSpec(len(seen), 2, sparse=True),
        tasks,
        protocol.batch_size,
        seed,
        protocol.epochs,
        feature_names=None if panel.keywords is None else tuple(panel.keywords[keyword] for keyword in seen),
        task_names=tuple(panel.places[place] for place in chosen),
        source=source,
    )


def eligible(labels: Ints, cut: int, protocol: PanelProtocol) -> Ints:
    """The places with enough days of each label before and after the cut.

    >>> eligible(np.array([[0, 1, 0, 1], [0, 1, 0, 0]]), 2, PanelProtocol(0.5, 1, 1))
    array([0])
    """
    enough = [
        (labels[:, part] == label).sum(axis=1) >= least
        for part, least in ((slice(cut), protocol.least_train), (slice(cut, None), protocol.least_test))
        for label in (0, 1)
    ]
    return np.flatnonzero(np.logical_and.reduce(enough))


def seen_keywords(panel: Panel, places: Ints, cut: int) -> Bools:
    """Which keywords occur on a training day of these places."""
    totals = [panel.counts[place][:cut][panel.labels[place, :cut] != UNKNOWN].sum(axis=0) for place in places]
    return np.asarray(np.sum(totals, axis=0) > 0, dtype=np.bool_)


def place_task(counts: Csr, labels: Ints, cut: int, samples: int, number: int, seed: int, noise: NoiseModel) -> Task:
    train = balanced_draw(labels[:cut], samples, np.random.default_rng([seed, SAMPLE, number]))
    test = cut + np.flatnonzero(labels[cut:] != UNKNOWN)
    shown = corrupt(labels[train], 2, noise, np.random.default_rng([seed, CORRUPT, number]))
    x = log_counts(counts)
    return Task(
        train=Batch(x[train], torch.from_numpy(shown)),
        test=Batch(x[test], torch.from_numpy(labels[test])),
        true_y=torch.from_numpy(labels[train]),
        origin=torch.full((samples,), number),
        class_counts=tuple(int((labels[:cut] == label).sum()) for label in (0, 1)),
    )


def balanced_draw(labels: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Days of which half carry each label; with replacement where a label has too few days.

    >>> labels = np.array([0, 1, 0, UNKNOWN])
    >>> days = balanced_draw(labels, 4, np.random.default_rng(0))
    >>> labels[days], sorted(days[:2])
    (array([0, 0, 1, 1]), [np.int64(0), np.int64(2)])
    """
    drawn = []
    for label, size in ((0, n - n // 2), (1, n // 2)):
        days = np.flatnonzero(labels == label)
        drawn.append(rng.choice(days, size, replace=len(days) < size))
    return np.concatenate(drawn)
