"""Where the runs of a sweep are made: on this machine, or on a Ray cluster."""
