"""Files of the package that three walks cross: how many a reader opens to follow one of them.

A batch of the default learner and a row of a CSV file cross a file if they call a function in it, once the model has
learned a while; ``smartcl reproduce table1 --show`` loads it. ``--files`` prints the files too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

from benchmarks.timing import report

#: Files before the package was regrouped, of which half are wanted.
BEFORE = {"batch": 70, "row": 108, "show": 192}

CROSSED = """
import contextlib, io, json, sys
from pathlib import Path
import numpy as np
import smartcl

HOME = Path(smartcl.__file__).parent
crossed = set()

def called(frame, event, argument):
    if event == "call":
        crossed.add(frame.f_code.co_filename)

@contextlib.contextmanager
def walk():
    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(None)

def files():
    return sorted(str(Path(name).relative_to(HOME)) for name in crossed if name.startswith(f"{HOME}/"))

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 8))
y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
"""

WALKS = {
    "batch": CROSSED
    + """
model = smartcl.SmartClassifier("20kB", random_state=0).partial_fit(X[:1900], y[:1900])
with walk():
    model.partial_fit(X[1900:1950], y[1900:1950])
print(json.dumps(files()))
""",
    "row": CROSSED
    + """
path = Path(sys.argv[1]) / "rows.csv"
names = [f"c{n}" for n in range(8)]
lines = [",".join([*names, "label"])]
lines += [",".join([*(f"{value:.3f}" for value in row), "ab"[label]]) for row, label in zip(X, y)]
path.write_text("\\n".join(lines[:1951]) + "\\n")
out = Path(sys.argv[1]) / "model"
smartcl.train_stream(path, "label", out=out, memory="20kB", random_state=0)
path.write_text("\\n".join(lines) + "\\n")
with walk():
    smartcl.train_stream(path, "label", out=out, resume=True)
print(json.dumps(files()))
""",
    "show": """
import contextlib, io, json, sys
from pathlib import Path
from smartcl.cli.app import call
with contextlib.redirect_stdout(io.StringIO()):
    call(["reproduce", "table1", "--show", "--json"])
import smartcl
HOME = Path(smartcl.__file__).parent
found = [m.__file__ for name, m in sys.modules.items() if name.partition(".")[0] == "smartcl" and m.__file__]
print(json.dumps(sorted(str(Path(name).relative_to(HOME)) for name in found)))
""",
}
FIGURES = {
    "batch": "files that a batch by default crosses",
    "row": "files that rows added to a CSV file cross on their way into the model",
    "show": "files that reproduce table1 --show loads",
}


def walked(name: str) -> list[str]:
    """The files of a walk, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", WALKS[name], folder], stdout=subprocess.PIPE, text=True, check=True
        )
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    found = {name: walked(name) for name in FIGURES}
    if "--files" in sys.argv:
        for name, files in found.items():
            print(f"{name}:", *files, sep="\n  ", file=sys.stderr)
    report(*((figure, len(found[name]), f"<= {BEFORE[name] // 2}") for name, figure in FIGURES.items()))


if __name__ == "__main__":
    main()
