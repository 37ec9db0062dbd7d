"""Selection policies, which decide who stays in memory, one family per file."""
