"""The peers on real tables: each learns numbers, names and texts; those whose package is not here are left out."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from smartcl.paper.datasets.real_tasks import LearnedRows
from smartcl.paper.peers.names import REAL_PEERS
from smartcl.paper.peers.table_peers import TABLE_PEERS
from smartcl.paper.scores.one_pass import one_pass

MODULES = {"scikit-learn": "sklearn", "vowpalwabbit": "vowpalwabbit", "river": "river", "lightgbm": "lightgbm"}
HERE = [
    name
    for name, peer in REAL_PEERS.items()
    if peer.package is not None and find_spec(MODULES[peer.package[0]]) is not None
]


def rows_of(kind: str, count: int):
    """Rows of which one column says the class nine times of ten, and the classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3 if kind == "numbers" else 2, count)
    hint = np.where(rng.random(count) < 0.9, y, rng.integers(0, 2, count))
    noise = rng.normal(size=count)
    if kind == "numbers":
        return np.stack([1000 * hint + 100 * noise, noise], axis=1).astype(np.float32), y, 3
    if kind == "names":
        names = [["north end", "so:uth|2"][each] for each in hint]
        rows = [{"wind": float(n), "city": name} for n, name in zip(noise, names, strict=True)]
        return [row if place % 9 else {"wind": row["wind"]} for place, row in enumerate(rows)], y, 2
    return [{"comment": f"well {('thanks', 'idiot')[each]} then NEWLINE_TOKEN"} for each in hint], y, 2


def test_every_row_of_the_tables_has_a_builder():
    assert set(TABLE_PEERS) == set(REAL_PEERS)


@pytest.mark.parametrize("kind", ["numbers", "names", "text"])
@pytest.mark.parametrize("name", HERE)
def test_a_peer_learns_what_the_columns_say(name, kind):
    rows, y, classes = rows_of(kind, 400)
    try:
        peer = TABLE_PEERS[name](rows[:100], classes, 0)
    except NotImplementedError:
        pytest.skip("it takes no texts")
    result = one_pass(peer, LearnedRows(rows, y, y, classes), 50)
    assert result["accuracy"] > (55 if classes == 3 else 70)
    assert result["pickled_bytes"] > 0
