"""A saved state says where it is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from smartcl.saving.saved import Saved, StateError

SOUND: dict[str, Any] = {
    "part": {"n": 1},
    "nothing": None,
    "list": [{"n": 1}, {"n": 2}],
    "tensor": torch.zeros(2, 3),
    "array": np.zeros((2, 3), dtype=np.uint8),
    "floats": np.zeros(2, dtype=np.float32),
    "whole": 5,
    "number": 0.5,
    "text": "word",
    "flag": True,
}


def test_what_is_sound_is_handed_out() -> None:
    saved = Saved(SOUND)
    assert saved.part("part").whole("n", 0) == 1
    assert Saved.of(saved, "elsewhere") is saved
    assert not saved.has("nothing")
    assert saved.optional("nothing") is None
    assert saved.optional("part") is not None
    assert [part.whole("n", 0) for part in saved.parts("list")] == [1, 2]
    assert saved.entries("part") == {"n": 1}
    assert saved.tensor("tensor", (2, None)) is SOUND["tensor"]
    assert saved.array("array", (None, 3), "uint8", "uint16") is SOUND["array"]
    assert (saved.whole("whole", 5, 5), saved.number("number", 0.0, 0.5), saved.number("whole")) == (5, 0.5, 5.0)
    assert (saved.text("text"), saved.flag("flag")) == ("word", True)


REFUSALS: list[tuple[dict[str, Any], Callable[[Saved], object], str]] = [
    ({}, lambda s: s.text("text"), "state.text is missing"),
    ({"part": [1]}, lambda s: s.part("part"), "state.part must be a dict of its parts, is of the type list"),
    ({"part": {1: 2}}, lambda s: s.part("part"), "state.part must have text for names, has 1"),
    ({"part": None}, lambda s: s.part("part"), "state.part must be a dict of its parts, is None"),
    ({"list": {}}, lambda s: s.parts("list"), "state.list must be a list, is of the type dict"),
    ({"list": [{}, 3]}, lambda s: s.parts("list"), r"state.list\[1\] must be a dict"),
    ({"t": [1.0]}, lambda s: s.tensor("t", (1,)), "state.t must be a tensor"),
    ({"t": torch.zeros(1).double()}, lambda s: s.tensor("t", (1,)), "state.t holds torch.float64, must hold"),
    ({"t": torch.zeros(1, 1)}, lambda s: s.tensor("t", (None,)), r"state.t has the shape \(1, 1\), must be \(any,\)"),
    ({"t": torch.tensor([math.nan])}, lambda s: s.tensor("t", (1,)), "state.t must be finite"),
    ({"a": [1]}, lambda s: s.array("a", (1,), "uint8"), "state.a must be an array"),
    ({"a": np.zeros(1)}, lambda s: s.array("a", (1,), "uint8", "uint16"), "state.a holds float64, must hold uint8 or"),
    ({"a": np.array([{}])}, lambda s: s.array("a", (1,), "uint8"), "state.a holds object"),
    ({"a": np.zeros(2)}, lambda s: s.array("a", (3,), "float64"), r"state.a has the shape \(2,\), must be \(3,\)"),
    ({"a": np.array([math.inf])}, lambda s: s.array("a", (1,), "float64"), "state.a must be finite"),
    ({"n": True}, lambda s: s.whole("n", 0), "state.n must be a whole number, is of the type bool"),
    ({"n": 1.0}, lambda s: s.whole("n", 0), "state.n must be a whole number"),
    ({"n": 4}, lambda s: s.whole("n", 5), "state.n must be at least 5, is 4"),
    ({"n": 9}, lambda s: s.whole("n", 5, 8), "state.n must be from 5 to 8, is 9"),
    ({"n": "1"}, lambda s: s.number("n"), "state.n must be a number"),
    ({"n": False}, lambda s: s.number("n"), "state.n must be a number"),
    ({"n": math.nan}, lambda s: s.number("n"), "state.n must be a finite number"),
    ({"n": math.inf}, lambda s: s.number("n"), "state.n must be a finite number"),
    ({"n": 2}, lambda s: s.number("n", 0, 1), "state.n must be a finite number from 0 to 1, is 2"),
    ({"n": 1}, lambda s: s.text("n"), "state.n must be text"),
    ({"n": 1}, lambda s: s.flag("n"), "state.n must be true or false"),
    ({"n": 1}, lambda s: s.refuse("n", "is no good"), "state.n is no good"),
]


@pytest.mark.parametrize(("state", "look", "message"), REFUSALS, ids=[message for *_, message in REFUSALS])
def test_what_is_not_is_refused_by_name(state: dict[str, Any], look: Callable[[Saved], object], message: str) -> None:
    with pytest.raises(StateError, match=f"^the saved state is damaged: {message}") as error:
        look(Saved(state))
    assert "\n" not in str(error.value)


def test_a_state_must_be_a_dict() -> None:
    with pytest.raises(ValueError, match="memory must be a dict"):
        Saved([], "memory")
