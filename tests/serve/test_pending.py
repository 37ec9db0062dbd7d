"""Rows that wait for their label: the budget is of real bytes, and what left is counted."""

from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smartcl.learners.ids import id_of
from smartcl.saving.saved import Saved
from smartcl.serve.pending import KnownIds, PendingLabels, Predicted

WORDS = st.text(max_size=30)


def predicted(word: str = "x", time: float = 0.0) -> Predicted:
    return Predicted({"word": word, "size": 1.5}, "yes", {"yes": 0.75, "no": 0.25}, 10, time)


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), WORDS, st.booleans()), max_size=40), st.integers(1200, 4000))
def test_it_is_a_dict_of_the_newest_that_fit(calls: list[tuple[str, str, bool]], budget: int) -> None:
    pending, like = PendingLabels(budget, 60.0), dict[str, str]()
    for known, word, adds in calls:
        if adds:
            pending.add(known, predicted(word))
            like.pop(known, None)
            like[known] = word
        else:
            found = pending.take(known)
            assert found is None or found.row["word"] == like[known]
            like.pop(known, None)
        assert pending.nbytes <= budget
    left = [known for known in like if known in pending]
    assert left == list(like)[len(like) - len(left) :]
    again = PendingLabels(budget, 60.0)
    again.load_state_dict(Saved(pending.state_dict()))
    assert [(known, again.get(known)) for known in like] == [(known, pending.get(known)) for known in like]
    assert (again.nbytes, again.crowded_out) == (pending.nbytes, pending.crowded_out)


def test_the_bytes_that_are_counted_are_as_many_as_there_are() -> None:
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    pending = PendingLabels(2_000_000, 60.0)
    for number in range(20_000):
        pending.add(f"order {number}", predicted("w" * 20))
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert pending.crowded_out > 0
    assert 0.5 * pending.nbytes < held <= 1.02 * pending.nbytes


def test_what_expires_is_counted() -> None:
    pending = PendingLabels(10_000, seconds=10.0)
    for second in range(5):
        pending.add(str(second), predicted(time=float(second)))
    pending.expire(now=12.5)
    assert (pending.expired, len(pending), "2" in pending, "3" in pending) == (3, 2, False, True)
    assert pending.nbytes > 0
    pending.expire(now=100.0)
    assert (pending.expired, pending.nbytes) == (5, 0)


def test_known_ids_are_the_newest_ones() -> None:
    known = KnownIds(100)
    known.add(map(str, range(250)))
    assert [str(number) in known for number in (0, 149, 150, 249)] == [False, False, True, True]
    again = KnownIds(50)
    again.load_state_dict(Saved(known.state_dict()))
    assert (len(again), "249" in again, "199" in again) == (50, True, False)
    assert known.state_dict()["digests"].dtype == np.uint8


@given(st.lists(st.lists(st.integers(0, 60), max_size=30), max_size=20), st.integers(1, 40))
def test_known_ids_are_those_of_a_dict(calls: list[list[int]], most: int) -> None:
    known, like = KnownIds(most), dict[str, None]()
    for numbers in calls:
        for number in map(str, numbers):
            known.add([number])
            like.setdefault(number)
            for oldest in list(like)[: max(0, len(like) - most)]:
                del like[oldest]
        assert [str(number) in known for number in range(61)] == [str(number) in like for number in range(61)]
        assert len(known) == len(like)
    again = KnownIds(most)
    again.load_state_dict(Saved(known.state_dict()))
    again.add(["new"])
    assert [each for each in like if each not in again] == (list(like)[:1] if len(like) == most else [])


def test_known_ids_take_as_much_memory_as_they_say() -> None:
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    known = KnownIds(20_000)
    known.add(str(number) for number in range(50_000))
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(known) == 20_000
    assert held <= 1.03 * known.nbytes <= 48 * 20_000


def test_classes_that_are_gone_leave_what_was_answered() -> None:
    pending = PendingLabels(budget=10_000, seconds=60)
    pending.add("a", Predicted({"wind": 3}, "secret", {"calm": 0.125, "storm": 0.375, "secret": 0.5}, 100, time=0.0))
    pending.add("b", Predicted({"wind": 4}, "calm", {"calm": 1.0}, 100, time=0.0))
    pending.answer_only(["calm", "storm"])
    assert pending.get("a") == Predicted({"wind": 3}, "storm", {"calm": 0.25, "storm": 0.75}, 100, 0.0)
    fresh = PendingLabels(budget=10_000, seconds=60)
    for known in ("a", "b"):
        fresh.add(known, pending.get(known))
    assert pending.nbytes == fresh.nbytes
    assert pending.forget({id_of("b")}, None) == 1
    pending.expire(61.0)
    assert (len(pending), pending.nbytes) == (0, 0)
