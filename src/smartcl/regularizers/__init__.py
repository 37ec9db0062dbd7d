"""Penalties for a change of the weights, one per file."""
