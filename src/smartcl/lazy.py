"""Names of a package that are loaded when they are first asked for.

A package writes its public names once, as import statements in the stub ``__init__.pyi`` beside its ``__init__.py``.
Type checkers and editors read the stub as it is. The package itself reads it when somebody asks for a name, and then
does the one import statement that has this name.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # type checkers take it for True; importing it from typing would load typing
if TYPE_CHECKING:
    from collections.abc import Callable


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package that has such a stub."""
    homes: dict[str, str] = {}

    def read_stub() -> dict[str, str]:
        """The module that each name comes from."""
        if not homes:
            import ast
            from pkgutil import get_data

            tree = ast.parse(get_data(package, "__init__.pyi") or b"")
            lines = [line for line in tree.body if isinstance(line, ast.ImportFrom) and line.module is not None]
            homes.update({alias.asname or alias.name: str(line.module) for line in lines for alias in line.names})
        return homes

    def get(name: str) -> object:
        if name == "__all__":
            return sorted(read_stub())
        if not name.startswith("__"):
            if name in read_stub():
                own = homes[name] == package  # a module of the package itself
                found: object = import_module(f"{package}.{name}") if own else getattr(import_module(homes[name]), name)
                setattr(sys.modules[package], name, found)  # the next time it is found without asking here
                return found
            if any(f"{home}.".startswith(f"{package}.{name}.") for home in homes.values()):
                return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        own = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return sorted({*own, *read_stub()})

    return get, names
