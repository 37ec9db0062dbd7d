"""Tops and fates, against their definitions written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smartcl.paper.experiments.feature_ranking import Career, careers, top_features

few_scores = arrays(np.float64, st.integers(1, 12), elements=st.sampled_from([0.0, 0.5, 1.0, 2.0]))


@given(few_scores, st.integers(1, 15))
def test_the_top_is_the_sorted_list_of_those_above_zero(scores, k):
    positive = [feature for feature, score in enumerate(scores) if score > 0]
    assert top_features(scores, k).tolist() == sorted(positive, key=lambda feature: (-scores[feature], feature))[:k]


def test_a_top_of_none_is_refused():
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        top_features(np.ones(3), 0)


@given(st.lists(st.sets(st.integers(0, 5)), min_size=1, max_size=6))
def test_fates_follow_their_definitions(sets):
    tops = [np.array(sorted(top), dtype=np.int64) for top in sets]
    found = {career.feature: career for career in careers(tops)}
    assert found.keys() == set().union(*sets)
    for feature, career in found.items():
        inside = [feature in top for top in sets]
        assert inside.index(True) == career.first
        assert len(sets) - 1 - inside[::-1].index(True) == career.last
        assert sum(inside) == career.tasks
        since = inside[career.first :]
        if not inside[-1]:
            assert career.fate == "vanishes"
        elif not all(since):
            assert career.fate == "returns"
        elif len(since) == 1 < len(inside):
            assert career.fate == "new"
        else:
            assert career.fate == "persists"


def test_careers_come_in_order_of_entrance():
    assert careers([np.array([3, 1]), np.array([2, 1])]) == [
        Career(3, 0, 0, 1, "vanishes"),
        Career(1, 0, 1, 2, "persists"),
        Career(2, 1, 1, 1, "new"),
    ]
