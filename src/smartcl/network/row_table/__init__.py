"""A first layer of very many rows, of which only those a batch touches cost anything."""
