"""A user's files: tables in, results out."""
