"""The learners ``smart`` is compared with on the suite of streams, and the releases they are of.

Nothing here needs the peers' environment: the rest of this package does.
"""

from __future__ import annotations

from dataclasses import dataclass

RIVER = ("river", "0.26.1")
SCIKIT_LEARN = ("scikit-learn", "1.9.1")
DEEP_RIVER = ("deep-river", "0.3.4")


@dataclass(frozen=True)
class Peer:
    """How its row is called, and the release of the package it is of."""

    label: str
    package: tuple[str, str]

    @property
    def settings(self) -> dict[str, str]:
        """What a run's key says of it: all else is the package's own choice."""
        name, release = self.package
        return {name: release}


PEERS: dict[str, Peer] = {
    "river-arf": Peer("River ARF", RIVER),
    "river-srp": Peer("River SRP", RIVER),
    "river-hat": Peer("River HAT", RIVER),
    "river-logistic": Peer("River logistic", RIVER),
    "sklearn-sgd": Peer("sklearn SGD", SCIKIT_LEARN),
    "sklearn-mlp": Peer("sklearn MLP", SCIKIT_LEARN),
    "deep-river-mlp": Peer("deep-river MLP", DEEP_RIVER),
}
