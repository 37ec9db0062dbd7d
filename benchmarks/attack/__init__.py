"""Attacks on the promises of ``SmartClassifier``: ``python -m benchmarks attack``."""
