"""The state of a running training in a small file, for whoever watches from another process."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from smartcl.account.named_scores import percent
from smartcl.files.table_model import TableModel
from smartcl.memory import format_bytes
from smartcl.saving.saved import Saved

LIVE = "progress.json"


@dataclass(frozen=True)
class Live:
    """How a training stands: at ``time``, in the process ``pid``, ``done`` if it has ended."""

    rows: int
    rows_per_second: float
    accuracy: float | None
    recent_accuracy: float | None
    #: Accuracy of the two simplest rules, and the area under the curve.
    commonest: float | None
    last: float | None
    auc: float | None
    samples_held: int
    memory_bytes: int
    budget_bytes: int
    skipped: int
    time: float
    pid: int
    done: bool

    @classmethod
    def of(cls, model: TableModel, rows_per_second: float, done: bool = False) -> Live:
        progress, memory = model.progress, model.classifier.memory_
        scores = model.scores_.overall
        return cls(
            progress.rows,
            rows_per_second,
            scores.accuracy,
            model.scores_.last_tenth.accuracy,
            scores.commonest,
            scores.last,
            scores.auc,
            len(memory),
            memory.store.nbytes,
            memory.budget.nbytes,
            sum(progress.skipped.values()),
            time.time(),
            os.getpid(),
            done,
        )

    def line(self) -> str:
        """For people."""
        accuracy = ""
        if self.accuracy is not None:
            simplest = f"commonest {percent(self.commonest)}, last {percent(self.last)}"
            area = "" if self.auc is None else f", AUC {self.auc:.3f}"
            accuracy = f", accuracy {self.accuracy:.1%} ({simplest}), lately {percent(self.recent_accuracy)}{area}"
        skipped = f", {self.skipped:,} skipped" if self.skipped else ""
        memory = f"{self.samples_held:,} samples in {format_bytes(self.memory_bytes)}"
        return f"{self.rows:,} rows, {self.rows_per_second:,.0f} rows/s{accuracy}, {memory}{skipped}"

    def write(self, folder: Path) -> None:
        """Replace the file. Nothing depends on it: a disk that does not take it is no reason to stop."""
        part = folder / f".{LIVE}.{self.pid}.tmp"
        with suppress(OSError):
            try:
                part.write_text(json.dumps(asdict(self)))
                part.replace(folder / LIVE)
            finally:
                part.unlink(missing_ok=True)

    @classmethod
    def read(cls, folder: Path) -> Live | None:
        """The last that was written, if any."""
        try:
            saved = Saved(json.loads((folder / LIVE).read_bytes()), LIVE)
            accuracy, recent, commonest, last, auc = (
                saved.number(name, 0, 1) if saved.has(name) else None
                for name in ("accuracy", "recent_accuracy", "commonest", "last", "auc")
            )
            return cls(
                saved.whole("rows", 0),
                saved.number("rows_per_second", 0),
                accuracy,
                recent,
                commonest,
                last,
                auc,
                saved.whole("samples_held", 0),
                saved.whole("memory_bytes", 0),
                saved.whole("budget_bytes", 0),
                saved.whole("skipped", 0),
                saved.number("time"),
                saved.whole("pid", 0),
                saved.flag("done"),
            )
        except (OSError, ValueError, RecursionError):
            return None

    def is_alive(self) -> bool:
        """Whether the process that wrote this is there."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return True


class Pace:
    """Rows per second, over the last seconds."""

    def __init__(self, rows: int) -> None:
        self._points = [(time.monotonic(), rows)]

    def at(self, rows: int) -> float:
        now = time.monotonic()
        self._points = [*(point for point in self._points[-20:] if now - point[0] < 15), (now, rows)]
        (first, before), (last, after) = self._points[0], self._points[-1]
        return (after - before) / (last - first) if last > first else 0.0
