"""The peers on real tables: numbers scaled, names one-hot, hashed or as categories, texts as words.

Each is given what its package has for such columns. Rows come as arrays of numbers, or as dicts of raw columns without
what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from smartcl.data.batch import Doubles, Ints
from smartcl.paper.datasets.real_tables import AnyRows
from smartcl.paper.peers.baselines import Commonest, LastLabel

#: The column of a table that is nothing but a text.
TEXT = "comment"
#: The first rows, by which a peer is told what columns there are, as a user knows them.
LOOKED_AT = 1000
#: Values beyond are cut, in deviations: a column that was constant for long would throw the weights far off.
LARGEST = 5.0


def is_text(rows: AnyRows) -> bool:
    """Whether rows are texts."""
    return isinstance(rows, list) and TEXT in rows[0]


def words_of(text: str) -> list[str]:
    """The words and the pairs of words of a text, without the marks of line ends that the data set has.

    >>> words_of("So goodNEWLINE_TOKENso")
    ['so', 'good', 'so', 'so good', 'good so']
    """
    words = re.findall(r"\w+", text.replace("NEWLINE_TOKEN", " ").replace("TAB_TOKEN", " ").lower())
    return words + [f"{one} {two}" for one, two in pairwise(words)]


class OfRiver:
    """A model of River's: rows go in one by one, as dicts."""

    def __init__(self, model: Any, classes: int) -> None:
        self.model, self.classes = model, classes

    def learn(self, rows: AnyRows, y: Ints) -> None:
        for row, label in zip(as_dicts(rows), y.tolist(), strict=True):
            self.model.learn_one(row, label)

    def scores(self, rows: AnyRows) -> Doubles:
        """Probabilities; zero for a class that the model does not know."""
        found = [self.model.predict_proba_one(row) for row in as_dicts(rows)]
        return np.array([[each.get(label, 0.0) for label in range(self.classes)] for each in found])


def as_dicts(rows: AnyRows) -> Iterator[dict[Any, Any]]:
    """Rows as River takes them."""
    return iter(rows) if isinstance(rows, list) else (dict(enumerate(row)) for row in rows.tolist())


def river_arf(rows: AnyRows, classes: int, seed: int) -> OfRiver:
    from river.forest import ARFClassifier

    return of_trees(ARFClassifier(seed=seed), rows, classes)


def river_srp(rows: AnyRows, classes: int, seed: int) -> OfRiver:
    from river.ensemble import SRPClassifier

    return of_trees(SRPClassifier(seed=seed), rows, classes)


def river_hat(rows: AnyRows, classes: int, seed: int) -> OfRiver:
    from river.tree import HoeffdingAdaptiveTreeClassifier

    return of_trees(HoeffdingAdaptiveTreeClassifier(seed=seed), rows, classes)


def river_bagging(rows: AnyRows, classes: int, seed: int) -> OfRiver:
    from river.ensemble import LeveragingBaggingClassifier
    from river.tree import HoeffdingTreeClassifier

    return of_trees(LeveragingBaggingClassifier(HoeffdingTreeClassifier(), seed=seed), rows, classes)


def of_trees(model: Any, rows: AnyRows, classes: int) -> OfRiver:
    """Trees take numbers and names as they are; of texts they have no form."""
    if is_text(rows):
        raise NotImplementedError("the trees of River take no texts")
    return OfRiver(model, classes)


def river_logistic(rows: AnyRows, classes: int, seed: int) -> OfRiver:
    """On scaled numbers and one-hot names, or on the words of a text."""
    from river import compose, feature_extraction, linear_model, multiclass, optim, preprocessing

    if is_text(rows):
        words = feature_extraction.TFIDF(on=TEXT, tokenizer=words_of, preprocessor=str)
        return OfRiver(words | linear_model.LogisticRegression(optim.SGD(TEXT_STEP)), classes)
    one = linear_model.LogisticRegression()
    model = one if classes == 2 else multiclass.OneVsRestClassifier(one)
    if not isinstance(rows, list):
        return OfRiver(preprocessing.StandardScaler() | model, classes)
    numbers = compose.SelectType(int, float) | preprocessing.StandardScaler()
    names = compose.SelectType(str) | preprocessing.OneHotEncoder()
    return OfRiver((numbers + names) | model, classes)


