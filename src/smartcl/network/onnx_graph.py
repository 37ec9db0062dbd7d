"""A plain network as an ONNX file, written node by node: it needs the package onnx and nothing else."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from smartcl.errors import extra
from smartcl.network.plain import PlainModule, PlainNetwork
from smartcl.saving.atomic import write_file
from smartcl.saving.persistence import path_of

#: The operators are those of this version; the file can be read by any runtime since 2022.
OPSET, IR_VERSION = 17, 8
INPUT, OUTPUT = "rows", "probabilities"
#: ONNX's numbers for two types.
FLOAT, DOUBLE = 1, 11


class Graph:
    """Nodes and constants in the making; every step takes the name of a value and gives the name of the next."""

    def __init__(self) -> None:
        self._onnx = extra("onnx", "onnx")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: torch.Tensor) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(value.detach().numpy()), name))
        return name

    def apply(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def network(self, rows: str, network: PlainNetwork) -> str:
        """The nodes of a plain network."""
        if isinstance(network, PlainModule):
            raise ValueError("a network of one's own cannot be written as ONNX here: give to_torch() to torch.onnx")
        values = self._scaled(rows, network)
        for number, layer in enumerate(network.layers):
            assert isinstance(layer, nn.Linear)
            given = values if number == 0 else self.apply("Relu", values)
            values = self.apply("Gemm", given, self.constant(layer.weight), self.constant(layer.bias), transB=1)
        return self.apply("Softmax", values, axis=1)

    def _scaled(self, rows: str, network: PlainNetwork) -> str:
        """The nodes that centre and scale rows, in double precision, and take the logarithm of what is far out."""
        centred = self.apply("Sub", self.apply("Cast", rows, to=DOUBLE), self.constant(network.centre))
        scaled = self.apply("Div", centred, self.constant(network.width))
        if math.isfinite(network.linear):
            linear, one = (self.constant(torch.tensor(number).double()) for number in (network.linear, 1.0))
            size = self.apply("Abs", scaled)
            far = self.apply("Max", self.apply("Sub", size, linear), self.constant(torch.tensor(0.0).double()))
            grown = self.apply("Add", self.apply("Min", size, linear), self.apply("Log", self.apply("Add", far, one)))
            scaled = self.apply("Mul", self.apply("Sign", scaled), grown)
        return self.apply("Cast", scaled, to=FLOAT)

    def save(self, path: str | os.PathLike[str], result: str, width: int, classes: Sequence[str], **about: Any) -> None:
        """Write the graph that ends in ``result``; the classes stand in its metadata."""
        helper, kind = self._onnx.helper, self._onnx.TensorProto.FLOAT
        self.nodes.append(helper.make_node("Identity", [result], [OUTPUT]))
        graph = helper.make_graph(
            self.nodes,
            "smartcl",
            [helper.make_tensor_value_info(INPUT, kind, ["n", width])],
            [helper.make_tensor_value_info(OUTPUT, kind, ["n", len(classes)])],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="smartcl")
        model.ir_version = IR_VERSION
        told = {"classes": list(classes), **about}
        helper.set_model_props(model, {name: json.dumps(value) for name, value in told.items()})
        self._onnx.checker.check_model(model)
        write_file(path_of(path, "path"), model.SerializeToString())


def save_network(network: PlainNetwork, path: str | os.PathLike[str], classes: Sequence[str]) -> None:
    """A plain network as an ONNX file."""
    graph = Graph()
    graph.save(path, graph.network(INPUT, network), network.n_features, classes)
