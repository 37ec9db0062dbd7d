"""Any order of calls: a model is what the calls that succeeded make of it, whatever else happened to it.

Beside the model stands a plain one that gets the successful calls and nothing else. The model is also refused,
interrupted, saved, loaded, pickled and copied; after each step it must be as the plain one is.
"""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from benchmarks.attack.interrupts import Tracer
from benchmarks.attack.models import Kind, check_sound, difference, fingerprint
from smartcl import SmartClassifier

KINDS = (
    *(Kind("smart", form) for form in ("dense", "sparse", "wide")),
    *(Kind("er", "dense"), Kind("der++", "sparse"), Kind("smart-paper", "dense")),
)
seeds = st.integers(0, 50)
sizes = st.sampled_from([1, 7, 30, 60])
#: Which line of the library is interrupted; none if the call has fewer.
moments = st.integers(0, 2500)

Call = Callable[[SmartClassifier], object]

#: What is wrong with rows and labels; some of it may also be learned.
WRONGS: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "NaN": lambda x, y: (x * np.nan, y),
    "beyond float32": lambda x, y: (x * 1e39, y),
    "near the end of float32": lambda x, y: (x * 1e37, y),
    "another width": lambda x, y: (x[:, :-1], y),
    "too few labels": lambda x, y: (x, y[:-1]),
    "labels of another type": lambda x, y: (x, y.astype(str)),
    "fractions": lambda x, y: (x, y + 0.5),
    "no rows": lambda x, y: (x[:0], y[:0]),
}
#: Learned first or anew, these would make every later row or label a wrong one.
OF_ANOTHER_STREAM = ("another width", "labels of another type")
BAD_PARAMETERS: list[dict[str, Any]] = [{"lr": np.nan}, {"hidden": ()}, {"memory": 0}, {"batch_size": -1}]


def pickled(model: SmartClassifier) -> SmartClassifier:
    return pickle.loads(pickle.dumps(model))


class AnyOrderOfCalls(RuleBasedStateMachine):
    @initialize(kind=st.sampled_from(KINDS))
    def begin(self, kind: Kind) -> None:
        self.kind = kind
        self.model, self.plain = kind.unfitted(), kind.unfitted()
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = Path(self.scratch.name) / "model"
        self.saved: dict[str, str] | None = None

    @rule(seed=seeds, count=sizes, n_classes=st.integers(1, 5))
    def learn(self, seed: int, count: int, n_classes: int) -> None:
        x, y = self.kind.rows(seed, count, n_classes)
        self.do(lambda model: model.partial_fit(x, y))

    @rule(seed=seeds, n_classes=st.integers(1, 4))
    def fit(self, seed: int, n_classes: int) -> None:
        x, y = self.kind.rows(seed, 30, n_classes)
        self.do(lambda model: model.fit(x, y))

    @rule(seed=seeds, wrong=st.sampled_from(sorted(WRONGS)), anew=st.booleans())
    def learn_wrong_rows(self, seed: int, wrong: str, anew: bool) -> None:
        x, y = WRONGS[wrong](*self.kind.rows(seed))
        if wrong in OF_ANOTHER_STREAM:
            assume(hasattr(self.plain, "learner_") and not anew)
        with suppress(ValueError, TypeError):
            self.do(lambda model: (model.fit if anew else model.partial_fit)(x, y))

    @rule(seed=seeds, parameters=st.sampled_from(BAD_PARAMETERS))
    def fit_with_bad_parameters(self, seed: int, parameters: dict[str, Any]) -> None:
        before = {name: getattr(self.model, name) for name in parameters}
        self.model.set_params(**parameters)
        try:
            self.model.fit(*self.kind.rows(seed))
        except ValueError:
            self.model.set_params(**before)
        else:
            raise AssertionError(f"{parameters} were accepted")

    @rule(size=st.sampled_from([7, 20, 50]))
    def set_the_batch_size(self, size: int) -> None:
        self.do(lambda model: model.set_params(batch_size=size))

    @rule(seed=seeds, count=sizes, n_classes=st.integers(1, 5), moment=moments)
    def learn_and_be_interrupted(self, seed: int, count: int, n_classes: int, moment: int) -> None:
        x, y = self.kind.rows(seed, count, n_classes)
        before = fingerprint(self.model)
        self.interrupted(lambda model: model.partial_fit(x, y), moment)
        if difference(before, fingerprint(self.model)):
            self.plain.partial_fit(x, y)

    @precondition(lambda self: hasattr(self.plain, "learner_"))
    @rule(copied=st.sampled_from([copy.deepcopy, copy.copy, pickled]))
    def go_on_with_a_copy(self, copied: Callable[[SmartClassifier], SmartClassifier]) -> None:
        self.model = copied(self.model)

    @precondition(lambda self: hasattr(self.plain, "learner_"))
    @rule()
    def save_and_go_on_with_what_was_saved(self) -> None:
        self.model.save(self.folder)
        self.saved = fingerprint(self.model)
        self.model = SmartClassifier.load(self.folder)

    @precondition(lambda self: self.saved is not None and hasattr(self.plain, "learner_"))
    @rule(moment=st.integers(0, 900))
    def save_and_be_interrupted(self, moment: int) -> None:
        self.interrupted(lambda model: model.save(self.folder), moment)
        held, now = fingerprint(SmartClassifier.load(self.folder)), fingerprint(self.model)
        assert self.saved is not None
        assert not difference(held, self.saved) or not difference(held, now)
        self.saved = held

    @precondition(lambda self: hasattr(self.plain, "learner_"))
    @rule(seed=seeds)
    def predict(self, seed: int) -> None:
        x, _ = self.kind.rows(seed)
        np.testing.assert_array_equal(self.model.predict(x), self.plain.predict(x))

    @invariant()
    def the_model_is_what_its_calls_make_of_it(self) -> None:
        place = difference(fingerprint(self.plain), fingerprint(self.model))
        assert place is None, place

    @invariant()
    def the_model_is_sound(self) -> None:
        if hasattr(self.model, "learner_"):
            check_sound(self.model)

    def teardown(self) -> None:
        self.scratch.cleanup()

    def do(self, call: Call) -> None:
        """A call that the plain model gets too, if it succeeds."""
        call(self.model)
        call(self.plain)

    def interrupted(self, call: Call, moment: int) -> None:
        with suppress(KeyboardInterrupt), Tracer(stop=moment).watching():
            call(self.model)


TestAnyOrderOfCalls = AnyOrderOfCalls.TestCase
TestAnyOrderOfCalls.settings = settings(
    max_examples=12,
    stateful_step_count=12,
    derandomize=True,
    # To shrink takes minutes, and a failure has no more than twelve steps anyway.
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
