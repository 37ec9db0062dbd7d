"""The streams of the paper: tasks with test sets, by name, and labels made wrong on purpose."""
