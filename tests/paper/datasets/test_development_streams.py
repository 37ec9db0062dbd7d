"""Development streams: the same for the same seed, others for another, and of the shapes that are promised."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from smartcl.paper.datasets import development_streams
from smartcl.paper.datasets.development_streams import DEVELOPMENT_STREAMS, FIRST_SEED, DevelopmentStream
from smartcl.paper.datasets.digits import DigitImages
from smartcl.paper.datasets.real_streams import REAL_STREAMS, RealStream

#: Rows, columns and classes.
MADE = {
    "turning-hyperplane": (4000, 10, 2),
    "abrupt-thresholds": (4000, 3, 2),
    "reversal-returns": (4000, 2, 2),
    "another-unit": (4000, 5, 2),
    "moving-centroids": (4000, 8, 4),
    "axis-parallel-rules": (4000, 6, 3),
    "raw-table": (4000, 15, 4),
    "moons": (4000, 2, 2),
    "spirals": (4000, 2, 3),
    "new-classes": (2000, 20, 10),
    "moons-wrong-labels": (4000, 2, 2),
    "centroids-wrong-labels": (4000, 8, 4),
    "digits-by-class": (1797, 64, 10),
    "made-texts": (1200, 20_000, 2),
    "rules-20kB": (4000, 6, 3),
    "digits-by-class-20kB": (1797, 64, 10),
    "centroids-wrong-labels-20kB": (4000, 8, 4),
}
REAL = {"covtype-late": 200_000, "flights-late": 100_000, "moving-squares": 0, "sea-big": 24_000}


def dense(stream: DevelopmentStream) -> np.ndarray:
    return stream.X.toarray() if sparse.issparse(stream.X) else stream.X


def in_pairs(y: np.ndarray) -> bool:
    """Classes come two at a time, in the order of their numbers."""
    return bool((np.diff(y // 2) >= 0).all())


def test_these_are_all() -> None:
    assert {*MADE, *REAL, "images-by-class"} == DEVELOPMENT_STREAMS.keys()


@pytest.mark.parametrize("name", MADE)
def test_a_made_stream_comes_from_its_seed_alone(name: str) -> None:
    first, again, other = (DEVELOPMENT_STREAMS[name](seed) for seed in (FIRST_SEED, FIRST_SEED, FIRST_SEED + 1))
    rows, columns, classes = MADE[name]
    assert first.X.shape == (rows, columns)
    assert first.X.dtype == np.float32
    assert first.classes == classes
    assert set(first.y.tolist()) == set(range(classes))
    assert first.learned == rows
    assert first.memory == ("20kB" if name.endswith("20kB") else "100kB")
    np.testing.assert_array_equal(dense(first), dense(again))
    np.testing.assert_array_equal(first.taught, again.taught)
    assert not np.array_equal(dense(first), dense(other))


def test_wrong_labels_are_learned_and_clean_ones_scored() -> None:
    for name in ("moons", "moving-centroids"):
        clean = DEVELOPMENT_STREAMS[name](FIRST_SEED)
        wrong = DEVELOPMENT_STREAMS[{"moons": "moons", "moving-centroids": "centroids"}[name] + "-wrong-labels"](
            FIRST_SEED
        )
        np.testing.assert_array_equal(clean.y, wrong.y)
        # 30% are redrawn; a redrawn label may be the same one
        assert np.mean(wrong.taught != wrong.y) == pytest.approx(0.3 * (1 - 1 / wrong.classes), abs=0.03)
        np.testing.assert_array_equal(clean.taught, clean.y)


def test_classes_come_two_at_a_time() -> None:
    for name in ("new-classes", "digits-by-class"):
        assert in_pairs(DEVELOPMENT_STREAMS[name](FIRST_SEED).y)


def test_labels_are_reversed_and_return() -> None:
    stream = DEVELOPMENT_STREAMS["reversal-returns"](FIRST_SEED)
    above = stream.X[:, 1] > 0.5 + 0.3 * np.sin(3 * np.pi * stream.X[:, 0])
    agreed = [float(part.mean()) for part in np.array_split(above == stream.y, 4)]
    assert agreed == [1.0, 0.0, 1.0, 0.0]


def test_a_column_comes_in_another_unit_and_means_the_same() -> None:
    stream = DEVELOPMENT_STREAMS["another-unit"](FIRST_SEED)
    before, after = stream.X[:2000], stream.X[2000:].astype(np.float64)
    assert np.abs(before).max() < 10
    assert after[:, 4].min() > 900
    back = np.column_stack([after[:, :4], (after[:, 4] - 1000) / 10])
    said = back[:, 0] + back[:, 1] * back[:, 2] + 1.5 * back[:, 4] > 0
    assert np.mean(said == stream.y[2000:]) > 0.999  # single precision moves few rows across the border


def test_the_share_of_a_class_rises_in_texts() -> None:
    stream = DEVELOPMENT_STREAMS["made-texts"](FIRST_SEED)
    first, *_, last = (float(part.mean()) for part in np.array_split(stream.y, 10))
    assert first < 0.3
    assert last > 0.7
    assert (stream.X.sum(axis=1) == development_streams.WORDS_IN_A_TEXT).all()


def numbered(name: str, rows: int) -> RealStream:
    """A stream whose rows are numbered."""
    X = np.arange(rows, dtype=np.float32)[:, None]
    return RealStream(X, np.arange(rows) % 2, ("row",), ("no", "yes"), name)


@pytest.mark.parametrize("name", REAL)
def test_real_rows_begin_where_no_table_looks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = DEVELOPMENT_STREAMS[name].args[0]
    assert source in REAL_STREAMS
    asked = []
    monkeypatch.setattr(development_streams, "load_real_stream", lambda it: asked.append(it) or numbered(it, 250_000))
    streams = [DEVELOPMENT_STREAMS[name](FIRST_SEED + seed) for seed in range(12)]
    starts = [int(stream.X[0, 0]) for stream in streams]
    assert set(asked) == {source}
    assert starts[0] == REAL[name]
    assert min(starts) >= REAL[name]
    assert len(set(starts)) > 1
    assert {len(stream.y) for stream in streams} <= {2000, 4000}
    assert all(int(stream.X[-1, 0]) == start + len(stream.y) - 1 for stream, start in zip(streams, starts, strict=True))


def test_images_are_training_images_and_no_image_is_learned_and_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    train = np.arange(3000, dtype=np.uint16).view(np.uint8).reshape(3000, 2)  # each image says which one it is
    images = DigitImages(
        train, np.arange(3000) % 10, np.full((100, 2), 255, np.uint8), np.zeros(100, int), *"n", 255, ""
    )
    monkeypatch.setattr(development_streams, "load_mnist", lambda: images)
    stream = DEVELOPMENT_STREAMS["images-by-class"](FIRST_SEED)
    assert stream.X.dtype == np.uint8
    assert (stream.learned, len(stream.y)) == (2000, 2500)
    assert in_pairs(stream.y[: stream.learned])
    which = np.ascontiguousarray(stream.X).view(np.uint16).ravel()
    assert len(set(which.tolist())) == 2500
    np.testing.assert_array_equal(which % 10, stream.y)
    assert which.max() < 3000
