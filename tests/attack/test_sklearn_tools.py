"""What scikit-learn users do with any estimator: copy it, search with it, calibrate it."""

from __future__ import annotations

import copy
import io
import pickle

import joblib
import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score

from benchmarks.attack.models import TASKLESS, WIDTHS, Kind, difference, fingerprint
from smartcl import SmartClassifier


def by_joblib(model: SmartClassifier) -> SmartClassifier:
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def by_pickle(model: SmartClassifier) -> SmartClassifier:
    return pickle.loads(pickle.dumps(model))


#: It trains for a hundred epochs before each first prediction.
SLOW = "gdumb"
COPIED = [Kind(method, form) for method in TASKLESS for form in WIDTHS if method != SLOW or form == "dense"]
SEARCHED = [Kind("er", "dense"), *(Kind("smart", form) for form in WIDTHS)]


@pytest.mark.parametrize("kind", COPIED, ids=str)
def test_a_copy_learns_on_and_a_clone_has_learned_nothing(kind: Kind) -> None:
    model = kind.unfitted().partial_fit(*kind.rows(1, 6))
    copied, fresh = by_pickle(by_joblib(copy.deepcopy(model))), clone(model)
    end, copied_end = (fingerprint(each.partial_fit(*kind.rows(2, 6))) for each in (model, copied))
    assert difference(end, copied_end) is None
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "classes_")


@pytest.mark.parametrize("kind", SEARCHED, ids=str)
def test_searching_and_calibrating(kind: Kind) -> None:
    x, y = kind.rows(1, 24)
    grid = GridSearchCV(kind.unfitted(), {"lr": [1e-3, 1e-2], "hidden": [(4,), (8,)]}, cv=2, error_score="raise")
    assert grid.fit(x, y).best_estimator_.predict(x).shape == (24,)
    spread = {"lr": loguniform(1e-3, 1e-1), "batch_size": np.arange(5, 9)}
    drawn = RandomizedSearchCV(kind.unfitted(), spread, n_iter=2, cv=2, random_state=0, error_score="raise")
    assert np.isfinite(drawn.fit(x, y).best_score_)
    calibrated = CalibratedClassifierCV(kind.unfitted(), cv=2).fit(x, y)
    np.testing.assert_allclose(calibrated.predict_proba(x).sum(axis=1), 1)


def test_folds_side_by_side_score_as_one_after_the_other() -> None:
    kind = Kind("smart", "dense")
    x, y = kind.rows(1, 60)
    # Forked workers, unlike fresh ones, need not import everything first.
    with joblib.parallel_config("multiprocessing"):
        alone, together = (cross_val_score(kind.unfitted(), x, y, cv=2, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(alone, together)
