"""The learners ``smart`` is compared with on streams of tables, and the releases they are of.

Nothing here needs the peers' environment: the rest of this package does.
"""

from __future__ import annotations

from dataclasses import dataclass

RIVER = ("river", "0.26.1")
SCIKIT_LEARN = ("scikit-learn", "1.9.1")
DEEP_RIVER = ("deep-river", "0.3.4")
VOWPAL_WABBIT = ("vowpalwabbit", "9.11.9")
LIGHTGBM = ("lightgbm", "4.7.0")


@dataclass(frozen=True)
class Peer:
    """How its row is called, and the release of the package it is of; one of ours has none.

    ``seeded`` says whether it draws anything.
    """

    label: str
    package: tuple[str, str] | None
    seeded: bool = True

    @property
    def settings(self) -> dict[str, str]:
        """What a run's key says of it: all else is the package's own choice, or the code's."""
        return {} if self.package is None else dict([self.package])


#: Those on the suite of streams, at their packages' defaults.
PEERS: dict[str, Peer] = {
    "river-arf": Peer("River ARF", RIVER),
    "river-srp": Peer("River SRP", RIVER),
    "river-hat": Peer("River HAT", RIVER),
    "river-logistic": Peer("River logistic", RIVER),
    "sklearn-sgd": Peer("sklearn SGD", SCIKIT_LEARN),
    "sklearn-mlp": Peer("sklearn MLP", SCIKIT_LEARN),
    "deep-river-mlp": Peer("deep-river MLP", DEEP_RIVER),
}
#: Those on the real streams, each with what its package has for names, scales and texts.
REAL_PEERS: dict[str, Peer] = {
    "commonest": Peer("always the commonest", None, seeded=False),
    "last-label": Peer("repeat the last label", None, seeded=False),
    "river-arf": PEERS["river-arf"],
    "river-srp": PEERS["river-srp"],
    "river-hat": PEERS["river-hat"],
    "river-leveraging-bagging": Peer("River leveraging bagging", RIVER),
    "river-logistic": Peer("River logistic", RIVER, seeded=False),
    "vowpal-wabbit": Peer("Vowpal Wabbit", VOWPAL_WABBIT, seeded=False),
    "vowpal-wabbit-pairs": Peer("Vowpal Wabbit, pairs of columns", VOWPAL_WABBIT, seeded=False),
    "sklearn-sgd": Peer("sklearn SGD, log loss", SCIKIT_LEARN, seeded=False),
    "lightgbm-window": Peer("LightGBM on a window", LIGHTGBM, seeded=False),
}
ALL_PEERS = {**PEERS, **REAL_PEERS}
