from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from smartcl.paper.datasets.civil_unrest import civil_unrest
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.paper.datasets.downloads import FetchError
from smartcl.paper.datasets.task_stream import TaskStream

N_CITIES, N_DAYS, N_KEYWORDS = 3, 100, 8
CUT = 60
CITIES = ["s\\u00e3o paulo_s\\u00e3o paulo", "recife_pernambuco", "quiet_town"]
REAL = Path(os.environ.get("SMARTCL_DATA", ""), "civil-unrest")


def counts_and_events() -> tuple[np.ndarray, np.ndarray]:
    """Counts with a silent day in each city, and events of which the last city has none."""
    rng = np.random.default_rng(2)
    counts = rng.poisson(0.5, size=(N_CITIES, N_DAYS, N_KEYWORDS))
    counts[0, 3], counts[0, 4, 0] = 1, 9
    counts[:, 7], counts[:, 70] = 0, 0
    events = rng.random((N_CITIES, N_DAYS)) < 0.5
    events[-1] = False
    return counts, events


COUNTS, EVENTS = counts_and_events()


def texts(items: list[str]) -> np.ndarray:
    return np.array([items], dtype=object)


def matrices(items: list[object]) -> np.ndarray:
    array = np.empty((1, len(items)), dtype=object)
    array[0] = items
    return array


def sibling() -> dict[str, object]:
    """Scaled per keyword by its largest count; 1 is no event, 2 and more the subtypes."""
    subtypes = np.random.default_rng(3).integers(2, 7, size=EVENTS.shape)
    return {
        "X": COUNTS / COUNTS.max(axis=(0, 1)),
        "Y": np.where(EVENTS, subtypes, 1).astype(np.uint8),
        "city": texts(CITIES),
        "latitude": np.zeros((N_CITIES, 1)),
    }


def papers() -> dict[str, object]:
    """The same labels on the day of the event, which is one later; nothing is known beyond the last day."""
    own_day = np.concatenate([np.zeros((N_CITIES, 1)), EVENTS[:, :-1]], axis=1)
    return {
        "X": matrices([COUNTS[0].astype(float), sparse.csc_array(COUNTS[1].astype(float)), COUNTS[2].astype(np.uint8)]),
        "Y": matrices([row[np.newaxis] for row in own_day]),
        "locations": texts(CITIES),
        "keywords": texts([f"palabra {i}" for i in range(N_KEYWORDS)]),
        "dates": texts([f"day {i}" for i in range(N_DAYS)]),
    }


def put(folder: Path, name: str, variables: dict[str, object]) -> None:
    (folder / "civil-unrest").mkdir(parents=True, exist_ok=True)
    savemat(folder / "civil-unrest" / name, variables)


def expected_test(city: int, last: int) -> tuple[np.ndarray, list[int]]:
    days = [day for day in range(CUT, last) if COUNTS[city, day].any()]
    return np.log1p(COUNTS[city, days]).astype(np.float32), [int(EVENTS[city, day]) for day in days]


def check_against_the_tables(stream: TaskStream, last: int) -> None:
    assert stream.task_names == ("são paulo_são paulo", "recife_pernambuco")
    for city, task in enumerate(stream.tasks):
        assert isinstance(task.test.x, sparse.csr_array)
        assert isinstance(task.train.x, sparse.csr_array)
        rows, labels = expected_test(city, last)
        np.testing.assert_allclose(task.test.x.toarray(), rows, rtol=1e-6)
        assert task.test.y.tolist() == labels
        days = {tuple(np.round(np.expm1(row)).astype(int)) for row in task.train.x.toarray()}
        assert days <= {tuple(row) for row in COUNTS[city, :CUT]}
        assert (0,) * N_KEYWORDS not in days
        assert (len(task.train), int(task.true_y.sum())) == (300, 150)


def test_the_sibling_release_gives_back_counts_and_keeps_its_days(tmp_path: Path) -> None:
    put(tmp_path, "2013-2014_Brazil.mat", sibling())
    stream = civil_unrest("brazil", tmp_path)
    assert (stream.name, stream.source) == ("civil-brazil (event-subtype release)", "event-subtype release")
    assert stream.feature_names is None
    check_against_the_tables(stream, N_DAYS)


def test_the_papers_own_files_tell_a_day_from_the_next(tmp_path: Path) -> None:
    put(tmp_path, "Brazil.mat", papers())
    stream = civil_unrest("Brazil", tmp_path)
    assert (stream.name, stream.source) == ("civil-brazil", "paper's release")
    assert stream.feature_names == tuple(f"palabra {i}" for i in range(N_KEYWORDS))
    check_against_the_tables(stream, N_DAYS - 1)


def test_a_keyword_unseen_in_training_is_no_feature(tmp_path: Path) -> None:
    data = sibling()
    scaled = np.array(data["X"])
    scaled[:, :CUT, 2] = 0
    put(tmp_path, "2013-2014_Chile.mat", {**data, "X": scaled})
    stream = civil_unrest("Chile", tmp_path)
    assert stream.n_features == N_KEYWORDS - 1


