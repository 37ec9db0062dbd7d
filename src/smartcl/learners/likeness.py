"""Whether stored samples are like the new ones: by their nearest neighbours, not by a distance that means nothing."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

#: The neighbours asked.
NEIGHBOURS = 20


def likeness(stored: torch.Tensor, new: torch.Tensor, rng: np.random.Generator) -> NDArray[np.float64]:
    """For each stored sample, the share of new ones among its nearest, of as many new as stored ones.

    About a half where both come from one distribution, none for a sample of an earlier task (the two-sample test of
    nearest neighbours, Schilling 1986, read sample by sample).

    >>> a, b = torch.randn(200, 2, generator=torch.Generator().manual_seed(0)).split(100)
    >>> rng = np.random.default_rng(0)
    >>> bool(0.4 < likeness(a, b, rng).mean() < 0.6), float(likeness(a, b + 100, rng).max())
    (True, 0.0)
    """
    size = min(len(stored), len(new))
    others = np.sort(rng.choice(len(stored), size, replace=False))
    some = torch.from_numpy(rng.choice(len(new), size, replace=False))
    distances = torch.cdist(stored, torch.cat([stored[torch.from_numpy(others)], new[some]]))
    distances[torch.from_numpy(others), torch.arange(size)] = torch.inf  # nobody is a neighbour of their own
    nearest = distances.topk(min(NEIGHBOURS, 2 * size - 1), dim=1, largest=False).indices
    result: NDArray[np.float64] = (nearest >= size).double().mean(dim=1).numpy()
    return result
