"""Short streams that the default learner is developed on: other data, or other seeds, than those of any table.

Real tables begin at rows that no table shows. All other streams are made with NumPy and scikit-learn from the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smartcl.data.batch import Doubles, Ints
from smartcl.paper.datasets.corruption import redraw_label
from smartcl.paper.datasets.digits import load_digit_images
from smartcl.paper.datasets.mnist import load_mnist
from smartcl.paper.datasets.real_streams import load_real_stream

Sparse = sparse.csr_array[Any, tuple[int, int]]

#: No table uses this seed or a larger one.
FIRST_SEED = 100

#: The memory of the tables of streams, and that of streams on which the choice of what is kept is to count.
MEMORY, LITTLE_MEMORY = "100kB", "20kB"

#: Rows of a stream. All streams together take about 50 CPU seconds.
ROWS = 4000
#: Rows of streams whose rows take longer than those of the others.
FEWER_ROWS = 2000
#: Rows of a real table between the rows of one seed and those of the next.
APART = 20_000
#: The share of labels that are redrawn at random in the streams with wrong labels.
WRONG = 0.3

#: MNIST: images that are learned, and images that are answered after the end.
IMAGES, IMAGES_AFTER = 2000, 500
#: Made texts, words that there are, and words of one text.
TEXTS, WORDS, WORDS_IN_A_TEXT = 1200, 20_000, 30


@dataclass(frozen=True, eq=False)
class DevelopmentStream:
    """Rows in their order, their clean labels ``y``, the labels that are learned, and the size of the memory.

    Rows from ``learned`` on are only answered. If there are such rows, they alone are scored.
    """

    X: Any
    y: Ints
    taught: Ints
    classes: int
    learned: int
    memory: str = MEMORY

    @classmethod
    def of(cls, X: Any, y: NDArray[Any], taught: Ints | None = None, learned: int | None = None) -> DevelopmentStream:
        """Labels are numbers from 0 on; what is learned is clean, and all of it, unless something else is said."""
        y = y.astype(np.int64)
        X = X if X.dtype == np.uint8 else X.astype(np.float32)
        return cls(X, y, y if taught is None else taught, int(y.max()) + 1, len(y) if learned is None else learned)

    def with_wrong_labels(self, seed: int) -> DevelopmentStream:
        """The same rows, but a share of the labels that are learned is redrawn at random."""
        taught = redraw_label(self.y, self.classes, WRONG, np.random.default_rng([seed, 1]))
        return replace(self, taught=taught)

    def in_little_memory(self) -> DevelopmentStream:
        """The same stream in a memory that is soon full: in the usual one most of these short streams fit whole."""
        return replace(self, memory=LITTLE_MEMORY)


# --- real tables ------------------------------------------------------------------------------------------------------


def real_rows(name: str, start: int, rows: int, seed: int, apart: int = APART) -> DevelopmentStream:
    """Rows of a published table from ``start`` on; another seed takes others, as long as there are any."""
    stream = load_real_stream(name)
    places = 1 + (len(stream.y) - start - rows) // apart
    first = start + apart * ((seed - FIRST_SEED) % places)
    part = slice(first, first + rows)
    found = DevelopmentStream.of(stream.X[part].copy(), stream.y[part])
    return DevelopmentStream(found.X, found.y, found.taught, len(stream.classes), rows)


# --- changes ----------------------------------------------------------------------------------------------------------


def turning_hyperplane(seed: int) -> DevelopmentStream:
    """Gradual: the weights of half of ten columns turn all along; 5% of the labels are wrong."""
    rng, columns = np.random.default_rng(seed), 10
    X = rng.random((ROWS, columns))
    weights = np.tile(rng.random(columns), (ROWS, 1))
    weights[:, :5] += rng.choice([-1.0, 1.0], 5) * np.linspace(0, 2, ROWS)[:, None]
    y = (X * weights).sum(axis=1) > weights.sum(axis=1) / 2
    return DevelopmentStream.of(X, y ^ (rng.random(ROWS) < 0.05))


def abrupt_thresholds(seed: int) -> DevelopmentStream:
    """As in SEA: the sum of two of three columns is above a threshold, which jumps; 10% of the labels are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (ROWS, 3))
    threshold = np.repeat(rng.permutation([7.0, 8.0, 9.0, 9.5]), ROWS // 4)
    return DevelopmentStream.of(X, (X[:, 0] + X[:, 1] <= threshold) ^ (rng.random(ROWS) < 0.1))


def reversal_that_returns(seed: int) -> DevelopmentStream:
    """Above a sine curve or below it; in the second quarter and in the last one all labels are reversed."""
    rng = np.random.default_rng(seed)
    X = rng.random((ROWS, 2))
    reversed_there = np.repeat([False, True, False, True], ROWS // 4)
    return DevelopmentStream.of(X, (X[:, 1] > 0.5 + 0.3 * np.sin(3 * np.pi * X[:, 0])) ^ reversed_there)


def another_unit(seed: int) -> DevelopmentStream:
    """One of five columns that decide comes in another unit from the middle on: ten times as large, and 1,000 more."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 5))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 1.5 * X[:, 4] > 0
    X[ROWS // 2 :, 4] = 1000 + 10 * X[ROWS // 2 :, 4]
    return DevelopmentStream.of(X, y)


def moving_centroids(seed: int) -> DevelopmentStream:
    """Twenty Gaussian clouds of four classes, all of which move at a constant speed within the unit cube."""
    rng, columns, clouds, classes = np.random.default_rng(seed), 8, 20, 4
    of_class = np.arange(clouds) % classes
    start, way = rng.random((clouds, columns)), rng.normal(size=(clouds, columns))
    way *= 0.0005 / np.linalg.norm(way, axis=1, keepdims=True)
    cloud = rng.integers(clouds, size=ROWS)
    centre = start[cloud] + np.arange(ROWS)[:, None] * way[cloud]
    centre = 1 - np.abs(1 - centre % 2)  # back from the wall
    return DevelopmentStream.of(centre + 0.12 * rng.normal(size=(ROWS, columns)), of_class[cloud])


def axis_parallel_rules(seed: int) -> DevelopmentStream:
    """A random tree of axis-parallel splits over six columns and three classes; another one in the second half."""
    rng = np.random.default_rng(seed)
    X = rng.random((ROWS, 6))
    half = ROWS // 2
    return DevelopmentStream.of(X, np.concatenate([tree_labels(rng, X[:half]), tree_labels(rng, X[half:])]))


def tree_labels(rng: np.random.Generator, X: Doubles, depth: int = 5, classes: int = 3) -> Ints:
    """What a random tree says of these rows; each class has about as many leaves as another."""
    column = rng.integers(X.shape[1], size=2**depth - 1)
    threshold = rng.uniform(0.25, 0.75, size=2**depth - 1)
    leaves = rng.permutation(np.arange(2**depth) % classes)
    node = np.zeros(len(X), np.int64)
    for _ in range(depth):
        node = 2 * node + 1 + (X[np.arange(len(X)), column[node]] > threshold[node])
    found: Ints = leaves[node - (2**depth - 1)]
    return found


def new_classes(seed: int) -> DevelopmentStream:
    """A table of ten classes that come two at a time."""
    clusters = {"n_informative": 15, "n_classes": 10, "n_clusters_per_class": 1, "class_sep": 1.5}
    return by_class(*classification(seed, FEWER_ROWS, 20, **clusters))


def digits_by_class(seed: int) -> DevelopmentStream:
    """Scikit-learn's 1,797 images of digits as tables of 64 columns, two digits at a time."""
    images = load_digit_images()
    X, y = np.concatenate([images.train_x, images.test_x]), np.concatenate([images.train_y, images.test_y])
    order = np.random.default_rng(seed).permutation(len(y))
    return by_class(X[order].astype(np.float32), y[order])


def images_by_class(seed: int) -> DevelopmentStream:
    """Training images of MNIST, two digits at a time; others are answered after the end."""
    mnist = load_mnist()
    chosen = np.random.default_rng(seed).permutation(len(mnist.train_y))[: IMAGES + IMAGES_AFTER]
    X, y = mnist.train_x[chosen], mnist.train_y[chosen].astype(np.int64)
    order = np.concatenate([np.argsort(y[:IMAGES] // 2, kind="stable"), np.arange(IMAGES, len(y))])
    return DevelopmentStream.of(X[order], y[order], learned=IMAGES)


def by_class(X: NDArray[Any], y: NDArray[Any]) -> DevelopmentStream:
    """Two classes at a time, in the order of their numbers."""
    order = np.argsort(y // 2, kind="stable")
    return DevelopmentStream.of(X[order], y[order])


# --- one concept ------------------------------------------------------------------------------------------------------


def classification(seed: int, rows: int, columns: int, **settings: Any) -> tuple[Doubles, Ints]:
    """Clusters of scikit-learn."""
    from sklearn.datasets import make_classification  # it takes a second to import

    X, y = make_classification(rows, columns, random_state=seed, **settings)
    return X, y


def raw_table(seed: int) -> DevelopmentStream:
    """Fifteen columns, each in a unit of its own, and four classes of three clusters each; 3% of labels are wrong."""
    X, y = classification(seed, ROWS, 15, n_informative=8, n_classes=4, n_clusters_per_class=3, flip_y=0.03)
    rng = np.random.default_rng(seed)
    return DevelopmentStream.of(X * 10.0 ** rng.uniform(-3, 5, size=15) + 100 * rng.normal(size=15), y)


def moons(seed: int) -> DevelopmentStream:
    """Two half-moons that overlap a little."""
    from sklearn.datasets import make_moons

    return DevelopmentStream.of(*make_moons(ROWS, noise=0.25, random_state=seed))


def spirals(seed: int) -> DevelopmentStream:
    """Three arms around each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=ROWS)
    turn = np.sqrt(rng.uniform(0.05, 1, size=ROWS)) * 3 * np.pi
    angle = turn + y * 2 * np.pi / 3
    arms = np.stack([turn * np.cos(angle), turn * np.sin(angle)], axis=1)
    return DevelopmentStream.of(arms + 0.5 * rng.normal(size=(ROWS, 2)), y)


# --- sparse rows ------------------------------------------------------------------------------------------------------


def made_texts(seed: int) -> DevelopmentStream:
    """Texts of frequent and rare words as sparse counts. The share of the second class rises from 10 to 90%.

    Each class says each word a little more or less often than the other.
    """
    rng = np.random.default_rng(seed)
    y = (rng.random(TEXTS) < np.linspace(0.1, 0.9, TEXTS)).astype(np.int64)
    common = 1 / (10 + rng.permutation(WORDS))
    words = np.empty((TEXTS, WORDS_IN_A_TEXT), np.int64)
    for label in (0, 1):
        share = common * np.exp(0.7 * rng.normal(size=WORDS))
        those = y == label
        words[those] = rng.choice(WORDS, (int(those.sum()), WORDS_IN_A_TEXT), p=share / share.sum())
    return DevelopmentStream.of(counted(words), y)


def counted(words: NDArray[np.int64]) -> Sparse:
    """How often each word is in each text."""
    text = np.repeat(np.arange(len(words)), words.shape[1])
    table = sparse.coo_array((np.ones(words.size, np.float32), (text, words.ravel())), shape=(len(words), WORDS))
    return sparse.csr_array(table)


#: From a seed to a stream, by name. A source that cannot be had raises ``UnavailableError``.
DEVELOPMENT_STREAMS: dict[str, Callable[[int], DevelopmentStream]] = {
    "covtype-late": partial(real_rows, "covtype", 200_000, FEWER_ROWS),
    "flights-late": partial(real_rows, "flights", 100_000, ROWS),
    "moving-squares": partial(real_rows, "moving_squares", 0, ROWS),
    # its concepts are 25,000 rows long: a change comes after the first quarter
    "sea-big": partial(real_rows, "sea_big", 24_000, ROWS, apart=25_000),
    "turning-hyperplane": turning_hyperplane,
    "abrupt-thresholds": abrupt_thresholds,
    "reversal-returns": reversal_that_returns,
    "another-unit": another_unit,
    "moving-centroids": moving_centroids,
    "axis-parallel-rules": axis_parallel_rules,
    "raw-table": raw_table,
    "moons": moons,
    "spirals": spirals,
    "new-classes": new_classes,
    "moons-wrong-labels": lambda seed: moons(seed).with_wrong_labels(seed),
    "centroids-wrong-labels": lambda seed: moving_centroids(seed).with_wrong_labels(seed),
    "digits-by-class": digits_by_class,
    "images-by-class": images_by_class,
    "made-texts": made_texts,
    "rules-20kB": lambda seed: axis_parallel_rules(seed).in_little_memory(),
    "digits-by-class-20kB": lambda seed: digits_by_class(seed).in_little_memory(),
    "centroids-wrong-labels-20kB": lambda seed: moving_centroids(seed).with_wrong_labels(seed).in_little_memory(),
}
