"""Influenza in the states of the USA, forecast a day ahead from the keywords of tweets: one task per state.

Of the files only ``X`` [state, day, keyword] and ``Y`` [state, day] (activity level 1..10, 0 missing) are loaded;
their other variables are MATLAB tables. The label of a day is whether the next day's level is above the lowest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from smartcl.events.counts import UNKNOWN, count_table
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.downloads import FetchError, cache_folder
from smartcl.paper.datasets.mat import numeric, read_mat
from smartcl.paper.datasets.panel import Panel, panel_stream
from smartcl.paper.datasets.protocols import FLU, FLU_RELEASE, SEASONS, PanelProtocol
from smartcl.paper.datasets.task_stream import TaskStream

FOLDER = "flu"
MISSING, LOWEST, HIGHEST = 0, 1, 10


def flu(
    years: str,
    data_dir: Path | str | None = None,
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    protocol: PanelProtocol = FLU,
) -> TaskStream:
    """The states one after the other in ``"2011"`` (to 2012) or ``"2013"`` (to 2014), 300 balanced samples each.

    The files are not fetched: they must lie in the folder ``flu`` of the data folder.

    >>> flu("2012")
    Traceback (most recent call last):
    ValueError: years must be one of 2011, 2013, got '2012'
    """
    if years not in SEASONS:
        raise ValueError(f"years must be one of {', '.join(SEASONS)}, got {years!r}")
    model = NoiseModel.parse(noise)
    path = cache_folder(data_dir) / FOLDER / f"{SEASONS[years]}_flu_data.mat"
    if not path.is_file():
        raise FetchError(
            f"there is no {path}: the flu data are published by the paper's first author beside the AAAI-19 "
            f"event-subtype data. Put {path.name} into the folder {FOLDER} under --data or SMARTCL_DATA"
        )
    data = read_mat(path, ["X", "Y"])
    try:
        panel = flu_panel(data["X"], data["Y"])
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return panel_stream(f"flu-{years}", panel, protocol, seed, model, FLU_RELEASE)


def flu_panel(X: Any, Y: Any) -> Panel:
    """The counts, and whether the next day's level is above the lowest.

    >>> flu_panel(np.ones((1, 4, 1)), np.array([[1, 1, 0, 7]])).labels
    array([[ 0, -1,  1, -1]])
    """
    if numeric("Y", Y, 2).shape != numeric("X", X, 3).shape[:2]:
        raise ValueError(f"X must be [state, day, keyword] and Y [state, day], got {X.shape} and {Y.shape}")
    if not np.isin(Y, np.arange(MISSING, HIGHEST + 1)).all():
        raise ValueError(f"Y must hold the levels {LOWEST}..{HIGHEST}, or {MISSING} for a missing one")
    labels = np.full(Y.shape, UNKNOWN, dtype=np.int64)
    labels[:, :-1] = np.where(Y[:, 1:] == MISSING, UNKNOWN, Y[:, 1:] > LOWEST)
    names = tuple(f"state {row}" for row in range(1, len(X) + 1))
    return Panel(tuple(count_table(state) for state in X), labels, names)
