"""Algorithm 1, and the methods composed around it."""