class Vectors:
    """Rows as vectors: numbers in deviations, names hashed one-hot, the words of a text hashed."""

    def __init__(self, rows: AnyRows) -> None:
        from sklearn.feature_extraction import FeatureHasher
        from sklearn.feature_extraction.text import HashingVectorizer
        from sklearn.preprocessing import StandardScaler

        self.text = is_text(rows)
        named = rows if isinstance(rows, list) else []
        self.columns = [name for name in named_columns(named) if isinstance(first_value(named, name), float)]
        self.names = set(named_columns(named)) - set(self.columns)
        self.scaler, self.hasher = StandardScaler(), FeatureHasher(2**16, input_type="string")
        self.words = HashingVectorizer(analyzer=words_of, n_features=2**18)

    def numbers(self, rows: AnyRows) -> Doubles:
        """Missing ones are NaN."""
        if not isinstance(rows, list):
            return np.asarray(rows, dtype=np.float64)
        return np.array([[row.get(name, np.nan) for name in self.columns] for row in rows], dtype=np.float64)

    def learn(self, rows: AnyRows) -> None:
        if not self.text and (self.columns or not isinstance(rows, list)):
            self.scaler.partial_fit(self.numbers(rows))

    def of(self, rows: AnyRows) -> Any:
        from scipy import sparse

        if self.text:
            return self.words.transform(row[TEXT] for row in rows)
        scaled = np.nan_to_num(np.clip(self.scaler.transform(self.numbers(rows)), -LARGEST, LARGEST))
        if not isinstance(rows, list):
            return scaled
        hashed = self.hasher.transform([f"{name}={row[name]}" for name in self.names if name in row] for row in rows)
        return sparse.hstack([sparse.csr_matrix(scaled), hashed], format="csr")


def named_columns(rows: list[dict[str, Any]]) -> list[str]:
    """Every column that any of these rows has."""
    return list(dict.fromkeys(name for row in rows for name in row))


def first_value(rows: list[dict[str, Any]], name: str) -> Any:
    """The first value of this column that is there."""
    return next(row[name] for row in rows if name in row)


class Sgd:
    """scikit-learn's logistic regression by gradient steps of one size, which follow a change."""

    def __init__(self, rows: AnyRows, classes: int, seed: int) -> None:
        from sklearn.linear_model import SGDClassifier

        step = TEXT_STEP if is_text(rows) else STEP
        alpha = 1e-6 if is_text(rows) else 1e-4
        self.model = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=step, alpha=alpha, random_state=seed)
        self.vectors, self.classes = Vectors(rows), np.arange(classes)

    def learn(self, rows: AnyRows, y: Ints) -> None:
        self.vectors.learn(rows)
        self.model.partial_fit(self.vectors.of(rows), y, classes=self.classes)

    def scores(self, rows: AnyRows) -> Doubles:
        return np.asarray(self.model.predict_proba(self.vectors.of(rows)))


#: Steps of the logistic regressions. 0.03, of 0.001 to 0.1, has the smallest log loss in the mean over covtype-late,
#: flights-late, moving_squares and sea_big; 3, of 0.1 to 10, the best AUC on comments 20,000 to 26,000.
STEP, TEXT_STEP = 0.03, 3.0


class Vowpal:
    """Vowpal Wabbit's logistic regression with its own scaling and steps; ``pairs`` adds products of columns."""

    def __init__(self, rows: AnyRows, classes: int, seed: int, pairs: bool = False) -> None:
        from vowpalwabbit import Workspace

        how = "--loss_function logistic --quiet -b 18 --random_seed"
        several = f"--oaa {classes} --probabilities" if classes > 2 else "--link logistic"
        interactions = "--interactions ::" if pairs else ""
        self.model, self.classes = Workspace(f"{how} {seed} {several} {interactions}"), classes

    def learn(self, rows: AnyRows, y: Ints) -> None:
        for row, label in zip(self.examples(rows), y.tolist(), strict=True):
            self.model.learn(f"{label + 1 if self.classes > 2 else 2 * label - 1} {row}")

    def scores(self, rows: AnyRows) -> Doubles:
        found = np.array([self.model.predict(row) for row in self.examples(rows)])
        return found if self.classes > 2 else np.stack([1 - found, found], axis=1)

    def examples(self, rows: AnyRows) -> Iterator[str]:
        if is_text(rows):
            return (f"| {' '.join(word.replace(' ', '^') for word in words_of(row[TEXT]))}" for row in rows)
        return (f"| {' '.join(feature(name, value) for name, value in row.items())}" for row in as_dicts(rows))

    def state_nbytes(self) -> int:
        """What it writes to be able to go on."""
        import tempfile
        from pathlib import Path

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model")
            self.model.save(str(path))
            return path.stat().st_size


