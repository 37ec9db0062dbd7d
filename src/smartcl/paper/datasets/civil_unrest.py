"""Civil unrest in Latin American cities, forecast a day ahead from the keywords of tweets: one task per city.

Two releases are read, told apart by their variables:

* the paper's own: ``keywords`` (1 x 923 texts), ``locations`` (1 x n texts), ``X`` (1 x n cells, each a matrix
  [day, keyword] of counts) and ``Y`` (1 x n cells, each 1 for a day with an event and 0 for one without). ``Y``
  speaks of its own day, so the label of a day is the ``Y`` of the next.
* its sibling, the AAAI-19 event-subtype data: ``X`` [city, day, keyword] scaled per keyword to 0..1, ``Y``
  [city, day] (1 no event, above 1 an event of some subtype; already the next day's), ``city`` (texts). Dividing by
  a keyword's smallest training value gives the counts back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from smartcl.data.batch import Ints
from smartcl.events.counts import UNKNOWN, Csr, count_table
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.downloads import FetchError, cache_folder
from smartcl.paper.datasets.mat import cells, numeric, read_mat, texts
from smartcl.paper.datasets.panel import Panel, panel_stream
from smartcl.paper.datasets.protocols import CIVIL, PAPER, SIBLING, PanelProtocol
from smartcl.paper.datasets.task_stream import TaskStream

FOLDER = "civil-unrest"
#: The sibling's label of a day that no event follows.
NO_EVENT = 1
PUBLISHED = (
    "the paper's files are on the dataset page of the Emory group "
    "(cs.emory.edu/~lzhao41, Civil Unrest Twitter Data), their sibling is the AAAI-19 event-subtype release of the "
    "paper's first author"
)


def civil_unrest(
    country: str,
    data_dir: Path | str | None = None,
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    protocol: PanelProtocol = CIVIL,
) -> TaskStream:
    """A country's cities one after the other, 300 balanced samples each, in batches of 50.

    The files are not fetched: ``<Country>.mat`` or ``2013-2014_<Country>.mat`` must lie in the folder ``civil-unrest``
    of the data folder. The stream's name and source tell the sibling release from the paper's own.

    >>> civil_unrest("Brazil", data_dir="no-such-folder")
    Traceback (most recent call last):
    smartcl.paper.datasets.downloads.FetchError: there is no civil-unrest file of Brazil in no-such-folder...
    """
    model = NoiseModel.parse(noise)
    path = country_file(country, cache_folder(data_dir) / FOLDER)
    release, panel = read_panel(path, protocol)
    name = f"civil-{country.lower()}"
    return panel_stream(name if release == PAPER else f"{name} ({release})", panel, protocol, seed, model, release)


def country_file(country: str, folder: Path) -> Path:
    """The country's file, looked up among those that are there."""
    there = {path.name.lower(): path for path in sorted(folder.glob("*.mat"))}
    for name in (f"{country}.mat".lower(), f"2013-2014_{country}.mat".lower()):
        if name in there:
            return there[name]
    listed = f" (there are {', '.join(path.name for path in there.values())})" if there else ""
    raise FetchError(
        f"there is no civil-unrest file of {country} in {folder}{listed}: {PUBLISHED}. Put 2013-2014_{country}.mat "
        f"or {country}.mat into the folder {FOLDER} under --data or SMARTCL_DATA"
    )


def read_panel(path: Path, protocol: PanelProtocol) -> tuple[str, Panel]:
    """Which release the file is of, its counts and its next-day labels."""
    data = read_mat(path, ["X", "Y"], ["city", "keywords", "locations"])
    try:
        if "city" in data:
            return SIBLING, sibling_panel(data["X"], data["Y"], texts("city", data["city"]), protocol)
        if missing := [name for name in ("keywords", "locations") if name not in data]:
            raise ValueError(f"has no variable {', '.join(missing)}, and no city either")
        locations, keywords = (texts(name, data[name]) for name in ("locations", "keywords"))
        return PAPER, paper_panel(data["X"], data["Y"], locations, keywords)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def sibling_panel(X: Any, Y: Any, cities: tuple[str, ...], protocol: PanelProtocol) -> Panel:
    """The AAAI-19 release: values scaled per keyword, labels 1 and above already of the next day."""
    if numeric("Y", Y, 2).shape != numeric("X", X, 3).shape[:2]:
        raise ValueError(f"X must be [city, day, keyword] and Y [city, day], got {X.shape} and {Y.shape}")
    if (Y < NO_EVENT).any():
        raise ValueError(f"Y must be {NO_EVENT} without an event and above with one, got {Y.min()}")
    scaled = tuple(count_table(city) for city in X)
    counts = unscaled(scaled, protocol.n_train(X.shape[1]))
    return Panel(counts, without_silent_days((Y > NO_EVENT).astype(np.int64), counts), cities)


def paper_panel(X: Any, Y: Any, cities: tuple[str, ...], keywords: tuple[str, ...]) -> Panel:
    """The paper's own files: counts, and events on their own day."""
    counts = tuple(count_table(numeric("each X", city, 2)) for city in cells("X", X))
    events = np.stack([np.ravel(numeric("each Y", city, 2)) for city in cells("Y", Y)]) > 0
    labels = np.full(events.shape, UNKNOWN, dtype=np.int64)
    labels[:, :-1] = events[:, 1:]
    return Panel(counts, without_silent_days(labels, counts), cities, keywords)


def unscaled(scaled: tuple[Csr, ...], cut: int) -> tuple[Csr, ...]:
    """Each keyword divided by its smallest non-zero value on the training days of all places."""
    smallest = np.full(scaled[0].shape[1], np.inf)
    for place in scaled:
        train = place[:cut]
        np.minimum.at(smallest, train.indices, train.data)
    # a keyword without training value is no feature: what becomes of it does not matter
    divisor = np.where(np.isfinite(smallest), smallest, 1.0)
    return tuple(
        sparse.csr_array((place.data / divisor[place.indices], place.indices, place.indptr), shape=place.shape)
        for place in scaled
    )


def without_silent_days(labels: Ints, counts: tuple[Csr, ...]) -> Ints:
    """The labels, ``UNKNOWN`` where a place has no keyword at all that day."""
    silent = np.stack([np.diff(place.indptr) == 0 for place in counts])
    if silent.shape != labels.shape:
        raise ValueError(f"Y must have a label per place and day {silent.shape}, got {labels.shape}")
    return np.where(silent, UNKNOWN, labels)
