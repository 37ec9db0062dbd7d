"""Gradient-boosted trees (LightGBM), refitted on the newest stored samples when enough rows have come.

While they count for little in the pool, each refit waits for twice as many rows as the one before, up to a bound.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Any, Self

import numpy as np

from smartcl.data.batch import Floats
from smartcl.learners.ensemble.drift import Change
from smartcl.learners.ensemble.member import Joint, MemberTerm, Past, Recent, log_shares
from smartcl.learners.ensemble.rows import Samples, View
from smartcl.learners.ensemble.settings import (
    BATCH_ROWS,
    LEAVES,
    LOOK_ROWS,
    RECENT_ROWS,
    SETTLED_ROWS,
    SMALL_SHARE,
    TREE_ROWS,
    TREES,
)
from smartcl.learners.learner_state import MOST_CLASSES
from smartcl.saving.saved import Saved

#: The rates of all trees added up, 60 times LightGBM's usual 0.1; its L2 penalty on leaves, without which trees
#: alone on 8,000 rows of covtype from row 300,000, in fifties, were right 76.6% of the time in the place of 92.3.
STEPS, SHRINKAGE = 6.0, 1.0


@cache
def lightgbm() -> ModuleType | None:
    """The library, or None and one warning where it cannot be loaded: the ensemble goes on without trees."""
    try:
        import lightgbm as found
    except (ImportError, OSError) as error:
        reason = str(error).splitlines()[0]
        warnings.warn(f"the ensemble learns without trees: LightGBM cannot be loaded ({reason})", stacklevel=2)
        return None
    module: ModuleType = found
    return module


@dataclass(frozen=True, eq=False)
class Trees:
    """A booster of the newest samples. ``text`` is LightGBM's own form of it, and reads back bit for bit."""

    text: str = ""
    classes: tuple[int, ...] = ()
    rows: int = 0
    fitted_at: int = 0
    #: Rows from one refit to the next.
    wait: int = LOOK_ROWS
    booster: Any = None
    name: str = "trees"

    @property
    def experts(self) -> Sequence[str]:
        return [f"trees of {TREE_ROWS}"]

    def answers(self, rows: View, past: Past) -> Floats:
        n_classes = past.spec.n_classes
        shares = np.full((len(rows), n_classes), 1 / n_classes, np.float32)
        if self.booster is not None:
            found = self.booster.predict(rows.raw, num_threads=1)
            shares[:] = 0.0
            shares[:, list(self.classes)] = np.stack([1 - found, found], axis=1) if found.ndim == 1 else found
        return log_shares(shares)[:, None]

    def learn(self, new: Samples, past: Past) -> Self:
        counted = replace(self, rows=self.rows + len(new))
        since, recent = counted.rows - self.fitted_at, past.recent.last(TREE_ROWS)
        due = since >= (self.wait if self.fitted_at >= LOOK_ROWS else max(BATCH_ROWS, self.fitted_at))
        if not due or len(recent) < BATCH_ROWS or len(np.unique(recent.y)) < 2 or lightgbm() is None:
            return counted
        young = self.rows < RECENT_ROWS
        wait = LOOK_ROWS if past.share > SMALL_SHARE or young else min(2 * self.wait, SETTLED_ROWS)
        return replace(counted.fitted(recent, past.rng), wait=wait)

    def fitted(self, recent: Recent, rng: np.random.Generator) -> Self:
        """With trees for these samples."""
        library = lightgbm()
        assert library is not None
        classes, y = np.unique(recent.y, return_inverse=True)
        binary = len(classes) == 2
        objective = {"objective": "binary"} if binary else {"objective": "multiclass", "num_class": len(classes)}
        settings = {
            **objective,
            **{"num_leaves": LEAVES, "max_bin": 63, "min_data_in_leaf": 5, "seed": int(rng.integers(2**31))},
            **{"learning_rate": STEPS / TREES, "lambda_l2": SHRINKAGE},
            **{"deterministic": True, "force_row_wise": True, "num_threads": 1, "verbose": -1},
        }
        data = library.Dataset(recent.x, y, weight=recent.weight, params=settings, free_raw_data=True)
        booster = library.train(settings, data, num_boost_round=TREES, keep_training_booster=True)
        text = booster.model_to_string()  # LightGBM would write and read it once more to let go of the rows
        return replace(self, text=text, classes=tuple(classes.tolist()), fitted_at=self.rows, booster=read(text))

    def restarted(self, samples: Samples, past: Past) -> Self:
        return self

    def without(self, gone: Samples) -> Self:
        return self

    def after_jump(self) -> Self:
        return self

    def after_change(self, change: Change, past: Past) -> Self:
        """Refit with the next rows: the memory may have let go of what is outdated."""
        return replace(self, fitted_at=max(0, self.rows - LOOK_ROWS), wait=LOOK_ROWS)

    def widened(self, n_classes: int, rng: np.random.Generator) -> Self:
        return self

    def combined(self, parts: Sequence[MemberTerm[Self]], joint: Joint) -> Self:
        """Trees for the newest samples of all."""
        recent, wait = joint.past.recent.last(TREE_ROWS), min(part.member.wait for part in parts)
        counted = replace(self, rows=joint.past.counts.total, wait=wait)
        if len(recent) < BATCH_ROWS or len(np.unique(recent.y)) < 2 or lightgbm() is None:
            return counted
        return counted.fitted(recent, joint.past.rng)

    @property
    def nbytes(self) -> int:
        return len(self.text)

    def state_dict(self) -> dict[str, Any]:
        return {
            **{"text": self.text, "classes": list(self.classes)},
            **{"rows": self.rows, "fitted_at": self.fitted_at, "wait": self.wait},
        }

    def loaded(self, saved: Saved) -> Self:
        text, classes = saved.text("text"), saved.counts("classes", 0, MOST_CLASSES)
        booster = None
        if text and lightgbm() is not None:
            try:
                booster = read(text)
            except Exception as error:  # LightGBM's own, of many kinds
                saved.refuse("text", f"must be trees as LightGBM writes them: {error}")
        return replace(
            self,
            text=text,
            classes=classes,
            rows=saved.whole("rows", 0),
            fitted_at=saved.whole("fitted_at", 0),
            wait=saved.whole("wait", LOOK_ROWS),
            booster=booster,
        )


def read(text: str) -> Any:
    """A booster from LightGBM's own text."""
    library = lightgbm()
    assert library is not None
    return library.Booster(model_str=text)
