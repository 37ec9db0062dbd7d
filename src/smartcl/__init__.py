"""Continual learning from a never-ending stream, in a memory of a fixed number of bytes.

The public names are on one page: ``__init__.pyi``.
"""

from smartcl.lazy import lazy_names

__version__ = "0.2.0"
__getattr__, __dir__ = lazy_names(__name__)
