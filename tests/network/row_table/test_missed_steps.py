"""What an idle row misses: each closed form against the loop it replaces."""

from __future__ import annotations

import math

import pytest
import torch

from smartcl.network.row_table.missed_steps import log_kept, pushes, trails, warm_decay

BETAS = (0.9, 0.999)
RHO = 0.9 / math.sqrt(0.999)


def bias(t: int) -> float:
    return math.sqrt(1 - 0.999**t) / (1 - 0.9**t)


@pytest.mark.parametrize("now", [1, 7, 500, 40_000])
def test_pushes(now: int) -> None:
    last = [last for last in (0, 1, 2, 6, 100, 480, 39_900) if last <= now]
    expected = [sum(RHO**k * bias(t + k) for k in range(1, now - t + 1)) for t in last]
    torch.testing.assert_close(pushes(torch.tensor(last), now, BETAS), torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("decay", [0.3, 0.9, 0.998])
@pytest.mark.parametrize("now", [3, 100, 6000])
def test_what_an_average_keeps(decay: float, now: int) -> None:
    last = [last for last in (0, 1, 50, 4000, 5999) if last <= now]
    expected = [sum(math.log(warm_decay(decay, step)) for step in range(t + 1, now + 1)) for t in last]
    torch.testing.assert_close(log_kept(decay, torch.tensor(last), now), torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("missed", [0, 1, 3, 40, 2000])
@pytest.mark.parametrize("gone_after", [2.0, 10.0, 1e9])
def test_an_average_follows_a_sleeping_row(missed: int, gone_after: float) -> None:
    """Long after both warm-ups, where decay and bias no longer change, the trails are exact."""
    decay, last = 0.99, 30_000
    now = last + missed
    kept, momentum, shrinkage = trails(decay, BETAS, torch.tensor([last]), now, torch.tensor([gone_after]).double())

    def path(k: int) -> tuple[float, float]:
        """What momentum has still to push after ``k`` steps of sleep, and the length that is still to go."""
        to_push = sum(RHO**j * bias(last + j) for j in range(k + 1, missed + 1) if j < 400)
        return to_push, min(missed, gone_after) - min(k, gone_after)

    average = (0.0, 0.0)
    for k in range(1, missed + 1):
        average = tuple(decay * a + (1 - decay) * p for a, p in zip(average, path(k), strict=True))  # type: ignore[assignment]
    assert float(kept) == pytest.approx(decay**missed)
    assert float(momentum) == pytest.approx(average[0], rel=1e-6, abs=1e-9)
    assert float(shrinkage) == pytest.approx(average[1], rel=1e-6, abs=1e-9)


def test_an_endless_sleep_stays_finite() -> None:
    for values in trails(0.9, BETAS, torch.tensor([0, 5, 10**7]), 10**7, torch.tensor([3.0, 1e9, 0.0]).double()):
        assert bool(torch.isfinite(values).all())
