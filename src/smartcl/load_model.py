"""Loading a saved model without knowing which kind it is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from smartcl.estimator import SmartClassifier

if TYPE_CHECKING:
    from smartcl.files.table_model import TableModel


def load(folder: str | os.PathLike[str], trust: Sequence[str] | str = ()) -> SmartClassifier | TableModel:
    """The model in a folder: a ``TableModel`` if it was trained on the columns of a table, else a ``SmartClassifier``.

    Parameters
    ----------
    folder
        What ``save``, ``train_stream`` or ``smartcl train`` wrote.
    trust
        The modules or packages that may be imported for code of your own, such as a network: loading imports nothing
        that a folder names unless it is named here too.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> SmartClassifier("1kB", random_state=0).fit([[0.0], [1.0]], [0, 1]).save(folder)
    >>> load(folder).classes_
    array([0, 1])
    """
    model = SmartClassifier.load(folder, trust)
    if not model._companions:
        return model
    from smartcl.files.table_model import PART, TableModel

    return TableModel.load(folder, trust) if PART in model._companions else model
