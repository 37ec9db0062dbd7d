"""How good answers were that were given before their rows were learned."""
