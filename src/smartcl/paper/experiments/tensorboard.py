"""A result as a TensorBoard event file: what the run knew, held and did along the stream.

Written by tensorboardX (MIT; with protobuf 0.5 MB to download), since torch's own writer needs the whole of TensorBoard
with its server. TensorBoard itself is only for looking.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from smartcl.errors import extra
from smartcl.files.outputs import check_writable
from smartcl.paper.experiments.spec import RunSpec

Scalar = tuple[str, float, int]


def prepare_tensorboard(folder: Path) -> None:
    """Refuse before a run, not after it: the package is there, and the folder can be written."""
    _summary_writer()
    check_writable(folder)


def write_events(result: dict[str, Any], folder: Path) -> None:
    """Write the event file of a run into its own folder below ``folder``, in place of an older one."""
    run = RunSpec.from_dict(result["spec"])
    name = f"{run.method}-{run.memory}-{run.noise}-seed{run.seed}-{run.key}"
    target = folder / run.dataset / name.replace(" ", "-").replace(":", "-")
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as part:
        with _summary_writer()(part) as writer:
            for name, value, step in scalars(result):
                writer.add_scalar(name, value, step)
        (written,) = Path(part).iterdir()
        older = set(target.glob("events.out.tfevents.*"))
        made = written.replace(target / written.name)
    for path in older - {made}:
        path.unlink()


def _summary_writer() -> Any:
    return extra("tensorboardX", "tensorboard").SummaryWriter


def scalars(result: dict[str, Any]) -> Iterator[Scalar]:
    """Every value with its name and the number of batches seen; accuracies by the number of tasks learned."""
    last = result["accuracy_per_task"]
    matrix = dict(enumerate(result.get("accuracy_matrix", ()), start=1)) or {len(last): last}
    for learned, row in matrix.items():
        yield "accuracy/mean_of_tasks_seen", sum(row[:learned]) / learned, learned
        for number, accuracy in enumerate(row, start=1):
            yield f"accuracy/task_{number}", accuracy, learned
    for group, names in (
        ("memory", ("samples", "bytes", "features", "purity")),
        ("constraint", ("cosine",)),
    ):
        history = result.get(f"{group}_history") or {}
        for name in names:
            values = dict(zip(history.get("batches", ()), history.get(name, ()), strict=True))
            yield from ((f"{group}/{name}", value, batches) for batches, value in values.items() if value is not None)
