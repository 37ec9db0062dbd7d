"""One run is one frozen spec and one result."""
