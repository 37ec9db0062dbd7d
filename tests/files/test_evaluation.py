"""Evaluations: what a copy has learned on the way is told apart from what the model had learned."""

from __future__ import annotations

from smartcl import train_stream
from smartcl.files.evaluation import evaluate
from smartcl.files.sources import source_of


def test_an_evaluation_tells_which_rows_its_samples_came_with() -> None:
    """Rows that a copy learns on the way come after those that the model had learned."""
    rows = [({"wind": wind, "sky": sky}, wind > 3) for wind in range(8) for sky in ("clear", "grey")] * 10
    model = train_stream(rows, memory="10kB", random_state=0, members=["ridge"])
    evaluate(model, source_of(rows[:100], "label", 50), frozen=False)
    bands = model.ages.by_rows(model.progress.rows)
    assert bands is not None
    assert bands[-1]["to"] == 260
    assert all(band["from"] <= band["to"] and band["samples"] <= band["to"] - band["from"] + 1 for band in bands)
