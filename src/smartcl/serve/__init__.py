"""The service: one model, or many by key, that answers while it learns."""
