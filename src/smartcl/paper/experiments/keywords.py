"""The case study of keywords: the features a run listens to most after each task, and which of them persist.

A run on a sparse stream notes its ``NOTED`` strongest features at the end of each task; a study is a view of them.
The runs of the keyword table are on words that have names, and on the paper's country.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from smartcl.paper.experiments.feature_ranking import TOP, Career, careers, top_features
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_table import EXACT_VALUES, Counted, Row, Table, results_of

if TYPE_CHECKING:
    from smartcl.learners.stream_learner import StreamLearner
    from smartcl.paper.datasets.task_stream import TaskStream

#: How many features a study notes after each task: the largest top that can be shown.
NOTED = 100

#: A forgetting strong enough to be seen. At the default, nearly none, every word keeps its weights, and the largest
#: belong to words seen twice: the optimizer moves a rare word's weights as far as a common one's.
FORGETFUL = {**EXACT_VALUES, "alpha": 0.003, "hidden": (100,), "iterations": 10}
MEMORY = {"newsgroups": "1MB", "civil-brazil": "300 samples"}

KEYWORD_RUNS = Table(
    "keywords",
    "The runs whose strongest features are shown",
    None,
    (Row("smart, forgetful", "smart", FORGETFUL),),
    tuple(MEMORY),
    lambda dataset: {"dataset": dataset, "memory": MEMORY[dataset]},
    {},
    seeds=1,
)


@dataclass(frozen=True)
class KeywordStudy:
    """The ``k`` strongest features after each task, by name, with the norm of their weights, and their careers."""

    title: str
    tasks: tuple[str, ...]
    tops: tuple[tuple[int, ...], ...]
    norms: tuple[tuple[float, ...], ...]
    names: dict[int, str]
    careers: tuple[Career, ...]

    @classmethod
    def of(cls, result: dict[str, Any], k: int = TOP) -> KeywordStudy:
        """The study of a run's result, cut to the ``k`` strongest."""
        if not 1 <= k <= NOTED:
            raise ValueError(f"k must be in 1..{NOTED}, what a study notes, got {k}")
        noted = result["keywords"]
        tops = tuple(tuple(top[:k]) for top in noted["features"])
        return cls(
            f"{result['spec']['method']} on {result['stream']}, {result['spec']['memory']}",
            tuple(noted["tasks"]),
            tops,
            tuple(tuple(row[:k]) for row in noted["norms"]),
            {int(feature): name for feature, name in noted["names"].items()},
            tuple(careers([np.array(top, dtype=np.int64) for top in tops])),
        )

    @property
    def fates(self) -> dict[int, str]:
        """The fate of each feature that was ever in the top."""
        return {career.feature: career.fate for career in self.careers}


class KeywordNotes:
    """Takes the first layer's group norms at the end of each task; a feature never seen has the norm zero."""

    def __init__(self, stream: TaskStream) -> None:
        self._stream = stream
        self._features: list[list[int]] = []
        self._norms: list[list[float]] = []
        self._listened: list[int] = []

    def after_task(self, number: int, learner: StreamLearner) -> None:
        norms = learner.feature_weights()
        top = top_features(norms, NOTED)
        self._features.append(top.tolist())
        self._norms.append([round(float(norm), 6) for norm in norms[top]])
        self._listened.append(int(np.count_nonzero(norms)))

    def as_dict(self) -> dict[str, Any]:
        names = feature_names(self._stream)
        seen = sorted({feature for top in self._features for feature in top})
        return {
            "tasks": list(task_names(self._stream)),
            "features": self._features,
            "norms": self._norms,
            "listened": self._listened,
            "names": {str(feature): names[feature] for feature in seen},
        }


def feature_names(stream: TaskStream) -> Sequence[str]:
    """The stream's own names, or each feature's number; the sparse streams without names are keywords."""
    kind = "keyword" if stream.spec.sparse else "feature"
    return stream.feature_names or [f"{kind} {number}" for number in range(stream.n_features)]


def task_names(stream: TaskStream) -> Sequence[str]:
    """The stream's own names of its tasks, or their numbers."""
    return stream.task_names or [f"task {number}" for number in range(1, len(stream.tasks) + 1)]


def keyword_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    """What a study is made of, for each run that noted it."""
    parts = ("keywords", "spec", "stream")
    made = [result for _, result in results_of(tables, results) if result.keys() >= set(parts)]
    return {"studies": [{part: result[part] for part in parts} for result in made]}
