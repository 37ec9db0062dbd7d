"""Before a run: can what it makes be kept?"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from smartcl.saving import atomic as outputs
from smartcl.saving.atomic import check_file, check_writable


def test_the_proof_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("as it is")
    for folder in (tmp_path, tmp_path / "a" / "b" / "c"):
        check_writable(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_relative_folder_is_meant_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (Path(), Path("new"), Path("new/and/deep"), Path("..") / tmp_path.name):
        check_writable(folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_what_the_disk_says_is_said_of_the_folder(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, data: bytes) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(outputs, "write_file", refuse)
    with pytest.raises(OSError, match="nothing can be written there") as refused:
        check_writable(tmp_path / "a" / "b")
    assert (refused.value.errno, refused.value.filename) == (number, str(tmp_path / "a" / "b"))
    assert list(tmp_path.iterdir()) == []


def test_files_and_folders_are_not_taken_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ValueError, match="file is a file"):
            check_writable(folder)
    with pytest.raises(ValueError, match="is a folder, and a file is to be written"):
        check_file(tmp_path)
    with pytest.raises(ValueError, match="must lie in a folder that is there"):
        check_file(tmp_path / "nowhere" / "page.md")
    check_file(tmp_path / "page.md")
    check_file(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "a file"


@pytest.mark.skipif(os.getuid() == 0, reason="nothing is locked for root")
def test_a_locked_folder_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="nothing can be written there"):
        check_writable(tmp_path / "model")
