"""A table's model by itself, for tables of numbers: from raw columns, with what is missing, to probabilities."""

from __future__ import annotations

import os

import numpy as np
import torch
from torch import nn

from smartcl.columns.column_schema import NUMBER, TRUTH
from smartcl.columns.row_encoder import RowEncoder
from smartcl.network.onnx_graph import INPUT, Graph
from smartcl.network.plain import PlainNetwork

#: This number of rows after the last label nothing is known of the newest labels any more.
LONG_AFTER = 10_000


class PlainTable(nn.Module):
    """Takes one column for each number of the table, in its order, NaN where it is missing.

    ``columns`` are their names; ``order`` puts values, the words "missing", and what else a row has where the network
    has its features: the rate of the last labels, which is not known, columns that are left out because they only rise,
    and how many values are missing of which no word tells.
    """

    fill: torch.Tensor
    says: torch.Tensor
    counted: torch.Tensor
    late: torch.Tensor
    order: torch.Tensor

    def __init__(self, encoder: RowEncoder, network: PlainNetwork) -> None:
        super().__init__()
        schema = encoder.schema
        stranger = next((column for column in schema.used if column.kind not in (NUMBER, TRUTH)), None)
        if stranger is not None:
            raise ValueError(
                f"only a table of numbers can go by itself: {stranger.name!r} is a {stranger.kind}; "
                f"a code is a number alone with --numeric {stranger.name!r}"
            )
        self.columns = [column.name for column in schema.used]
        says = [place for place, column in enumerate(schema.used) if column.missing]
        names = [*self.columns, *(f"{self.columns[place]} is missing" for place in says)]
        rising = encoder.only_rising
        names += [*schema.feature_names[-1 - schema.rates : -1], *rising, schema.feature_names[-1]]
        fills = torch.tensor([encoder.fill_of(name) for name in rising], dtype=torch.float32)
        counted = torch.tensor([[float(not column.missing)] for column in schema.used])
        late = torch.cat([torch.from_numpy(encoder.late(np.full(1, LONG_AFTER))[0]), fills])
        self.register_buffer("fill", torch.tensor([column.fill for column in schema.used], dtype=torch.float32))
        self.register_buffer("says", torch.tensor(says, dtype=torch.int64))
        self.register_buffer("counted", torch.cat([torch.zeros(len(schema.used), len(late)), counted], dim=1))
        self.register_buffer("late", torch.cat([late, torch.zeros(1)]))
        places = {name: place for place, name in enumerate(names)}
        order = [places[name] for name in schema.feature_names]
        self.register_buffer("order", torch.tensor(order, dtype=torch.int64))
        self.network = network

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        lost = rows.isnan()
        filled = torch.where(lost, self.fill, rows)
        words, others = lost.float().index_select(1, self.says), lost.float() @ self.counted + self.late
        features = torch.cat([filled, words, others], dim=1)
        probabilities: torch.Tensor = self.network(features.index_select(1, self.order))
        return probabilities

    def save_onnx(self, path: str | os.PathLike[str], classes: list[str]) -> None:
        """The same as an ONNX file."""
        graph = Graph()
        lost = graph.apply("IsNaN", INPUT)
        filled = graph.apply("Where", lost, graph.constant(self.fill), INPUT)
        there = graph.apply("Cast", lost, to=1)
        words = graph.apply("Gather", there, graph.constant(self.says), axis=1)
        others = graph.apply("Gemm", there, graph.constant(self.counted), graph.constant(self.late))
        joined = graph.apply("Concat", filled, words, others, axis=1)
        features = graph.apply("Gather", joined, graph.constant(self.order), axis=1)
        graph.save(path, graph.network(features, self.network), len(self.columns), classes, columns=self.columns)
