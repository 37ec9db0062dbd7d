"""The row table against a dense Adam, shrinkage and average over the whole matrix, in double precision."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from helpers import assert_same_state
from smartcl.network.prox import prox_preconditioned, row_norms, shrink_rows_
from smartcl.network.row_table.missed_steps import RowSchedule, warm_decay
from smartcl.network.row_table.table import RowTable

WIDTH = 5


def looked_up(table: RowTable, features: torch.Tensor, average: bool = False) -> torch.Tensor:
    """The weights of these features, or their averages, one after the other."""
    rows, places = table.peek(features, average)
    return rows[places]


class Twins:
    """A row table and its dense double, fed the same gradients; a row starts in both when it is first seen.

    Every ``nap`` steps the active rows are put back to the idle rows.
    """

    def __init__(self, n_features: int, schedule: RowSchedule, seed: int = 0, nap: int = 1) -> None:
        self.nap = nap
        self.rng, self.drawn = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        self.table = RowTable(n_features, WIDTH, self.initial)
        self.table.schedule = self.schedule = schedule
        self.seen = np.zeros(n_features, dtype=bool)
        self.weight = torch.zeros(n_features, WIDTH, dtype=torch.float64, requires_grad=True)
        self.average = torch.zeros(n_features, WIDTH, dtype=torch.float64)
        self.adam = torch.optim.Adam([self.weight], schedule.lr, schedule.betas, schedule.eps)
        self.pull = self.rng.normal(size=(n_features, WIDTH))

    def initial(self, rows: int) -> torch.Tensor:
        return torch.from_numpy(self.drawn.uniform(-0.3, 0.3, (rows, WIDTH)).astype(np.float32))

    def run(self, steps: int, share: float) -> None:
        for _ in range(steps):
            self.step(np.flatnonzero(self.rng.random(len(self.seen)) < share))

    def step(self, features: np.ndarray, force: float = 1.0) -> None:
        index = torch.from_numpy(features)
        leaf, local = self.table.activate(index)
        slope = torch.from_numpy(force * (self.pull[features] + self.rng.normal(size=(len(features), WIDTH))))
        leaf.grad = torch.zeros_like(leaf).index_copy_(0, local, slope.float())
        new = ~self.seen[features]
        self.seen[features] = True
        with torch.no_grad():
            self.weight[features[new]] = leaf[local[new]].double()
            self.average[features[new]] = self.weight[features[new]]
        self.table.apply_gradient()
        if self.table.step % self.nap == 0:
            self.table.commit()
        self.weight.grad = torch.zeros_like(self.weight)
        self.weight.grad[index] = slope.float().double()
        self.adam.step()
        with torch.no_grad():
            shrink_rows_(self.weight, self.schedule.shrink)
            decay = warm_decay(self.schedule.average, self.table.step) if self.schedule.average else 0.0
            self.average.lerp_(self.weight, 1 - decay)

    def errors(self) -> tuple[float, float, float]:
        """The largest deviations of weights, averages and norms."""
        features = torch.arange(len(self.seen))
        weight, average = looked_up(self.table, features), looked_up(self.table, features, average=True)
        norms = row_norms(self.weight.detach())
        differences = (weight - self.weight.detach(), average - self.average, self.table.group_norms() - norms)
        return tuple(float(difference.abs().max()) for difference in differences)  # type: ignore[return-value]


#: An average that looks at the weights every fourth step takes the last of four for their mean: 1.5 steps of at most
#: the learning rate each.
LAG = 1.5


def rounding(steps: int) -> float:
    """Single precision rounds a weight near 1 by up to 6e-8 in each of a few operations of a step."""
    return 2e-7 * steps


@pytest.mark.parametrize("shrink", [0.0, 1e-4])
@pytest.mark.parametrize("average", [0.0, 0.99])
def test_touched_in_every_step_it_is_plain_adam(shrink: float, average: float) -> None:
    twins = Twins(12, RowSchedule(lr=1e-2, shrink=shrink, average=average))
    twins.run(200, share=1.0)
    assert max(twins.errors()) < rounding(200)


@pytest.mark.parametrize("nap", [1, 7, 1000])
@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_asleep_the_momentum_still_pushes(share: float, nap: int) -> None:
    """Without shrinkage the catch-up is exact, bias correction included."""
    twins = Twins(40, RowSchedule(lr=1e-2), nap=nap)
    twins.run(300, share)
    assert max(twins.errors()) < rounding(300)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_asleep_the_average_follows(share: float) -> None:
    """Exact in the end. While the average warms up its decay changes within a sleep: a tenth of a step remains."""
    lr = 1e-2
    twins = Twins(40, RowSchedule(lr=lr, average=0.9))
    twins.run(60, share)
    assert max(twins.errors()) < 0.2 * lr
    twins.run(400, share)
    twins.step(np.arange(40))
    assert max(twins.errors()) < rounding(500) + 1e-4 * lr * 460


@pytest.mark.parametrize("nap", [1, 7])
@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
@pytest.mark.parametrize("shrink", [1e-4, 1e-3])
def test_asleep_the_rows_shrink(share: float, shrink: float, nap: int) -> None:
    """All pushes first, then all of the shrinkage: wrong only while stale momentum turns the row.

    That lasts for about 1/(1 − β1/√β2) = 10 steps, and one step errs by at most twice the shrinkage. Among rows that
    stay active for several steps, the average may lag.
    """
    twins = Twins(40, RowSchedule(lr=1e-2, shrink=shrink, average=0.9), nap=nap)
    twins.run(400, share)
    weight, average, norm = twins.errors()
    assert max(weight, norm) < rounding(400) + 20 * shrink
    assert average < rounding(400) + 20 * shrink + (LAG * 1e-2 if nap > 1 else 0)


def test_asleep_the_average_sees_the_row_fade() -> None:
    """Without momentum, and with the average warmed up, nothing is approximate but the last part of a step."""
    shrink = 2e-3
    twins = Twins(40, RowSchedule(lr=1e-2, shrink=shrink, average=0.98))
    for step in range(650):
        twins.step(np.arange(40 if step == 450 else 1), force=0.0)
    assert 0 < int((twins.table.group_norms() > 0).sum()) < 40
    weight, average, norm = twins.errors()
    assert max(weight, norm) < rounding(650)
    assert average < rounding(650) + 0.1 * shrink


@pytest.mark.parametrize("share", [0.5, 0.05])
def test_rows_die_as_in_the_dense_matrix(share: float) -> None:
    shrink = 1e-2
    twins = Twins(60, RowSchedule(lr=1e-2, shrink=shrink))
    twins.run(400, share)
    norms, dense = twins.table.group_norms(), row_norms(twins.weight.detach())
    dead = norms == 0
    assert 0 < int(dead.sum()) < 60
    assert torch.equal(dead, looked_up(twins.table, torch.arange(60)).abs().amax(dim=1) == 0)
    assert float(dense[dead].max()) < 20 * shrink
    assert float(norms[dense == 0].max()) < 20 * shrink


def test_a_row_killed_by_the_exact_step_stays_dead_while_it_sleeps() -> None:
    twins = Twins(20, RowSchedule(lr=1e-2), nap=1000)
    twins.run(3, share=1.0)
    twins.table.take_exact_step(1e6)
    assert torch.equal(twins.table.group_norms(), torch.zeros(20))
    assert not bool(twins.table.alive().any())
    twins.table.commit()
    for _ in range(30):
        twins.step(np.arange(5))
    norms = twins.table.group_norms()
    assert torch.equal(norms > 0, torch.arange(20) < 5)
    torch.testing.assert_close(norms, row_norms(looked_up(twins.table, torch.arange(20))))


def test_the_exact_step_reaches_the_rows_active() -> None:
    twins = Twins(12, RowSchedule(lr=1e-2), nap=1000)
    twins.run(5, share=1.0)
    twins.table.commit()
    twins.step(np.arange(8))
    before, square = looked_up(twins.table, torch.arange(12)), twins.table.state_dict()["square"]
    twins.table.take_exact_step(30.0)
    metric = (square[:8] / (1 - 0.999**twins.table.step)).sqrt().add(1e-8) / 1e-2
    after = looked_up(twins.table, torch.arange(12))
    torch.testing.assert_close(after[:8], prox_preconditioned(before[:8], metric, 30.0))
    assert torch.equal(after[8:], before[8:])
    assert 0 < int((after[:8] == 0).all(dim=1).sum()) < 8, "some rows must have died, and some not"


def test_awake_all_the_time_it_is_plain_adam() -> None:
    """Rows active that a step does not touch move as those of a dense layer do."""
    twins = Twins(40, RowSchedule(lr=1e-2, shrink=1e-4, average=0.99), nap=1000)
    twins.step(np.arange(40))
    twins.run(299, share=0.1)
    weight, average, norm = twins.errors()
    assert max(weight, norm) < rounding(300)
    assert average < rounding(300) + LAG * 1e-2


def test_more_rows_than_the_first_reservation() -> None:
    twins = Twins(5000, RowSchedule(lr=1e-2, average=0.9))
    for start in range(0, 5000, 500):
        twins.step(np.arange(start, start + 500))
    assert len(twins.table) == 5000
    weight, average, norm = twins.errors()
    assert max(weight, norm) < 1e-2 * 1e-2  # Adam's ε: the catch-up takes the share it had at the last touch
    assert average < 0.2 * 1e-2


def test_a_peek_changes_nothing_and_unseen_rows_are_zero() -> None:
    twins = Twins(20, RowSchedule())
    twins.step(np.array([3, 7]))
    before = twins.table.state_dict()
    rows, local = twins.table.peek(torch.tensor([7, 1, 7, 3]))
    assert torch.equal(rows[local[1]], torch.zeros(WIDTH))
    assert bool((rows[local[[0, 3]]] != 0).all())
    assert_same_state(twins.table.state_dict(), before)


@pytest.mark.parametrize("average", [False, True])
def test_rows_awake_look_as_they_will_when_put_back(average: bool) -> None:
    twins = Twins(20, RowSchedule(lr=1e-2, average=0.9), nap=1000)
    twins.run(8, share=0.5)
    features = torch.tensor([7, 1, 7, 3])
    twins.table.activate(features)
    active = looked_up(twins.table, features, average)
    twins.table.commit()
    assert torch.equal(looked_up(twins.table, features, average), active)


def test_a_row_that_was_looked_at_but_never_moved() -> None:
    twins = Twins(20, RowSchedule(average=0.9))
    looked, _ = twins.table.activate(torch.tensor([5]))
    twins.step(np.array([3]))
    assert torch.equal(looked_up(twins.table, torch.tensor([5])), looked.detach())


SCHEDULE = RowSchedule(lr=1e-2, shrink=1e-4, average=0.9)


def test_rollback_restores_every_bit() -> None:
    twins = Twins(4000, SCHEDULE)
    twins.run(5, share=0.05)
    before, drawn = twins.table.state_dict(), twins.drawn.bit_generator.state
    norms = twins.table.group_norms()
    journal = twins.table.begin()
    twins.nap = 1000
    twins.run(5, share=0.3)
    assert len(twins.table) > 1024 >= len(before["weight"])
    twins.table.rollback(journal)
    assert_same_state(twins.table.state_dict(), before)
    assert torch.equal(twins.table.group_norms(), norms)

    untouched = RowTable(4000, WIDTH, twins.initial)
    untouched.schedule = SCHEDULE
    untouched.load_state_dict(before)
    for table in (twins.table, untouched):
        twins.drawn.bit_generator.state = drawn
        go_on(table, n_features=4000)
    assert_same_state(twins.table.state_dict(), untouched.state_dict())


def test_commit_keeps_what_happened() -> None:
    twins = Twins(50, SCHEDULE, nap=1000)
    twins.table.begin()
    twins.run(5, share=0.5)
    after = twins.table.state_dict()
    twins.table.commit()
    assert_same_state(twins.table.state_dict(), after)


@pytest.mark.parametrize("rows_before", [0, 3000])
def test_a_saved_table_goes_on_bit_for_bit(rows_before: int) -> None:
    twins = Twins(4000, SCHEDULE)
    twins.run(5, share=0.05)
    saved, drawn = twins.table.state_dict(), twins.drawn.bit_generator.state
    loaded = RowTable(4000, WIDTH, twins.initial)
    loaded.schedule = SCHEDULE
    loaded.begin()
    loaded.activate(torch.arange(rows_before))
    loaded.load_state_dict(saved)
    for table in (twins.table, loaded):
        twins.drawn.bit_generator.state = drawn
        go_on(table, n_features=4000)
    assert_same_state(loaded.state_dict(), twins.table.state_dict())


def go_on(table: RowTable, n_features: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(5):
        leaf, local = table.activate(torch.from_numpy(np.flatnonzero(rng.random(n_features) < 0.4)))
        slope = torch.from_numpy(rng.normal(size=(len(local), WIDTH)).astype(np.float32))
        leaf.grad = torch.zeros_like(leaf).index_copy_(0, local, slope)
        table.apply_gradient()
