"""Who stays in memory: one policy per file."""
