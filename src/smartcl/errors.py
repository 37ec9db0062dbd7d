"""What goes wrong without being a defect."""


class UnavailableError(RuntimeError):
    """The environment does not give what is needed: a download, an extra that is not installed."""
