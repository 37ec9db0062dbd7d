"""What is kept and what it costs: a memory of a fixed number of bytes, for a learner of ours or a loop of your own."""

from smartcl.memory.budget import Budget, format_bytes
from smartcl.memory.pool import Pool, Selection, Selector
from smartcl.memory.schema import FeatureWatch, Schema
from smartcl.memory.schematic_memory import Observation, SchematicMemory
from smartcl.memory.store import Gathered, SampleStore, describe

__all__ = [
    "Budget",
    "FeatureWatch",
    "Gathered",
    "Observation",
    "Pool",
    "SampleStore",
    "Schema",
    "SchematicMemory",
    "Selection",
    "Selector",
    "describe",
    "format_bytes",
]
