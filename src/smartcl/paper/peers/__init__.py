"""What runs in the peers' environment (``make peers``) alone: the streams' generators, and the learners compared with."""
