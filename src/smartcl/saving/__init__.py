"""Saved state: folders and files that are written whole, values that are checked when read, code by name."""
