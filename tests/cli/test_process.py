"""The command as a process: what it does with its streams, with ctrl-C and with a reader that leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

import smartcl
from event_examples import example_days, write_files
from smartcl.cli.main import ready_streams
from smartcl.cli.usage import one_thread

SMARTCL = [sys.executable, "-m", "smartcl"]


def hear_interrupts() -> None:
    """Also where the tests run in a background that ignores ctrl-C, as their children then would."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(*arguments: str, **streams: object) -> subprocess.Popen[str]:
    command = [*SMARTCL, *arguments]
    return subprocess.Popen(command, text=True, start_new_session=True, preexec_fn=hear_interrupts, **streams)  # type: ignore[call-overload,no-any-return]


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs to see what a process has loaded")
def test_an_interrupt_while_everything_loads_is_one_line() -> None:
    process = start("methods", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    maps = Path(f"/proc/{process.pid}/maps")
    while "site-packages" not in maps.read_text():  # until the first of the large libraries is being loaded
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "smartcl: interrupted; nothing was left half-written\n")


def test_an_ascii_terminal_gets_replacements(tmp_path: Path) -> None:
    counts, events = write_files(example_days(n_places=2, n_days=40), tmp_path)
    for path in (counts, events):
        path.write_text(path.read_text().replace("city 0", "Belém"), encoding="utf-8")
    arguments = ["events", "--counts", str(counts), "--events", str(events), "--place", "city", "--date", "day"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run(
        [*SMARTCL, *arguments, "--set", "hidden=4", "--set", "iterations=1"], capture_output=True, env=ascii_only
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Bel?m" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_behind_the_output_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*SMARTCL, "--version"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "smartcl: No space left on device\n")


def test_a_reader_that_leaves_early_is_no_error() -> None:
    reading, writing = os.pipe()
    process = start("run", "--help", stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    os.close(reading)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, "")


def test_closed_streams_lead_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    ready_streams()
    with sys.stdin as stdin, sys.stdout as stdout, sys.stderr as stderr:
        print("nobody hears this")
        print("nor this", file=sys.stderr)
        assert (stdin.read(), stdout.name, stderr.name) == ("", os.devnull, os.devnull)


def test_the_first_import_is_light_and_the_names_are_there_all_the_same() -> None:
    code = "import sys, smartcl, smartcl.cli.main; assert 'torch' not in sys.modules; print(smartcl.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == smartcl.__version__
    names: dict[str, object] = {}
    exec("from smartcl import *", names)
    assert names["SmartClassifier"] is smartcl.SmartClassifier
    assert {"ReplayMemory", "SmartClassifier", "__version__"} <= set(dir(smartcl))
    assert smartcl.extend.Batch is import_module("smartcl.data.batch").Batch
    with pytest.raises(AttributeError, match="module 'smartcl' has no attribute 'SmartClasifier'"):
        _ = smartcl.SmartClasifier
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec("from smartcl import nothing", {})


def test_a_command_computes_on_one_thread_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from threadpoolctl import threadpool_info, threadpool_limits

    def of_blas() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2):  # and afterwards as it was
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        one_thread()
        assert of_blas() == {2}
        monkeypatch.delenv("OMP_NUM_THREADS")
        one_thread()
        assert of_blas() == {1}
        assert torch.get_num_threads() == 1