def test_the_papers_files_come_first_and_the_environment_may_name_the_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put(tmp_path, "2013-2014_Brazil.mat", sibling())
    put(tmp_path, "Brazil.mat", papers())
    monkeypatch.setenv("SMARTCL_DATA", str(tmp_path))
    assert load_stream("civil-brazil").name == "civil-brazil"


def test_a_country_without_file_is_told_what_is_there_and_where_to_get_it(tmp_path: Path) -> None:
    put(tmp_path, "2013-2014_Brazil.mat", sibling())
    with pytest.raises(FetchError) as refusal:
        civil_unrest("Brasil", tmp_path)
    for part in ("Brasil", "there are 2013-2014_Brazil.mat", "Emory", "AAAI-19", "civil-unrest", "SMARTCL_DATA"):
        assert part in str(refusal.value)


@pytest.mark.parametrize("country", ["../civil-unrest/2013-2014_Brazil", "*"])
def test_a_country_is_no_path_and_no_pattern(tmp_path: Path, country: str) -> None:
    put(tmp_path, "2013-2014_Brazil.mat", sibling())
    with pytest.raises(FetchError, match="there is no civil-unrest file"):
        civil_unrest(country, tmp_path)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"X": COUNTS[0].astype(float)}, "X must hold numbers in 3 dimensions"),
        ({"X": COUNTS[:, :-1].astype(float)}, r"got \(3, 99, 8\) and \(3, 100\)"),
        ({"Y": np.zeros(EVENTS.shape)}, r"Y must be 1 without an event and above with one, got 0"),
        ({"X": -np.ones(COUNTS.shape)}, "counts must be finite and not negative"),
        ({"X": np.full(COUNTS.shape, np.nan)}, "counts must be finite"),
        ({"city": texts(CITIES[:2])}, "and 2 names"),
        ({"city": np.ones((1, 3))}, "city must be a cell array"),
        ({"city": None}, "has no variable keywords, locations, and no city either"),
        ({"Y": None}, "has no variable Y"),
    ],
)
def test_a_sibling_file_of_another_shape_is_refused(tmp_path: Path, changes: dict[str, object], complaint: str) -> None:
    variables = {name: value for name, value in {**sibling(), **changes}.items() if value is not None}
    put(tmp_path, "2013-2014_Brazil.mat", variables)
    with pytest.raises(ValueError, match=rf"2013-2014_Brazil\.mat.*{complaint}"):
        civil_unrest("Brazil", tmp_path)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"X": COUNTS.astype(float)}, "X must be a cell array"),
        ({"X": matrices([np.ones(3)] * 3 + [np.array(["a"])])}, "each X must hold numbers in 2 dimensions, got <U1"),
        ({"Y": matrices([np.zeros((1, 99))] * 3)}, r"a label per place and day \(3, 100\), got \(3, 99\)"),
        ({"keywords": texts(["a"])}, r"expected \(100, 1\) days x keywords, got \(100, 8\)"),
        ({"keywords": None}, "has no variable keywords, and no city either"),
        ({"X": matrices([COUNTS[0].astype(float), COUNTS[1, 1:].astype(float)])}, "same shape"),
    ],
)
def test_a_paper_file_of_another_shape_is_refused(tmp_path: Path, changes: dict[str, object], complaint: str) -> None:
    variables = {name: value for name, value in {**papers(), **changes}.items() if value is not None}
    put(tmp_path, "Brazil.mat", variables)
    with pytest.raises(ValueError, match=rf"Brazil\.mat.*{complaint}"):
        civil_unrest("Brazil", tmp_path)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    put(tmp_path, "Brazil.mat", papers())
    path = tmp_path / "civil-unrest" / "Brazil.mat"
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ValueError, match=r"Brazil\.mat is damaged"):
        civil_unrest("Brazil", tmp_path)


def test_noise_that_moves_days_between_cities_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "Brazil.mat", papers())
    with pytest.raises(ValueError, match="exchanges examples between tasks"):
        civil_unrest("Brazil", tmp_path, noise="foreign:0.1")


@pytest.mark.skipif(not (REAL / "2013-2014_Brazil.mat").is_file(), reason="SMARTCL_DATA has no civil-unrest files")
@pytest.mark.parametrize(("country", "n_tasks", "n_features"), [("Brazil", 8, 1173), ("Paraguay", 5, 879)])
def test_the_real_files_hold_counts(country: str, n_tasks: int, n_features: int) -> None:
    stream = civil_unrest(country, REAL.parent)
    assert (len(stream.tasks), stream.n_features) == (n_tasks, n_features)
    assert all("\\u" not in name for name in stream.task_names or ())
    values = np.concatenate([task.test.x.data for task in stream.tasks if isinstance(task.test.x, sparse.csr_array)])
    counts = np.expm1(values.astype(np.float64))
    assert (np.abs(counts - np.round(counts)) < 1e-3 * counts).mean() > 0.999
