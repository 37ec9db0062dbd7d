"""Encoders by name: what ``encoder="efficientnet-lite0@96"`` asks for, and how it is called in a saved folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

from smartcl.encoders.efficientnet_lite import ImageEncoder
from smartcl.encoders.wordllama import TokenMeans

#: The encoders of images by name; they take a side to bring images to, and the shape of flat ones.
IMAGES: dict[str, Callable[[int | None, tuple[int, ...] | None], Any]] = {"efficientnet-lite0": ImageEncoder.loaded}
#: The encoders of texts by name.
TEXTS: dict[str, Callable[[], Any]] = {"wordllama": TokenMeans.loaded}

KNOWN = (*IMAGES, *TEXTS)

#: A name, ``@`` and the pixels of a side, ``/`` and the shape of flat images.
FORM = re.compile(r"(?P<name>[a-z0-9-]+)(@(?P<side>\d{1,4}))?(/(?P<shape>\d{1,5}x\d{1,5}(x3)?))?")
SMALLEST_SIDE = 32


@dataclass(frozen=True)
class NamedEncoder:
    """An encoder of smartcl's own: loading a model that names it imports nothing else."""

    name: str
    encode: Callable[[Any], Any]

    def __call__(self, items: Any) -> Any:
        return self.encode(items)


def is_named(asked: Any) -> bool:
    """Whether this is meant as the name of an encoder, not as where to import one from.

    >>> is_named("wordllama"), is_named("my_module:encode")
    (True, False)
    """
    return isinstance(asked, str) and re.split("[@/]", asked)[0] in KNOWN


@lru_cache(maxsize=4)
def named_encoder(asked: str) -> NamedEncoder:
    """The encoder of this name, with its weights; they are read once in a process.

    >>> named_encoder("wordllama@96")
    Traceback (most recent call last):
        ...
    ValueError: encoder must be named like efficientnet-lite0, efficientnet-lite0@96 (pixels of a side), ...
    """
    found = FORM.fullmatch(asked)
    name = found["name"] if found else None
    if found is None or name not in KNOWN or (name in TEXTS and asked != name):
        raise ValueError(
            "encoder must be named like efficientnet-lite0, efficientnet-lite0@96 (pixels of a side), "
            f"efficientnet-lite0@96/32x32x3 (flat images of this shape) or wordllama, got {asked!r:.60}"
        )
    if name in TEXTS:
        return NamedEncoder(asked, TEXTS[name]())
    side = None if found["side"] is None else int(found["side"])
    if side is not None and side < SMALLEST_SIDE:
        raise ValueError(f"encoder {name}: the side must be at least {SMALLEST_SIDE} pixels, got {side}")
    shape = None if found["shape"] is None else tuple(int(size) for size in found["shape"].split("x"))
    if shape is not None and prod(shape) == 0:
        raise ValueError(f"encoder {name}: the shape of an image must be above 0, got {found['shape']}")
    return NamedEncoder(asked, IMAGES[name](side, shape))
