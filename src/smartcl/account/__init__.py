"""Accounts of a stream: scores of answers that were given before their rows were learned."""
