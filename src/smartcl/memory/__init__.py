"""What is kept and what it costs."""

from smartcl.memory.budget import Budget, format_bytes
from smartcl.memory.schema import FeatureWatch, Schema
from smartcl.memory.store import Gathered, SampleStore, describe

__all__ = ["Budget", "FeatureWatch", "Gathered", "SampleStore", "Schema", "describe", "format_bytes"]
