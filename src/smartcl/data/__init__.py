"""Batches of a stream, and the signature of the stream.

The public names are on one page: ``__init__.pyi``.
"""

from smartcl.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
