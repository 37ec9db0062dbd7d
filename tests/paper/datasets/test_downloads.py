from __future__ import annotations

import gzip
import hashlib
import io
import socket
import sys
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Site

from smartcl.paper.datasets.downloads import (
    FetchError,
    StorageError,
    cache_folder,
    download,
    fetch,
    gunzip,
    silent,
    store,
    terminal_bar,
)

BODY = bytes(range(256)) * 2000


def md5_of(body: bytes) -> str:
    return hashlib.md5(body).hexdigest()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "data.bin"


def nothing_left(target: Path) -> bool:
    return not target.parent.exists() or list(target.parent.iterdir()) == []


def test_the_cache_folder_is_chosen_in_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SMARTCL_DATA", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "smartcl"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert cache_folder() == tmp_path / ".cache" / "smartcl"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "smartcl"
    monkeypatch.setenv("SMARTCL_DATA", "~/data")
    assert cache_folder() == tmp_path / "data"
    assert cache_folder("here") == Path("here")


@pytest.mark.parametrize("name", ["data.bin", "data.bin.gz"])
def test_a_whole_download_is_stored_and_not_asked_for_again(site: Site, target: Path, name: str) -> None:
    site.bodies[name] = gzip.compress(BODY) if name.endswith("gz") else BODY
    for _ in range(2):
        fetch(site.url + name, target, md5_of(BODY))
        assert target.read_bytes() == BODY
    assert site.asked == [name]
    assert list(target.parent.iterdir()) == [target]


def test_progress_ends_at_the_size_sent(site: Site, target: Path) -> None:
    site.bodies["data.bin"] = BODY
    told: list[tuple[str, int, int | None]] = []
    fetch(site.url + "data.bin", target, md5_of(BODY), progress=lambda *told_now: told.append(told_now))
    assert told[-1] == ("data.bin", len(BODY), len(BODY))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


@pytest.mark.parametrize("packed", [False, True])
def test_a_truncated_download_is_refused(site: Site, target: Path, packed: bool) -> None:
    name = "data.bin.gz" if packed else "data.bin"
    whole = gzip.compress(BODY) if packed else BODY
    site.bodies[name], site.claimed[name] = whole[: len(whole) // 2], len(whole)
    with pytest.raises(FetchError) as refusal:
        fetch(site.url + name, target, md5_of(BODY))
    for part in ("data.bin", site.url, md5_of(BODY)):
        assert part in str(refusal.value)
    assert nothing_left(target)


def test_a_corrupt_download_names_both_checksums(site: Site, target: Path) -> None:
    site.bodies["data.bin"] = BODY[:-1] + b"!"
    with pytest.raises(FetchError) as refusal:
        fetch(site.url + "data.bin", target, md5_of(BODY))
    for part in ("data.bin", site.url, md5_of(BODY), md5_of(site.bodies["data.bin"])):
        assert part in str(refusal.value)
    assert nothing_left(target)


def test_a_page_instead_of_a_gzip_file_is_refused(site: Site, target: Path) -> None:
    site.bodies["data.gz"] = b"<html>please log in</html>"
    with pytest.raises(FetchError, match="not a valid gzip file"):
        fetch(site.url + "data.gz", target, md5_of(BODY))
    assert nothing_left(target)


def test_a_corrupt_cached_file_is_fetched_again(site: Site, target: Path) -> None:
    site.bodies["data.bin"] = BODY
    target.parent.mkdir()
    target.write_bytes(BODY[:100])
    with pytest.warns(UserWarning, match="was corrupt and is removed"):
        fetch(site.url + "data.bin", target, md5_of(BODY))
    assert target.read_bytes() == BODY


def test_a_corrupt_cached_file_without_a_source_is_refused(site: Site, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(BODY[:100])
    with pytest.warns(UserWarning, match=md5_of(BODY[:100])), pytest.raises(FetchError, match="Not Found"):
        fetch(site.url + "data.bin", target, md5_of(BODY))
    assert nothing_left(target)


def test_an_interrupt_leaves_nothing(site: Site, target: Path) -> None:
    site.bodies["data.bin"] = BODY

    def interrupt(name: str, done: int, total: int | None) -> None:
        if done > len(BODY) // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(site.url + "data.bin", target, md5_of(BODY), progress=interrupt)
    assert nothing_left(target)


def test_a_disk_without_room_leaves_nothing(site: Site, target: Path) -> None:
    resource = pytest.importorskip("resource")
    site.bodies["data.bin"] = BODY
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(BODY) // 2, hard))
    try:
        with pytest.raises(StorageError, match=r"cannot write .*data\.bin: .*SMARTCL_DATA"):
            fetch(site.url + "data.bin", target, md5_of(BODY))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert nothing_left(target)


def test_a_folder_that_is_a_file_is_named(site: Site, target: Path) -> None:
    target.parent.write_text("not a folder")
    with pytest.raises(StorageError, match="cannot write"):
        fetch(site.url + "data.bin", target, md5_of(BODY))
    assert site.asked == []


def test_a_server_that_does_not_answer_is_given_up(site: Site, target: Path) -> None:
    site.hanging.add("data.bin")
    with pytest.raises(FetchError, match=r"no answer within 0\.1 s"):
        fetch(site.url + "data.bin", target, md5_of(BODY), timeout=0.1)
    assert nothing_left(target)


def test_a_name_look_up_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch, target: Path) -> None:
    release = Event()

    def hang(*args: object, **kwargs: object) -> list[object]:
        release.wait(10)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    with pytest.raises(FetchError, match=r"no answer within 0\.1 s"):
        fetch("http://example.invalid/data.bin", target, md5_of(BODY), timeout=0.1)
    release.set()
    assert nothing_left(target)


def test_a_closed_port_is_refused_at_once(target: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(FetchError, match="refused"):
        list(download(f"http://127.0.0.1:{port}/data.bin", 5.0, silent))


@given(st.binary(max_size=300), st.integers(1, 50))
def test_gunzip_agrees_with_gzip_however_it_is_cut(body: bytes, size: int) -> None:
    packed = gzip.compress(body)
    chunks = (packed[start : start + size] for start in range(0, len(packed), size))
    assert b"".join(gunzip(chunks, "here")) == gzip.decompress(packed)


def test_storing_replaces_what_was_there_only_when_the_checksum_holds(target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(b"old")
    with pytest.raises(FetchError):
        store([b"ne", b"W"], target, md5_of(b"new"), "here")
    assert target.read_bytes() == b"old"
    store([b"ne", b"w"], target, md5_of(b"new"), "here")
    assert target.read_bytes() == b"new"
    assert list(target.parent.iterdir()) == [target]


class Stream(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    out, err = Stream(terminal), Stream(terminal)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("TERM", "xterm")
    with terminal_bar() as progress:
        progress("labels.gz", 10, 20)
        progress("labels.gz", 20, 20)
        progress("npm", 0, None)
    assert ("labels.gz" in err.getvalue()) == terminal
    assert out.getvalue() == ""
