"""Fuzzing under coverage: ``make fuzz``."""
