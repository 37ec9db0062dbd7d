"""Memory of a fixed number of bytes, for a learner of this package or a training loop of your own.

The public names are on one page: ``__init__.pyi``.
"""

from smartcl.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
