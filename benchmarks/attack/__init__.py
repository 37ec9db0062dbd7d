"""Attacks on what the library promises: random use, and a count of the promises that did not hold."""
