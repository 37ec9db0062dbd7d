"""State of a learner as plain values and tensors, and a learner restored from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from smartcl.learners.class_counts import ClassCounts
from smartcl.learners.ids import id_dtype, saved_with_ids
from smartcl.learners.weights import ClassWeight
from smartcl.memory.budget import Budget
from smartcl.network.scaling import InputScale
from smartcl.saving.saved import Saved, generator_state

if TYPE_CHECKING:
    from smartcl.learners.stream_learner import StreamLearner

#: More than any network here has: a saved count beyond it is damage.
MOST_CLASSES = 2**20


def state_of(learner: StreamLearner) -> dict[str, Any]:
    """All that every learner has; a method adds its own."""
    return {
        "n_classes": learner.spec.n_classes,
        "scale": None if learner.scale is None else learner.scale.state_dict(),
        "batches": learner.batches,
        "counts": learner.counts.widened(learner.spec.n_classes).state_dict(),
        "weighted": learner.weighted,
        "class_weight": list(told) if isinstance(told := learner.class_weight, tuple) else told,
        "memory": learner.memory.state_dict(),
        **({} if learner.total is None else {"room": np.array([learner.memory.budget.nbytes])}),
        "rng": learner.rng.bit_generator.state,
    }


def load_state(learner: StreamLearner, saved: Saved) -> None:
    """Put that into a learner built as the one it came from, inside ``all_or_nothing``."""
    n_classes = saved.whole("n_classes", learner.spec.n_classes, MOST_CLASSES)
    if n_classes > learner.spec.n_classes:
        learner.add_classes(n_classes)
    total, learner.total = learner.total, None  # a state half loaded is of no size
    learner.begin_batch()
    learner.batches = saved.whole("batches", 0)
    learner.scale = _scale(learner.scale, saved)
    learner.load_parts(saved)
    learner.counts = ClassCounts.from_state(saved.part("counts"), n_classes)
    learner.weighted = saved.flag("weighted")
    learner.class_weight = _class_weight(saved, n_classes)
    learner.keeps_ids = saved_with_ids(saved)
    beside = {**({"weight": "float32"} if learner.weighted else {}), **id_dtype(learner)}
    extra = None if learner.extra_dtypes is None else {**learner.extra_dtypes, **beside}
    if total is not None:
        learner.memory.budget = Budget(min(total, max(1, int(saved.array("room", (1,), "int64")[0]))))
    learner.memory.load_state_dict(saved.part("memory"), n_classes, extra)
    learner.rng.bit_generator.state = generator_state(saved.part("rng"))
    learner.finish_batch()
    learner.total = total


def _scale(scale: InputScale | None, saved: Saved) -> InputScale | None:
    if saved.has("scale") != (scale is not None):
        saved.refuse("scale", "must be there for a stream whose scale is learned, and only for it")
    return None if scale is None else scale.loaded(saved.part("scale"))


def _class_weight(saved: Saved, n_classes: int) -> ClassWeight:
    if not saved.has("class_weight"):
        return None
    if saved.one_of("class_weight", str, list, tuple) == "balanced":
        return "balanced"
    told = saved.value("class_weight")
    if isinstance(told, str) or len(told) != n_classes or not all(type(each) is float and each > 0 for each in told):
        saved.refuse("class_weight", f"must be 'balanced' or {n_classes} numbers above 0")
    return tuple(told)
