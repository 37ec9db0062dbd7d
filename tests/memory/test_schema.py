import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartcl.memory import FeatureWatch, Schema

masks = st.lists(st.booleans(), min_size=1, max_size=40)


@given(masks)
def test_a_schema_is_its_set_of_features(bits: list[bool]) -> None:
    schema = Schema.of(np.array(bits))
    chosen = [feature for feature, bit in enumerate(bits) if bit]
    assert schema.features.tolist() == chosen
    assert schema.features.dtype == np.int64
    assert schema.mask.tolist() == bits
    assert len(schema) == len(chosen)
    assert schema.is_full == all(bits)
    assert schema.nbytes == (0 if all(bits) else (len(bits) + 7) // 8)


@given(st.integers(1, 30).flatmap(lambda n: st.tuples(*[st.lists(st.booleans(), min_size=n, max_size=n)] * 2)))
def test_schemas_combine_as_sets_do(pair: tuple[list[bool], list[bool]]) -> None:
    first, second = (Schema.of(np.array(bits)) for bits in pair)
    ours, theirs = set(first.features.tolist()), set(second.features.tolist())
    assert set(first.intersect(second).features.tolist()) == ours & theirs
    assert set(first.union(second).features.tolist()) == ours | theirs
    assert (first == second) == (ours == theirs)
    if first == second:
        assert hash(first) == hash(second)


def test_equal_sets_of_different_width_differ() -> None:
    assert Schema.full(3) != Schema.of(np.array([True, True, True, False]))
    assert Schema.full(3) != "a schema"


@given(masks, st.integers(0, 20))
def test_new_features_are_in_or_out(bits: list[bool], more: int) -> None:
    schema = Schema.of(np.array(bits))
    width = len(bits) + more
    assert schema.widen(width).mask.tolist() == bits + [True] * more
    assert schema.pad(width, new=False).mask.tolist() == bits + [False] * more


def test_a_schema_cannot_shrink() -> None:
    with pytest.raises(ValueError, match="it is 4, got 3"):
        Schema.full(4).widen(3)


def test_a_schema_cannot_be_changed() -> None:
    schema = Schema.of(np.array([True, False]))
    assert schema.packed is not None
    with pytest.raises(ValueError, match="read-only"):
        schema.packed[0] = 255


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), max_size=12), st.integers(1, 4))
def test_a_feature_dead_for_long_enough_is_forgettable(history: list[list[bool]], patience: int) -> None:
    watch = FeatureWatch.fresh(5)
    for alive in history:
        watch = watch.update(np.array(alive))
    recent = history[-patience:]
    expected = [len(recent) == patience and not any(alive[f] for alive in recent) for f in range(5)]
    assert watch.forgettable(patience).tolist() == expected
    again = FeatureWatch.from_state(watch.state_dict())
    assert again.dead_for.tolist() == watch.dead_for.tolist()


def test_the_count_saturates_and_new_features_start_fresh() -> None:
    watch = FeatureWatch.fresh(1)
    for _ in range(300):
        watch = watch.update(np.array([False]))
    assert watch.dead_for.tolist() == [255]
    assert watch.widen(3).forgettable(255).tolist() == [True, False, False]


def test_watch_refuses_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="5 features"):
        FeatureWatch.fresh(5).update(np.array([True]))
    with pytest.raises(ValueError, match="patience must be from 1 to 255"):
        FeatureWatch.fresh(5).forgettable(0)
