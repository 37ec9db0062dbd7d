"""How good a learner was on a stream of tasks, and how sure that is."""
