"""``SmartClassifier``, the classifier for users: checks of input, columns and single rows, saving.

The public name is in ``__init__.pyi``.
"""

from smartcl.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
