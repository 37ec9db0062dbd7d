"""The files of the suite: what is written is read, and what is no stream is refused in a line that says what to do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smartcl.errors import UnavailableError
from smartcl.paper.datasets.stream_suite import (
    SEEDS,
    SUITE,
    SuiteFile,
    read_suite_file,
    stream_path,
    write_suite_file,
)

PART = np.arange(8, dtype=np.float32).reshape(4, 2), np.array([0, 1, 1, 2])
STREAM = SuiteFile.of([PART] * SEEDS, (2,), False)


def test_a_file_holds_what_was_written(tmp_path):
    path = stream_path("led", tmp_path)
    write_suite_file(path, STREAM)
    found = read_suite_file(path)
    assert (found.drifts, found.gradual, found.classes, found.digest) == ((2,), False, 3, STREAM.digest)
    np.testing.assert_array_equal(found.X, STREAM.X)
    np.testing.assert_array_equal(found.y, STREAM.y)


def test_the_digest_changes_with_any_value():
    X, y = STREAM.X.copy(), STREAM.y.copy()
    X[4, 3, 1] = np.nextafter(X[4, 3, 1], np.float32(9))
    y[0, 0] = 1
    others = [replace(STREAM, X=X), replace(STREAM, y=y), replace(STREAM, drifts=(3,)), replace(STREAM, gradual=True)]
    assert len({stream.digest for stream in (STREAM, *others)}) == 5


def test_a_shipped_data_set_is_the_same_with_every_seed_and_a_generated_one_has_its_own():
    shipped = SuiteFile.of([PART], (), False)
    assert all(shipped.with_seed(seed)[0] is not None for seed in range(SEEDS))
    own = replace(STREAM, X=STREAM.X + np.arange(SEEDS, dtype=np.float32)[:, None, None])
    assert [own.with_seed(seed)[0][0, 0] for seed in range(SEEDS)] == list(range(SEEDS))
    for stream in (shipped, own):
        with pytest.raises(ValueError, match="seed must be 0 to 4"):
            stream.with_seed(SEEDS)


def test_a_stream_that_is_not_there_names_the_command(tmp_path):
    with pytest.raises(UnavailableError, match=r"led.npz is not there: 'make peers' writes"):
        read_suite_file(stream_path("led", tmp_path))


@pytest.mark.parametrize(
    "parts",
    [
        {"X": STREAM.X[0]},
        {"X": STREAM.X.astype(np.float64)},
        {"y": STREAM.y[:, :3]},
        {"y": STREAM.y - 1},
        {"X": np.where(STREAM.X > 3, np.float32(np.nan), STREAM.X)},
        {"X": np.array([object()])},
    ],
    ids=["flat", "other type", "fewer labels", "negative label", "not finite", "pickled"],
)
def test_what_is_no_stream_is_refused(tmp_path, parts):
    path = tmp_path / "led.npz"
    whole = {"X": STREAM.X, "y": STREAM.y, "drifts": np.array([2]), "gradual": np.array(False)}
    np.savez_compressed(path, **{**whole, **parts})
    with pytest.raises(UnavailableError, match=r"is no stream of the suite .*'make peers' writes it anew"):
        read_suite_file(path)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "led.npz"
    write_suite_file(path, STREAM)
    whole = path.read_bytes()
    for text in (b"", b"not a file of arrays", whole[: len(whole) // 2]):
        path.write_bytes(text)
        with pytest.raises(UnavailableError, match="make peers"):
            read_suite_file(path)


def test_the_suite_is_ten_streams_named_exactly():
    assert len(SUITE) == 10
    assert len({stream.source for stream in SUITE.values()}) == 10
    assert [name for name, stream in SUITE.items() if stream.ranked_by != "accuracy"] == ["rare"]
