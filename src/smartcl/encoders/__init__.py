"""Encoders that smartcl knows by name, for images and for texts."""

from smartcl.encoders.named import KNOWN, NamedEncoder, named_encoder

__all__ = ["KNOWN", "NamedEncoder", "named_encoder"]
