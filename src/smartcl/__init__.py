"""Continual learning from a never-ending stream, in a memory of a fixed number of bytes."""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

TYPE_CHECKING = False  # what type checkers take for True; to ask ``typing`` would load it
if TYPE_CHECKING:
    from smartcl.api import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        """A public name, loaded when first asked for: torch takes seconds, in which the command answers ctrl-C."""
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module 'smartcl' has no attribute {name!r}")
        api = import_module("smartcl.api")
        if name == "__all__" or name in api.__all__:
            return getattr(api, name)
        if name in globals():  # a package of ours, there since its names are
            return globals()[name]
        raise AttributeError(f"module 'smartcl' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return [*import_module("smartcl.api").__all__, "__version__"]
