"""A table's model by itself, for tables of numbers: from raw columns, with what is missing, to probabilities."""

from __future__ import annotations

import os

import numpy as np
import torch
from torch import nn

from smartcl.columns.column_schema import NUMBER, TRUTH, ColumnSchema
from smartcl.network.onnx_graph import INPUT, Graph
from smartcl.network.plain import PlainNetwork


class PlainTable(nn.Module):
    """Takes one column for each number of the table, in its order, NaN where it is missing.

    ``columns`` are their names; ``order`` puts values and the words "missing" where the network has its features.
    """

    fill: torch.Tensor
    says: torch.Tensor
    order: torch.Tensor

    def __init__(self, schema: ColumnSchema, network: PlainNetwork) -> None:
        super().__init__()
        stranger = next((column for column in schema.used if column.kind not in (NUMBER, TRUTH)), None)
        if stranger is not None or schema.sparse:
            name = stranger.name if stranger is not None else schema.label
            raise ValueError(f"only a table of numbers can go by itself: {name!r} is a column of another kind")
        self.columns = [column.name for column in schema.used]
        says = [place for place, column in enumerate(schema.used) if column.missing]
        names = [*self.columns, *(f"{self.columns[place]} is missing" for place in says)]
        self.register_buffer("fill", torch.tensor([column.fill for column in schema.used], dtype=torch.float32))
        self.register_buffer("says", torch.tensor(says, dtype=torch.int64))
        self.register_buffer(
            "order", torch.from_numpy(np.argsort([schema.feature_names.index(name) for name in names]))
        )
        self.network = network

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        lost = rows.isnan()
        filled = torch.where(lost, self.fill, rows)
        features = torch.cat([filled, lost.float().index_select(1, self.says)], dim=1)
        probabilities: torch.Tensor = self.network(features.index_select(1, self.order))
        return probabilities

    def save_onnx(self, path: str | os.PathLike[str], classes: list[str]) -> None:
        """The same as an ONNX file."""
        graph = Graph()
        lost = graph.apply("IsNaN", INPUT)
        filled = graph.apply("Where", lost, graph.constant(self.fill), INPUT)
        words = graph.apply("Gather", graph.apply("Cast", lost, to=1), graph.constant(self.says), axis=1)
        joined = graph.apply("Concat", filled, words, axis=1)
        features = graph.apply("Gather", joined, graph.constant(self.order), axis=1)
        graph.save(path, graph.network(features, self.network), len(self.columns), classes, columns=self.columns)
