"""One pass over a stream: each row is answered before it is learned, and what is said is scored."""

from __future__ import annotations

import numpy as np
import pytest

from smartcl.paper.datasets.real_tasks import LearnedRows
from smartcl.paper.peers.baselines import Commonest, LastLabel
from smartcl.paper.scores.one_pass import one_pass


class Diary:
    """Answers with what it was taught of the last row, and notes what it was asked."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, int, int]] = []
        self.last = 0

    def learn(self, rows, y):
        self.noted.append(("learn", int(rows[0, 0]), len(y)))
        self.last = int(y[-1])

    def scores(self, rows):
        self.noted.append(("answer", int(rows[0, 0]), len(rows)))
        return np.tile(np.eye(2)[self.last], (len(rows), 1))


def stream(rows: int = 130) -> LearnedRows:
    truth = (np.arange(rows) // 7 % 2).astype(np.int64)
    return LearnedRows(np.arange(rows, dtype=np.float32)[:, None], 1 - truth, truth, 2)


@pytest.mark.parametrize("step", [1, 50])
def test_rows_are_answered_then_learned_and_scored_after_the_first_fifty(step):
    diary, data = Diary(), stream()
    result = one_pass(diary, data, step)
    starts = range(0, 130, step)
    assert [noted for noted in diary.noted if noted[0] == "learn"] == [
        ("learn", start, min(step, 130 - start)) for start in starts
    ]
    for start in starts:
        if start >= 50:
            answer = diary.noted.index(("answer", start, min(step, 130 - start)))
            assert diary.noted[answer + 1] == ("learn", start, min(step, 130 - start))
    said = [data.taught[start - 1] for start in starts if start >= 50 for _ in range(min(step, 130 - start))]
    assert result["accuracy"] == pytest.approx(100 * np.mean(np.array(said) == data.truth[50:]))
    assert result["rows"] == 130
    assert result["pickled_bytes"] > 0


def test_repeating_the_last_label_is_as_good_as_the_stream_repeats_itself():
    data = stream(400)
    data = LearnedRows(data.rows, data.truth, data.truth, 2)
    repeats = (data.truth[50:] == data.truth[49:-1]).mean()
    assert one_pass(LastLabel(2), data, 1)["accuracy"] == pytest.approx(100 * repeats)
    common = one_pass(Commonest(2), data, 1)
    assert common["accuracy"] < 100 * repeats
    assert common["auc"] == pytest.approx(0.5, abs=0.2)
