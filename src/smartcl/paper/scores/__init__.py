"""Scores of a learner on a stream of tasks, with their uncertainty."""
