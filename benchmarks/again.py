"""What a stream of flu says of its own future, with and without the rows that come again.

The protocol draws days of the rarer label with replacement, so half of the rows are exact repeats, and who knows a row
by heart is right about its twin. Each row is predicted before it is learned, and counted as one that comes again or
one that is new; the days after the stream's end are those of the validation split. Streams and seed are none of a
table's. Needs the flu data, as ``smartcl run --dataset flu-2013`` does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from benchmarks.timing import report
from smartcl.data.batch import Batch
from smartcl.extend import build_learner
from smartcl.paper.datasets.dataset_registry import load_stream

STREAMS, SEED, MEMORY = ("flu-2011-validation", "flu-2013-validation"), 30, "300 samples"
#: The share of the rows before which nothing is counted.
WARM = 0.2
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "smart": ("smart", {}),
    "smart, 2 steps": ("smart", {"iterations": 2}),
    "adaptive": ("adaptive", {}),
}


def row_bytes(batch: Batch) -> list[tuple[bytes, bytes]]:
    """Each row as its features and values: equal for rows that are."""
    x = batch.x
    assert not isinstance(x, torch.Tensor)
    parts = [slice(start, end) for start, end in zip(x.indptr[:-1], x.indptr[1:], strict=True)]
    return [(x.indices[part].tobytes(), x.data[part].tobytes()) for part in parts]


def lines(dataset: str, name: str) -> list[tuple[str, float, str]]:
    method, parameters = LEARNERS[name]
    stream = load_stream(dataset, SEED)
    learner = build_learner(method, stream.spec, MEMORY, SEED, **parameters)
    seen: set[tuple[bytes, bytes]] = set()
    answers, labels, again = [], [], []
    for batch in stream:
        rows = row_bytes(batch)
        if learner.batches:
            answers.append(learner.predict_proba(batch.x)[:, 1].numpy())
            labels.append(batch.y.numpy())
            again.append([row in seen for row in rows])
        seen.update(rows)
        learner.observe(batch)
    p, y, known = np.concatenate(answers), np.concatenate(labels), np.concatenate(again)
    later = np.arange(len(y)) >= WARM * len(y)
    found = []
    for what, part in (("come again", later & known), ("are new", later & ~known)):
        found.append((f"{dataset}, {name}: accuracy on rows that {what}", float(((p > 0.5) == y)[part].mean()), "-"))
        found.append((f"{dataset}, {name}: AUC on rows that {what}", float(roc_auc_score(y[part], p[part])), "-"))
    tests = [(task.test.y.numpy(), learner.predict_proba(task.test.x)[:, 1].numpy()) for task in stream.tasks]
    after = float(np.mean([roc_auc_score(*each) for each in tests]))
    return [*found, (f"{dataset}, {name}: AUC on the days after the stream's end", after, "-")]


if __name__ == "__main__":
    torch.set_num_threads(1)
    report(*(line for dataset in STREAMS for name in LEARNERS for line in lines(dataset, name)))
