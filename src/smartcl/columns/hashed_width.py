"""Number of features that the words of texts and the names of large categories are hashed into."""

from __future__ import annotations

USUAL_WIDTH = 1 << 17
MOST_WIDTH = 1 << 24
