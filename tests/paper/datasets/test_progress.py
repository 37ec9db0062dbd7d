from __future__ import annotations

import io
import sys

import pytest

from smartcl.paper.datasets.progress import terminal_bar


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
