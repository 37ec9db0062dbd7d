"""Total: the bytes of a learner's whole state, divided between what it has learned and the samples it keeps.

The rule, in this order: the method as it is, if that leaves ``SAMPLES_SHARE`` of the total to samples. The default's
ensemble otherwise gives way to its robust network alone, which is ``smart``. A network then keeps its weights in half
precision, without the optimizer's moments, and is as wide as its share allows; random features are as many as fit. What
is left is the memory's, batch by batch (``StreamLearner.finish_batch``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from smartcl.data.spec import InputSpec
from smartcl.learners.factory import Build, Builder
from smartcl.learners.method_settings import AdaptiveSettings, RanDumbSettings, Scepticism
from smartcl.learners.recipe import Recipe
from smartcl.memory.budget import Budget

#: The share of the total that is for samples. On held-out training images of Disjoint MNIST, in 500 kB (one seed):
#: 96.0 with 0.12, 95.8 with 0.2, 96.0 with 0.3 and 95.9 with 0.36.
SAMPLES_SHARE = 0.25
#: No network of any width takes longer steps than ``smart-quick``'s.
MOST_RATE = 2e-3
#: Bytes of a state beside its samples, weights and sums: counts, scales, the generator, names and shapes as text.
TEXT_NBYTES = 6_000
#: The same for each input feature: what the memory watches of it, and its scale where that is learned.
WATCH_NBYTES, SCALE_NBYTES = 2, 60
#: What the default's ensemble takes beside weights and sums: answers to the newest rows, and those that calibrations
#: are fitted to. For each tree of each class, as text: measured 1,800.
ANSWERS_NBYTES, TREE_NBYTES = 400_000, 2_400


def total_nbytes(total: str | int) -> int:
    """A total as a number of bytes.

    >>> total_nbytes("500kB")
    500000
    """
    try:
        return Budget.parse(total, sample_nbytes=0).nbytes
    except ValueError:
        raise ValueError(
            f'total must be a positive int of bytes, or a size such as "500 kB" or "1.5 MB"; got {total!r}'
        ) from None


def divided(build: Build, settings: Any, spec: InputSpec, total: int) -> tuple[Build, Any]:
    """The builder and the settings whose state leaves room for samples within the total bytes.

    >>> from smartcl.learners.methods import find_method
    >>> smart, images = find_method("smart"), InputSpec(n_features=784, n_classes=10, dtype="uint8", scale=1 / 255)
    >>> for size in ("20MB", "1MB", "500kB"):
    ...     _, found = divided(smart.build, smart.settings, images, total_nbytes(size))
    ...     found.hidden, found.kept_weights
    ((400, 400), None)
    ((188, 188), 'float16')
    ((102, 102), 'float16')
    """
    room = int((1 - SAMPLES_SHARE) * total) - _beside(spec)
    if isinstance(settings, RanDumbSettings):
        most = total - _beside(spec)
        return build, replace(settings, features=_widest(settings.features, lambda n: sums_nbytes(n, spec) <= most))
    if isinstance(settings, AdaptiveSettings):
        if settings.members or ensemble_nbytes(settings, spec) <= room:
            return build, settings
        build = Builder("smart:smart")
    if not isinstance(settings, Recipe) or settings.network is not None or model_nbytes(settings, spec) <= room:
        return build, settings
    halved = settings if settings.optimizer is not None else replace(settings, kept_weights="float16")

    def fits(width: int) -> bool:
        from smartcl.network.mlp import ROW_TABLE_WEIGHTS  # late: tables of results ask this without torch

        narrow = replace(halved, hidden=_narrowed(settings.hidden, width))
        in_rows = spec.sparse and spec.n_features * narrow.hidden[0] > ROW_TABLE_WEIGHTS
        return not in_rows and model_nbytes(narrow, spec) <= room

    width = _widest(settings.hidden[0], fits)
    return build, _for_width(replace(halved, hidden=_narrowed(settings.hidden, width)), width / settings.hidden[0])


def _for_width(recipe: Recipe, share: float) -> Recipe:
    """The recipe for a network of this share of its width: steps are longer and less of the input is dropped.

    Both by the root of the share. Layers of 94 in the place of 400, on held-out training images of Disjoint MNIST (one
    seed): 96.0 without this, 96.6 with the longer steps and 96.7 with the smaller dropout alone.
    """
    root = share**0.5
    found = replace(recipe, lr=max(recipe.lr, min(float(f"{recipe.lr / root:.3g}"), MOST_RATE)))
    return replace(found, dropout=float(f"{found.dropout * root:.3g}")) if isinstance(found, Scepticism) else found


def model_nbytes(recipe: Recipe, spec: InputSpec) -> int:
    """Of a network's weights, their average and the moments of their steps.

    >>> model_nbytes(Recipe(hidden=(10,)), InputSpec(n_features=4, n_classes=2))
    864
    """
    weights = sum(
        before * after + after for before, after in pairwise([spec.n_features, *recipe.hidden, spec.n_classes])
    )
    averaged = recipe.average > 0
    return weights * (2 * (1 + averaged) if recipe.kept_weights == "float16" else 4 * (3 + averaged))


def sums_nbytes(features: int, spec: InputSpec) -> int:
    """Bytes of packed sums of the features and a constant, in single precision, and their products with the labels."""
    width = features + 1
    return 2 * width * (width + 1) + 8 * width * spec.n_classes


def ensemble_nbytes(settings: AdaptiveSettings, spec: InputSpec) -> int:
    """About the most that the default's ensemble takes beside its samples."""
    from smartcl.learners.adaptive import PLAIN
    from smartcl.learners.ensemble.feature_maps import first_map
    from smartcl.learners.ensemble.settings import (
        FORGETTING,
        LOOK_ROWS,
        MANY_FEATURES,
        RECENT_ROWS,
        SNAPSHOTS,
        TREES,
        WIDE,
    )
    from smartcl.learners.ensemble.sums import PACKED_FROM

    wide, width, classes = spec.n_features >= WIDE, first_map(spec, 0).width, spec.n_classes
    narrow = min(width, MANY_FEATURES)
    if width >= PACKED_FROM:
        sums = sums_nbytes(width - 1, spec) + 4 * 2 * LOOK_ROWS * width
    else:
        sums = (1 + SNAPSHOTS) * 8 * width * (width + classes)
    sums += (len(FORGETTING) - 1) * 8 * narrow * (narrow + classes) + 4 * (6 + SNAPSHOTS) * width * classes
    network = replace(settings, hidden=settings.hidden if wide else PLAIN.hidden)
    trees = 0 if wide else TREES * TREE_NBYTES * (1 if classes == 2 else classes)
    answers = ANSWERS_NBYTES + 4 * 16 * 2 * RECENT_ROWS * classes
    return sums + model_nbytes(network, spec) + trees + answers


def samples_nbytes(settings: Any, spec: InputSpec, total: int) -> int:
    """About what a network of these settings leaves of the total to samples; a sample where there is no network."""
    room = total - _beside(spec) - model_nbytes(settings, spec) if isinstance(settings, Recipe) else 0
    return max(room, 2 * spec.sample_nbytes)


def _beside(spec: InputSpec) -> int:
    return TEXT_NBYTES + (WATCH_NBYTES + SCALE_NBYTES * spec.learned) * spec.n_features


def _narrowed(hidden: Sequence[int], width: int) -> tuple[int, ...]:
    """The layers with the first of this width, the others in proportion."""
    return tuple(max(1, layer * width // hidden[0]) for layer in hidden)


def _widest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to ``most`` that fits, as all smaller ones do; 1 where none does."""
    return max(1, bisect_right(range(1, most + 1), 0, key=lambda width: int(not fits(width))))
