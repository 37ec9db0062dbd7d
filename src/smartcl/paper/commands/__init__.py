"""The commands that make and show the paper's experiments."""
