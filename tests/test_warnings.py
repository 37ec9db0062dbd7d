"""Nothing warns, whatever form rows come in. PyTorch warns once a process: each form has a forked one of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

#: The estimator, a learner, a memory alone, and a table, on rows of one form, all of them read-only.
SCRIPT = """
import os, pickle, sys, tempfile, traceback
import numpy as np, pandas as pd, torch
from scipy import sparse
from smartcl import ReplayMemory, SmartClassifier, train_stream
from smartcl.extend import Batch, InputSpec, build_learner

def fixed(array):
    array = array.copy(order="K")
    array.flags.writeable = False
    return array

def csr(dtype, index="int32", form=sparse.csr_array):
    def made(x):
        rows = form(np.where(x > 0, x * 9, 0).astype(dtype))
        parts = (rows.data, rows.indices.astype(index), rows.indptr.astype(index))
        rows = form(tuple(map(fixed, parts)), shape=rows.shape)
        for part in (rows.data, rows.indices, rows.indptr):
            part.flags.writeable = False
        return rows
    return made

def upside_down(x):
    rows = sparse.csr_array(np.where(x > 0, x, 0))
    for begin, end in zip(rows.indptr[:-1], rows.indptr[1:]):  # the columns of each row in the wrong order
        rows.indices[begin:end] = rows.indices[begin:end][::-1].copy()
    rows.has_sorted_indices = False
    for part in (rows.data, rows.indices, rows.indptr):
        part.flags.writeable = False
    return rows

FORMS = {
    **{kind: (lambda x, kind=kind: fixed((x * 20 + 100).astype(kind)))
       for kind in ("f2", "f4", ">f4", "f8", "u1", "i1", "i4", "i8", "u8", "?")},
    "writable": lambda x: x.copy(),
    "fortran": lambda x: fixed(np.asfortranarray(x)),
    "backwards": lambda x: fixed(x)[::-1],
    "strided": lambda x: fixed(np.repeat(x, 2, axis=1))[:, ::2],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
    "images": lambda x: fixed(np.repeat(x, 4, axis=1).reshape(-1, 1, 4, 5)),
    "frame": lambda x: pd.DataFrame(fixed(x), columns=list("abcde")),
    "list": lambda x: x.tolist(),
    "tensor": lambda x: torch.from_numpy(x.copy()),
    "csr f4": csr("f4"), "csr f4 i8": csr("f4", "int64"), "csr f8": csr("f8"), "csr u1": csr("u1"),
    "csr matrix": csr("f4", form=sparse.csr_matrix), "csr unsorted": upside_down,
}
def learn(name, method):
    form = FORMS[name]
    x = np.random.default_rng(0).normal(size=(120, 5)).astype(np.float32)
    y, ids, weight = (fixed(each) for each in (np.arange(120) % 2, np.arange(120), np.ones(120, np.float32)))
    settings = {"method": method, "random_state": 0}
    X = form(x)
    model = SmartClassifier("20kB", **settings)
    for _ in range(2):
        model.partial_fit(X, y, classes=fixed(np.array([0, 1])), sample_weight=weight, ids=ids)
    assert model.predict_proba(X).shape == (120, 2)
    model.score(X, y, sample_weight=weight)
    model.forget(ids[:3])
    model.forget(ids[:9], retrain_from_memory=True)
    model.memory_.export()
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        SmartClassifier.load(folder).predict(X)
    pickle.loads(pickle.dumps(model)).partial_fit(X, y, sample_weight=weight, ids=ids)
    repr(model), repr(model.memory_)
    SmartClassifier("20kB", class_weight="balanced", **settings).fit(X, y).predict(X)
    if not isinstance(X, (list, pd.DataFrame)):
        memory = ReplayMemory("20kB")
        memory.add(X, y, logits=fixed(x))
        memory.sample(8)
    if sparse.issparse(X) and X.dtype == np.float32:
        learner = build_learner(method, InputSpec(5, 2, sparse=True), "20kB")
        learner.observe(Batch(sparse.csr_array(X), torch.arange(120) % 2))
        learner.predict_proba(sparse.csr_array(X))
    if isinstance(X, pd.DataFrame):
        table = train_stream(X.assign(label=np.where(y, "a", "b")), "label", **settings)
        table.predict(X)

for method in ("smart", "adaptive"):
    learn("writable", method)  # what is imported late is imported before the processes part
for pair in sys.argv[1:]:
    child = os.fork()
    if not child:
        try:
            learn(*pair.split("/"))
        except BaseException:
            print(pair, traceback.format_exc(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
FORMS = (
    *("f2", "f4", ">f4", "f8", "u1", "i1", "i4", "i8", "u8", "?", "fortran", "backwards", "strided", "broadcast"),
    *("images", "frame", "list", "tensor", "csr f4", "csr f4 i8", "csr f8", "csr u1", "csr matrix", "csr unsorted"),
)


#: Those whose numbers a tensor could share: the default method takes another way to its features.
SHARED = ("f4", "u1", "fortran", "images", "csr f4 i8", "csr unsorted")


def test_nothing_warns(tmp_path: Path) -> None:
    pairs = [*(f"{form}/smart" for form in FORMS), *(f"{form}/adaptive" for form in SHARED)]
    script = tmp_path / "forms.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-W", "error", str(script), *pairs]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
