"""What an import loads, counted in an interpreter of its own: who wants a memory does not pay for the paper."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module

import smartcl
from smartcl.learners.factory import Builder, Method
from smartcl.learners.methods import OURS

#: What the memory stands on.
BENEATH_MEMORY = {
    *("smartcl", "smartcl.data", "smartcl.errors", "smartcl.lazy", "smartcl.settings", "smartcl.saving"),
    *("smartcl.saving.references", "smartcl.saving.saved"),
}
#: What a memory is made of, and beneath it: past it, something was loaded that a memory does not need.
MOST_MODULES = 34
#: Files that a table is shown with, half of the 192 before results were one file a data set.
MOST_TO_SHOW = 96

TOOLS_AND_PAPER = ("smartcl.cli", "smartcl.events", "smartcl.files", "smartcl.paper")
NOT_FOR_EVERYBODY = {"onnx", "piqp", "pyarrow", "ray", "river", "rich", "typer"}


def loaded(before: str, statement: str) -> set[str]:
    """The modules that a statement loads beyond what another has loaded before it."""
    code = (
        f"import sys, json; {before}; there = set(sys.modules); {statement}; "
        "print(json.dumps(sorted(set(sys.modules) - there)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def packages(modules: set[str]) -> set[str]:
    """The third-party packages among modules: a compiled one's inner modules are not called after it."""
    tops = {module.split(".")[0] for module in modules}
    return {top for top in tops if not top.startswith("_")} - set(sys.stdlib_module_names) - {"smartcl"}


def test_a_memory_needs_numpy_scipy_and_torch_only() -> None:
    found = loaded("import numpy, scipy.sparse, torch", "from smartcl.memory import SchematicMemory")
    ours = {module for module in found if module.split(".")[0] == "smartcl"}
    others = {module for module in ours if not module.startswith(("smartcl.memory", "smartcl.data"))}
    assert others <= BENEATH_MEMORY
    assert len(ours) <= MOST_MODULES, sorted(ours)
    assert packages(found) == set()


def test_a_memory_is_to_be_had_from_its_package() -> None:
    from smartcl import memory

    assert {name for name in memory.__all__ if not hasattr(memory, name)} == set()
    wanted = {"Budget", "FeatureWatch", "Pool", "SchematicMemory", "SampleStore", "Schema", "Selection", "Selector"}
    assert wanted | {"format_bytes"} <= set(memory.__all__)


def test_a_public_name_loads_what_it_is_made_of_and_no_more() -> None:
    assert "smartcl.memory.schematic_memory" not in loaded("pass", "import smartcl.memory; smartcl.memory.Budget")
    assert packages(loaded("pass", "from smartcl.memory import Budget, format_bytes")) == set()
    found = loaded("pass", "from smartcl.data import Batch")
    assert {module for module in found if module.startswith("smartcl.")} <= {
        *("smartcl.data", "smartcl.data.batch", "smartcl.lazy"),
    }


def test_every_public_name_is_there() -> None:
    names = [name for name in smartcl.__all__ if getattr(smartcl, name, None) is None]
    assert (names, "SmartClassifier" in smartcl.__all__) == ([], True)
    assert set(smartcl.__all__) | {"__version__"} <= set(dir(smartcl))
    assert smartcl.SmartClassifier is import_module("smartcl.estimator").SmartClassifier


def test_the_estimator_loads_neither_tools_nor_paper() -> None:
    # scikit-learn itself loads pandas, and with it pyarrow, wherever they are installed
    found = loaded("import torch, sklearn.utils.validation", "import smartcl; smartcl.SmartClassifier")
    assert {module for module in found if module.startswith(TOOLS_AND_PAPER)} == set()
    assert packages(found) & NOT_FOR_EVERYBODY == set()
    assert "smartcl.estimator" in found


def test_the_first_call_does_not_wait_for_sympy() -> None:
    learn = "model = smartcl.SmartClassifier().fit(np.eye(60), np.arange(60) % 2); model.predict_proba(np.eye(60))"
    found = loaded("import numpy as np, smartcl; smartcl.SmartClassifier", learn)
    assert "smartcl.learners.adaptive" in found
    assert packages(found) & {"mpmath", "sympy"} == set()


def test_a_method_is_loaded_when_a_learner_is_built() -> None:
    modules = {f"smartcl.learners.{place_of(method).partition(':')[0]}" for method in OURS.values()}
    assert loaded("pass", "import smartcl; smartcl.SmartClassifier()") & modules == set()
    names = "from smartcl.learners.methods import METHODS; "
    known = loaded("pass", f"{names} [method.parameters for method in METHODS.values()]")
    assert known & modules == set()
    assert "torch" not in packages(known)
    asked_for = loaded("pass", f"{names} METHODS['smart'].summary")
    assert asked_for & modules == {"smartcl.learners.smart"}


def place_of(method: Method) -> str:
    assert isinstance(method.build, Builder)
    return method.build.place


def test_every_method_has_its_builder() -> None:
    assert all(method.summary for method in OURS.values())


def test_results_that_are_there_are_shown_without_torch() -> None:
    show = (
        "import io, contextlib; from smartcl.cli.app import call; stdout = contextlib.redirect_stdout(io.StringIO()); "
    )
    show += "stdout.__enter__(); call(['reproduce', 'table1', '--show', '--json']); stdout.__exit__(None, None, None)"
    found = loaded("pass", show)
    assert packages(found) & {"torch", "sklearn"} == set()
    assert len({module for module in found if module.startswith("smartcl.")}) <= MOST_TO_SHOW
