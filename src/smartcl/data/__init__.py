"""What arrives: batches, and what must be known of a stream of them."""

from smartcl.data.batch import Batch, Rows
from smartcl.data.spec import InputSpec

__all__ = ["Batch", "InputSpec", "Rows"]
