"""Continual learning in a memory of a fixed number of bytes."""