def feature(name: Any, value: Any) -> str:
    """A number, or a name, as Vowpal Wabbit reads it.

    >>> feature("hour", 7.5), feature("city", "New York: JFK")
    ('hour:7.5', 'city=New_York__JFK')
    """
    return f"{name}={re.sub(r'[ :|]', '_', value)}" if isinstance(value, str) else f"{name}:{value:g}"


class Boosted:
    """LightGBM with names as categories, fitted anew on the newest 3,000 rows after every 250.

    Of windows of 3,000 and 10,000 rows that was the better on 20,000 rows of three of four streams: covtype from row
    200,000 on, flights-joined, employment and flights-2001, after the first 100,000 or 200,000.
    """

    def __init__(self, rows: AnyRows, classes: int, seed: int, window: int = 3000, every: int = 250) -> None:
        named = rows if isinstance(rows, list) else []
        self.columns = named_columns(named)
        self.names = [name for name in self.columns if isinstance(first_value(named, name), str)]
        self.codes: dict[str, dict[str, int]] = {name: {} for name in self.names}
        self.classes, self.seed, self.window, self.every = classes, seed, window, every
        self.newest: list[Any] = []
        self.y = np.empty(0, np.int64)
        self.model: Any = None
        self.seen = self.fitted = 0
        self.text = is_text(rows)

    def learn(self, rows: AnyRows, y: Ints) -> None:
        self.newest = [*self.newest, *self.vectors(rows)][-self.window :]
        self.y = np.concatenate([self.y, y])[-self.window :]
        self.seen += len(y)
        due = self.seen - self.fitted >= min(self.every, max(50, self.fitted))
        if due and len(np.unique(self.y)) > 1:
            self.fit()

    def fit(self) -> None:
        import lightgbm

        self.fitted = self.seen
        how = {"num_leaves": 15, "num_threads": 1, "seed": self.seed, "verbose": -1}
        goal = {"objective": "binary"} if self.classes == 2 else {"objective": "multiclass", "num_class": self.classes}
        categories = [self.columns.index(name) for name in self.names] if not self.text else []
        data = lightgbm.Dataset(self.stacked(self.newest), self.y, categorical_feature=categories, free_raw_data=True)
        self.model = lightgbm.train({**how, **goal}, data, 60)

    def scores(self, rows: AnyRows) -> Doubles:
        if self.model is None:
            return np.tile(np.bincount(self.y, minlength=self.classes) / len(self.y), (len(rows), 1))
        found = np.asarray(self.model.predict(self.stacked(self.vectors(rows)), num_threads=1))
        return found if self.classes > 2 else np.stack([1 - found, found], axis=1)

    def vectors(self, rows: AnyRows) -> list[Any]:
        """Numbers, and a code for each name; of texts how often each of 4,096 hashed words is there."""
        if self.text:
            from sklearn.feature_extraction.text import HashingVectorizer

            hashed = HashingVectorizer(analyzer=words_of, n_features=2**12, norm=None, alternate_sign=False)
            return list(hashed.transform(row[TEXT] for row in rows))
        if not isinstance(rows, list):
            return list(rows)
        return [np.array([self.number(name, row.get(name)) for name in self.columns]) for row in rows]

    def number(self, name: str, value: Any) -> float:
        if value is None:
            return np.nan
        return self.codes[name].setdefault(value, len(self.codes[name])) if name in self.codes else value

    def stacked(self, rows: list[Any]) -> Any:
        from scipy import sparse

        return sparse.vstack(rows, format="csr") if self.text else np.stack(rows)


#: A contender for rows such as these first ones, a number of classes and a seed.
MakePeer = Callable[[AnyRows, int, int], Any]

TABLE_PEERS: dict[str, MakePeer] = {
    "commonest": lambda rows, classes, seed: Commonest(classes),
    "last-label": lambda rows, classes, seed: LastLabel(classes),
    "river-arf": river_arf,
    "river-srp": river_srp,
    "river-hat": river_hat,
    "river-leveraging-bagging": river_bagging,
    "river-logistic": river_logistic,
    "vowpal-wabbit": Vowpal,
    "vowpal-wabbit-pairs": partial(Vowpal, pairs=True),
    "sklearn-sgd": Sgd,
    "lightgbm-window": Boosted,
}
