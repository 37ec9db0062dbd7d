"""The theorem's bounds: the printed one is refuted, the valid ones are not."""

from __future__ import annotations

import pytest

from smartcl.paper.experiments.theory import counter_example


def test_the_counter_example_refutes_the_printed_bound_alone():
    found = counter_example()
    product = sum(a * b for a, b in zip(found["new"], found["memory"], strict=True))
    assert product == pytest.approx(0.0, abs=1e-15)
    assert found["product"] >= 0
    assert found["rise"] == pytest.approx(sum(found["memory"]))
    assert found["printed_bound"] < found["rise"] <= min(found["l2_bound"], found["hoelder_bound"]) + 1e-12
