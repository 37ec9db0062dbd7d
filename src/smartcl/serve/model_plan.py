"""Plan of a model where none is saved yet: settings, and columns, given or seen in the first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from smartcl.columns.column_schema import ColumnSchema
from smartcl.columns.nested import columns_of
from smartcl.columns.recognise import Told, recognised
from smartcl.columns.records import Records
from smartcl.columns.row_encoder import RowEncoder
from smartcl.data.spec import InputSpec
from smartcl.estimator import SmartClassifier
from smartcl.files.table_model import TableModel
from smartcl.files.training import FIRST_FOLLOWED


@dataclass(frozen=True)
class ModelPlan:
    """How a model is made that is not there yet: of a schema, or of its label's name and the first rows."""

    label: str = "label"
    memory: str | int = "1MB"
    seed: int = 0
    batch_size: int = 50
    schema: ColumnSchema | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    first_rows: int = FIRST_FOLLOWED

    def __post_init__(self) -> None:
        self._classifier()._asked(InputSpec(n_features=1, n_classes=2))  # settings that no model can have are refused

    @property
    def label_column(self) -> str:
        return self.label if self.schema is None else self.schema.label

    def columns(self, rows: Sequence[tuple[Mapping[str, Any], str]]) -> ColumnSchema:
        """What the columns are, or a ``ValueError`` if these rows do not show it."""
        if self.schema is not None:
            return self.schema
        flat = [{**row, self.label: label} for row, label in rows]
        return recognised(Records.of(columns_of(flat, None)), Told(self.label))

    def model(self, schema: ColumnSchema) -> TableModel:
        return TableModel(self._classifier(), RowEncoder(schema))

    def _classifier(self) -> SmartClassifier:
        return SmartClassifier(self.memory, batch_size=self.batch_size, random_state=self.seed, **dict(self.settings))
