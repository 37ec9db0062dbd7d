"""The targets of ``make fuzz`` in a small form: their first inputs, and a few changes of these."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from benchmarks.attack.fuzz.targets import TARGETS, tried
from benchmarks.attack.input_files import mutated


@pytest.mark.parametrize("name", TARGETS)
def test_any_input_is_taken_or_refused_in_one_line(name: str, tmp_path: Path) -> None:
    target, rng = TARGETS[name], np.random.default_rng(0)
    attempt, seeds = target.prepared(tmp_path), target.seeds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        taken = sum(tried(attempt, data) for data in seeds[:8])
        assert taken, "nothing is taken: the target tries nothing"
        for data in seeds[:4]:
            tried(attempt, mutated(data, rng))
