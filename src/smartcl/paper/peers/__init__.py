"""Modules for the peers' environment (``make peers``): the streams' generators, and the learners compared with."""
