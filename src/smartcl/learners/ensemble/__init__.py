"""The default learner: an ensemble of members that read sums, samples or both."""
