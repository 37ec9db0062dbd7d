"""Every method by name, loaded when it is first asked for; and a user's own beside them."""

from __future__ import annotations

import re
from functools import partial
from importlib import import_module
from typing import Any

from smartcl.data.spec import InputSpec
from smartcl.learners.factory import Factory, Method
from smartcl.learners.names import MODULES
from smartcl.learners.registry import Registry
from smartcl.learners.stream_learner import StreamLearner
from smartcl.settings import nearest, shown


def _ours(module: str, name: str) -> Method:
    found: Method = import_module(f"smartcl.learners.{module}").METHODS[name]
    return found


#: Ours by name, and those that others have registered or declared as entry points of this group.
METHODS: Registry[Method] = Registry(
    {name: partial(_ours, module, name) for module, names in MODULES.items() for name in names},
    group="smartcl.methods",
    take=Method.of,
)


def register_method(name: str, method: Method | Factory) -> None:
    """Make a method of one's own known by a name: to the estimator, to ``build_learner``, and to models it is saved in.

    A package does so for everybody who installs it, on the command line too, by an entry point of the group
    ``smartcl.methods``.

    >>> def plain(spec, memory, seed, *, hidden=(8,)):
    ...     return build_learner("er", spec, memory, seed, hidden=hidden)
    >>> register_method("plain", plain)
    >>> build_learner("plain", InputSpec(n_features=4, n_classes=2), "1kB", hidden=(3,)).recipe.hidden
    (3,)
    >>> del METHODS["plain"]
    """
    if not isinstance(name, str) or not re.fullmatch(r"[\w.+-]{1,60}", name):
        raise ValueError(f"name must be up to 60 letters, digits, '.', '+', '-' or '_', got {shown(name)}")
    if name in METHODS.ours:
        raise ValueError(f"name must be another than {name!r}, which is a method of smartcl itself")
    METHODS[name] = Method.of(method)


def registered_name(maker: str | Method | Factory) -> str:
    """The name under which this method or factory is known here, or a ``ValueError`` that says how it becomes so."""
    name = maker if isinstance(maker, str) else METHODS.name_of(lambda method: method == Method.of(maker))
    if name is None:
        raise ValueError(
            "a learner of one's own must be registered to be saved, here and where it is loaded: "
            "smartcl.register_method('a-name', learner)"
        )
    return name


def check_registered(name: str) -> str:
    """The name of a method that a saved model asks for, if it is known here."""
    if name not in METHODS:
        raise ValueError(
            f"the method {shown(name)} is not registered here: call smartcl.register_method({shown(name)}, ...) "
            "before loading, or install the package that has it"
        )
    return name


def method_of(maker: str | Method | Factory) -> Method:
    """The method of this name, or the one that this object is."""
    return find_method(maker) if isinstance(maker, str) else Method.of(maker)


def find_method(name: str) -> Method:
    """The method of this name, or an error that lists the nearest names.

    >>> find_method("smart").citation
    'Gao, Ascoli & Zhao 2021'
    """
    if not isinstance(name, str):
        raise ValueError(f"method must be a name, got {shown(name)}")
    if name not in METHODS:
        raise ValueError(f"unknown method {shown(name)}: {nearest(name, METHODS)}")
    return METHODS[name]


def build_learner(name: str, spec: InputSpec, memory: str | int, seed: int = 0, **parameters: Any) -> StreamLearner:
    """A learner by name.

    >>> build_learner("er", InputSpec(n_features=4, n_classes=2), "1kB", hidden=(8,)).memory
    0 samples in 0 B of 1 kB, 4 of 4 features kept
    """
    return find_method(name).learner(spec, memory, seed, **parameters)
