"""The models of a service: one, or one for each key, opened when asked for and closed when there is no room."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, unquote

from smartcl.saving.persistence import INDEX
from smartcl.serve.limits import Keeping, Limits
from smartcl.serve.model_plan import ModelPlan
from smartcl.serve.refusals import RefusedError
from smartcl.serve.served_model import FOLDER, Counts, ServedModel
from smartcl.serve.threads import JournalThread, LearnerThread

T = TypeVar("T")

#: Models by key that are open at the most: each holds two files, and a process may usually have 1,024.
MOST_OPEN = 250
#: Seconds after which it is looked whether models that are open have outgrown the room.
LOOK_SECONDS = 0.5
#: A file name may have 255 bytes, and the column's name stands before the key.
LONGEST_NAME = 200


@dataclass
class Open:
    """A model that is open: how many requests use it now, and when it was last asked for."""

    model: ServedModel
    users: int = 0
    used_at: float = 0.0


@dataclass
class Models:
    """One model in ``folder`` or, with ``per``, one for each value of that column in folders ``per=value``.

    Models by key are held open as long as their bytes are within ``room``; the least used are saved and closed.
    """

    folder: Path
    plan: ModelPlan
    limits: Limits
    keeping: Keeping
    per: str | None = None
    room: int = 1_000_000_000
    opened: int = 0
    closed: int = 0
    #: What models that are closed have counted.
    gone: Counts = field(default_factory=Counts)
    _open: dict[str | None, Open] = field(default_factory=dict)
    #: Held by who opens or closes: other requests of open models do not wait for it.
    _opening: threading.Lock = field(default_factory=threading.Lock)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ending: bool = False

    def __post_init__(self) -> None:
        self.learner, self.journals = LearnerThread(), JournalThread(self.keeping.sync_seconds)
        self.learner.start()
        self.journals.start()
        self._ended = threading.Event()
        if self.per is not None:
            threading.Thread(target=self._keep_room, name="smartcl-room", daemon=True).start()
        self._keys = sum(1 for _ in self.folder.glob(f"{quote(self.per or '', safe='')}=*")) if self.per else 0

    @contextmanager
    def use(self, key: str | None, new: bool = False) -> Iterator[ServedModel]:
        """The model of a key, which stays open inside; ``new`` ones are begun if they are not there."""
        held = self._held(key) or self._opened(key, new)
        try:
            yield held.model
        finally:
            with self._lock:
                held.users -= 1
                held.used_at = time.monotonic()

    def is_open(self, key: str | None) -> bool:
        """Whether asking for this model takes no loading."""
        return key in self._open

    def now(self) -> list[tuple[str | None, ServedModel]]:
        """The models that are open."""
        with self._lock:
            return [(key, each.model) for key, each in self._open.items()]

    def call(self, work: Callable[[], T]) -> Future[T]:
        """Do this on the learner's thread, between two steps."""
        return self.learner.call(work)

    def keys(self) -> list[str]:
        """The keys of all models on the disk."""
        prefix = f"{quote(self.per or '', safe='')}="
        return sorted(unquote(path.name.removeprefix(prefix)) for path in self.folder.glob(f"{prefix}*"))

    def end(self) -> None:
        """Learn what waits, save and close all, and end the threads."""
        self._ended.set()
        with self._opening:
            self._ending = True
            for key, each in list(self._open.items()):
                self._close(key, each)
        self.learner.end()
        self.journals.end()

    def _held(self, key: str | None) -> Open | None:
        with self._lock:
            held = self._open.get(key)
            if held is not None:
                held.users += 1
            return held

    def _opened(self, key: str | None, new: bool) -> Open:
        folder = self._folder_of(key)
        with self._opening:
            held = self._held(key)
            if held is not None:
                return held
            if self._ending:
                raise RefusedError(503, "the service is ending", 5.0)
            if key is not None:
                self._check_key(key, folder, new)
                self._make_room(1)
            model = ServedModel(folder, self.plan, self.limits, self.keeping, self._wake, self.learner.wake)
            held = Open(model, users=1)
            with self._lock:
                self._open[key] = held
            self.opened += 1
            self.learner.add(model)
            return held

    def _folder_of(self, key: str | None) -> Path:
        if self.per is None or key is None:
            return self.folder
        name = f"{quote(self.per, safe='')}={quote(key, safe='')}"
        if len(name) > LONGEST_NAME:
            raise RefusedError(422, f"the {self.per} is too long for the name of a folder")
        return self.folder / name

    def _check_key(self, key: str, folder: Path, new: bool) -> None:
        if (folder / INDEX).is_file() or (folder / FOLDER).is_dir():
            return
        if not new:
            raise RefusedError(
                404, f"there is no model of {self.per} {key!r} yet: it begins with its first labelled rows"
            )
        if self._keys >= self.limits.keys:
            raise RefusedError(422, f"there are {self._keys:,} models by {self.per}, as many as there may be")
        self._keys += 1

    def _keep_room(self) -> None:
        """Models grow while they learn: look now and then whether all together have room."""
        while not self._ended.wait(LOOK_SECONDS):
            with self._opening:
                if not self._ending:
                    self._make_room(0)

    def _make_room(self, more: int) -> None:
        """Close the least used models until the others leave room for ``more`` models of their size."""
        with self._lock:
            idle = sorted((each.used_at, key) for key, each in self._open.items() if not each.users and key is not None)
            sizes = {key: each.model.nbytes for key, each in self._open.items()}
        total = sum(sizes.values())
        usual = total / len(sizes) if sizes else 0.0
        for _, key in idle:
            if total + more * usual <= self.room and len(self._open) + more <= MOST_OPEN:
                return
            with self._lock:
                each = self._open[key]
                if each.users:
                    continue
                del self._open[key]
            total -= sizes[key]
            self._end_of(each)

    def _close(self, key: str | None, each: Open) -> None:
        with self._lock:
            del self._open[key]
        self._end_of(each)

    def _end_of(self, each: Open) -> None:
        """Let the learner's thread finish with a model, and close it."""
        self.learner.remove(each.model)
        self.learner.call(each.model.close).result()
        self.closed += 1
        for name, count in vars(each.model.counts).items():
            setattr(self.gone, name, getattr(self.gone, name) + count)

    def _wake(self, model: ServedModel) -> None:
        self.journals.wake(model.sync, id(model))
