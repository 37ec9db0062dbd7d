"""Samples that must go from the folder of a service: out of the model and of all that the service keeps beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smartcl.saving.persistence import INDEX
from smartcl.serve.limits import Keeping, Limits
from smartcl.serve.model_plan import ModelPlan
from smartcl.serve.served_model import FOLDER, ServedModel


def is_service(folder: Path) -> bool:
    """Whether a service has kept something in this folder beside a model."""
    return (folder / FOLDER).is_dir()


def forget_in_service(folder: Path, ids: Sequence[str], retrain: bool) -> dict[str, Any]:
    """Forget samples of a service that does not run; what its journal has is learned before.

    Saved versions, the shadow copy and damaged ends of the journal go: they are of times when the samples were known.
    """
    if not (folder / INDEX).is_file():
        raise ValueError(f"{folder} has rows of a service and no model yet: end the service, which saves, then forget")
    limits, keeping = Limits(), Keeping(gather_seconds=0.0)
    served = ServedModel(folder, ModelPlan(), limits, keeping, lambda model: None, lambda: None)
    try:
        while served.learn_next() == 0.0:
            pass
        forgotten = served.forget(ids, retrain)
        assert served.model is not None
        return {"asked": len(ids), "forgotten": forgotten, "held": len(served.model.classifier.memory_)}
    finally:
        served.close(save=False)
