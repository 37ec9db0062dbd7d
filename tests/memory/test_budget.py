import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartcl.memory import Budget, format_bytes
from smartcl.memory.budget import UNBOUNDED


@pytest.mark.parametrize(
    ("memory", "nbytes"),
    [
        (4096, 4096),
        (np.int64(4096), 4096),
        ("4096", 4096),
        ("500 B", 500),
        (" 1MB ", 1_000_000),
        ("1 mb", 1_000_000),
        ("2.5kB", 2500),
        ("1_000 kB", 1_000_000),
        ("1GB", 10**9),
        ("1KiB", 1024),
        ("0.5 MiB", 2**19),
        ("3 GiB", 3 * 2**30),
        ("300 samples", 300 * 784),
        ("1 sample", 784),
        ("0.3 kB", 300),
        ("99999999999999999999 GB", UNBOUNDED),
    ],
)
def test_what_users_write(memory: str | int, nbytes: int) -> None:
    assert Budget.parse(memory, sample_nbytes=784).nbytes == nbytes


@pytest.mark.parametrize(
    "memory",
    [0, -1, True, float("nan"), 1e6, None, "", "MB", "-1MB", "1 TBB", "1 M", "ten kB", "nan", "0 samples", "0.2 B",
     "1..5 MB", "__ kB", "1e6"],
)  # fmt: skip
def test_refusals_name_the_argument_the_value_and_the_forms(memory: object) -> None:
    with pytest.raises(ValueError, match="memory must be a positive int of bytes") as error:
        Budget.parse(memory, sample_nbytes=784)  # type: ignore[arg-type]
    assert repr(memory) in str(error.value)
    assert "300 samples" in str(error.value)


def test_a_budget_is_positive() -> None:
    with pytest.raises(ValueError, match="got 0"):
        Budget(0)


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (998_123, "998 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (1_234_567, "1.23 MB"),
        (12_345_678_901, "12.3 GB"),
        (5 * 10**12, "5 TB"),
        (UNBOUNDED, "no limit"),
    ],
)
def test_format_bytes(nbytes: int, text: str) -> None:
    assert format_bytes(nbytes) == text


@given(st.integers(1, 10**12 - 10**9))
def test_formatted_bytes_are_right_to_three_digits(nbytes: int) -> None:
    assert Budget.parse(format_bytes(nbytes), 1).nbytes == pytest.approx(nbytes, rel=0.006)
