"""``python -m benchmarks.attack.fuzz``: fuzz each target under coverage with atheris, in a process of its own.

``--minutes M`` is processor time for each target, ``--only target`` takes one (it may be given more than once). A
crash, no answer in two minutes, or memory that grows is a fault: its input is kept in ``fuzz-faults/``, and
``--again FILE --only target`` tries it once more. ``make fuzz`` sets up the environment that this needs.

Atheris 3.0.0 never frees the result of a comparison that it traces: 1,000 comparisons of 100,000 numbers leave 100 MB.
So memory of targets that compare arrays grows here; whether the library's own does, only a run without atheris shows.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

FAULTS = Path("fuzz-faults")
#: The most seconds that one input may take, and the most megabytes that a process may grow to.
SECONDS, MOST_MB = 120, 3000
#: Resident memory at the end may be larger than after a tenth of the time by this share and this number of bytes.
GROWTH_SHARE, GROWTH_BYTES = 0.1, 60_000_000
#: By the environment, so that a target's process knows where to put what it found.
ONE = "--one"


def main() -> int:
    """Fuzz as the arguments say; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack.fuzz")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--only", action="append")
    parser.add_argument("--again", type=Path)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument(ONE, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return fuzzed(options.one, options.minutes, options.seed)
    from benchmarks.attack.fuzz.targets import TARGETS, tried

    names = options.only or list(TARGETS)
    if options.again is not None:
        with tempfile.TemporaryDirectory() as root:
            print("taken" if tried(TARGETS[names[0]].prepared(Path(root)), options.again.read_bytes()) else "refused")
        return 0
    failed = [name for name in names if not _in_a_process(name, options.minutes, options.seed)]
    print(f"fuzz: {len(failed)} targets with faults {failed}" if failed else "fuzz: 0 faults", file=sys.stderr)
    return 1 if failed else 0


def _in_a_process(name: str, minutes: float, seed: int) -> bool:
    options = [ONE, name, "--minutes", str(minutes), "--seed", str(seed)]
    command = [sys.executable, "-m", "benchmarks.attack.fuzz", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryFile("w+") as said:
        code = subprocess.run(command, stderr=said, env=environment, check=False).returncode
        said.seek(0)
        lines = said.read().splitlines()
    tail = [line for line in lines if line.startswith("fuzz: ")] if not code else lines[-25:]
    print("\n".join(tail), file=sys.stderr, flush=True)
    return code == 0


def fuzzed(name: str, minutes: float, seed: int) -> int:
    """Fuzz one target in this process. It ends by itself when the time is over."""
    import atheris

    with atheris.instrument_imports(include=["smartcl"], enable_loader_override=False):
        from benchmarks.attack.fuzz.targets import TARGETS, scratch_root, tried

    target = TARGETS[name]
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", RuntimeWarning)
    root = Path(tempfile.mkdtemp(prefix=f"smartcl-fuzz-{name}-", dir=scratch_root()))
    corpus = root / "corpus"
    corpus.mkdir()
    for number, data in enumerate(target.seeds()):
        (corpus / f"seed-{number}").write_bytes(data)
    attempt = target.prepared(root)
    begin, tries, taken, at_first = time.process_time(), 0, 0, 0

    def once(data: bytes) -> None:
        nonlocal tries, taken, at_first
        taken += tried(attempt, data)
        tries += 1
        passed = (time.process_time() - begin) / 60 / minutes
        if passed > 0.1 and not at_first:
            at_first = _resident()
        if passed > 1:
            _end(name, tries, taken, at_first, time.process_time() - begin, root)

    FAULTS.mkdir(exist_ok=True)
    atheris.Setup(
        [
            *(sys.argv[0], str(corpus), f"-seed={seed % 2**31}", f"-timeout={SECONDS}", f"-rss_limit_mb={MOST_MB}"),
            *(f"-artifact_prefix={FAULTS}/{name}-", "-max_len=4096", "-verbosity=0"),
        ],
        once,
    )
    atheris.Fuzz()
    return 0


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _end(name: str, tries: int, taken: int, at_first: int, seconds: float, root: Path) -> None:
    """Say what was done, and end: libFuzzer would go on."""
    import shutil

    kept, now = len(list((root / "corpus").iterdir())), _resident()
    grew = now > at_first * (1 + GROWTH_SHARE) + GROWTH_BYTES
    shutil.rmtree(root, ignore_errors=True)
    print(
        f"fuzz: {name}: {tries:,} inputs in {seconds:.0f} s, {taken:,} taken, {kept:,} kept for new coverage, "
        f"{at_first / 1e6:.0f} MB after a tenth of the time and {now / 1e6:.0f} MB at the end"
        + (": memory grows" if grew else ""),
        file=sys.stderr,
        flush=True,
    )
    os._exit(1 if grew else 0)


if __name__ == "__main__":
    sys.exit(main())
