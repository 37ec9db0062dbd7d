"""The suite of streams, written into the cache: ``python -m smartcl.paper.peers.suite``.

Data sets that River ships are in their own order, whatever the seed: shuffled, they would be other streams. Of the
others there is one for each seed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from river import datasets

from smartcl.errors import UnavailableError
from smartcl.paper.datasets.downloads import cache_folder
from smartcl.paper.datasets.stream_suite import (
    SEEDS,
    SUITE,
    SuiteFile,
    read_suite_file,
    stream_path,
    write_suite_file,
)
from smartcl.paper.peers.concepts import (
    Recorded,
    led,
    mixed_scale,
    moving_centroids,
    rare_event,
    record,
    sea,
    sine,
    turning_hyperplane,
)

SHIPPED = {"phishing": datasets.Phishing, "bananas": datasets.Bananas, "image-segments": datasets.ImageSegments}

GENERATED: dict[str, Callable[[int], Recorded]] = {
    "sea-abrupt": lambda seed: sea(seed, (0, 1, 2, 3), 5000, 0.1),
    "rbf-drift": lambda seed: moving_centroids(
        seed, 10_000, n_features=10, n_classes=4, n_centroids=20, n_drift_centroids=10, change_speed=0.001
    ),
    "hyperplane": lambda seed: turning_hyperplane(
        seed, 10_000, n_features=10, n_drift_features=5, mag_change=0.001, noise_percentage=0.05
    ),
    "sine-return": lambda seed: sine(seed, (0, 1, 0), 3000),
    "led": lambda seed: led(seed, (0, 4, 7), 2000, 0.1),
    "mixed-scale": lambda seed: mixed_scale(
        seed, 6000, (0, -6, 1, 6, -3, 4, -1, 2), (0.0, 1e9, -7.5), unit=1000.0, classes=3
    ),
    "rare": lambda seed: rare_event(seed, 20_000, 1000, 8),
}


def make(name: str) -> SuiteFile:
    """The stream of this name with every seed of the table."""
    parts = [record([SHIPPED[name]()])] if name in SHIPPED else [GENERATED[name](seed) for seed in range(SEEDS)]
    return SuiteFile.of([(part.X, part.y) for part in parts], parts[0].drifts, parts[0].gradual)


def write_all(folder: Path) -> None:
    """Those that are not there yet, or are not what they should be."""
    for name, known in SUITE.items():
        path = stream_path(name, folder)
        with suppress(UnavailableError):
            if read_suite_file(path).digest == known.digest:
                continue
        made = make(name)
        write_suite_file(path, made)
        rows, features = made.X.shape[1:]
        print(f"{path}: {rows:,} rows, {features} features, {made.classes} classes, digest {made.digest}")
        if made.digest != known.digest:
            print(f"  which is not {known.digest}: runs on it are kept as runs of other data", file=sys.stderr)


if __name__ == "__main__":
    write_all(cache_folder(*sys.argv[1:]))
