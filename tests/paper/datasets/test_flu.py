from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.paper.datasets.downloads import FetchError
from smartcl.paper.datasets.flu import flu, flu_panel

N_STATES, N_DAYS, N_KEYWORDS = 3, 400, 6
REAL = Path(os.environ.get("SMARTCL_DATA", ""), "flu")


def tables(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Values and levels; the last state never rises above the lowest level."""
    rng = np.random.default_rng(seed)
    x = rng.exponential(3.0, size=(N_STATES, N_DAYS, N_KEYWORDS)) * (rng.random((N_STATES, N_DAYS, N_KEYWORDS)) < 0.3)
    levels = rng.choice([0, 1, 2, 7, 10], size=(N_STATES, N_DAYS), p=[0.1, 0.5, 0.2, 0.1, 0.1])
    levels[-1] = 1
    return x, levels.astype(np.uint8)


def put(folder: Path, **variables: object) -> None:
    (folder / "flu").mkdir()
    savemat(folder / "flu" / "2011-2012_flu_data.mat", variables)


def next_days(levels: list[int]) -> list[int]:
    labels = [-1 if level == 0 else int(level >= 2) for level in levels[1:]]
    return [*labels, -1]


def test_the_label_of_a_day_is_the_level_of_the_next(tmp_path: Path) -> None:
    x, levels = tables()
    put(tmp_path, X=x, Y=levels)
    stream = load_stream("flu-2011", data_dir=tmp_path)
    assert (stream.name, stream.task_names, stream.feature_names) == ("flu-2011", ("state 1", "state 2"), None)
    for state, task in enumerate(stream.tasks):
        labels = next_days(levels[state].tolist())
        tested = [day for day in range(N_DAYS // 2, N_DAYS) if labels[day] != -1]
        assert task.test.y.tolist() == [labels[day] for day in tested]
        assert isinstance(task.test.x, sparse.csr_array)
        np.testing.assert_allclose(task.test.x.toarray(), np.log1p(x[state, tested]), rtol=1e-6)
        assert (len(task.train), int(task.true_y.sum())) == (300, 150)


@pytest.mark.parametrize(
    ("x", "y", "complaint"),
    [
        (np.ones((2, 3)), np.ones((2, 3)), "X must hold numbers in 3 dimensions"),
        (np.ones((2, 3, 4)), np.ones((3, 2)), r"X must be .* got \(2, 3, 4\) and \(3, 2\)"),
        (np.ones((2, 3, 4)), np.full((2, 3), 11), r"Y must hold the levels 1\.\.10, or 0"),
        (np.ones((2, 3, 4)), np.full((2, 3), 1.5), r"Y must hold the levels 1\.\.10, or 0"),
    ],
)
def test_tables_of_another_shape_are_refused(tmp_path: Path, x: np.ndarray, y: np.ndarray, complaint: str) -> None:
    put(tmp_path, X=x, Y=y)
    with pytest.raises(ValueError, match=rf"2011-2012_flu_data\.mat: {complaint}"):
        flu("2011", tmp_path)


def test_missing_files_are_told_where_to_go(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"Put 2013-2014_flu_data\.mat into the folder flu under --data"):
        flu("2013", tmp_path)


def test_labels_agree_with_a_loop_over_days() -> None:
    x, levels = tables(1)
    assert flu_panel(x, levels).labels.tolist() == [next_days(row) for row in levels.tolist()]


@pytest.mark.skipif(not (REAL / "2013-2014_flu_data.mat").is_file(), reason="SMARTCL_DATA has no flu files")
@pytest.mark.parametrize(("years", "n_tasks"), [("2011", 33), ("2013", 44)])
def test_the_real_files_are_read_past_their_matlab_tables(years: str, n_tasks: int) -> None:
    stream = flu(years, REAL.parent)
    assert (len(stream.tasks), stream.n_features) == (n_tasks, 521)
