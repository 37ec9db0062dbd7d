"""What a change of a weight costs: one penalty per file."""
