"""How alike samples are, to the network: the cosines of their gradients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smartcl.network.gradients import Trace, cosine_matrix, gram


def gradient_cosines(samples: Trace) -> NDArray[np.float64]:
    """``cos(g_i, g_j)`` of per-sample gradients; a zero gradient is like none but itself.

    >>> import torch
    >>> twins = Trace(torch.zeros(2, 3), [], [torch.tensor([[1.0, -1.0], [2.0, -2.0]])])
    >>> gradient_cosines(twins).round(3)
    array([[1., 1.],
           [1., 1.]])
    """
    products = gram(samples, samples).double()
    norms = products.diagonal()
    cosines: NDArray[np.float64] = cosine_matrix(products, norms, norms).numpy()
    np.fill_diagonal(cosines, 1.0)
    return cosines
