"""Items of any shape and dtype: flat rows for a memory, and read back in the shape and dtype they came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy import sparse

from smartcl.data.batch import Rows, tensor_of
from smartcl.saving.saved import Saved

#: What may be added: a tensor or an array with one item in each row, or rows of SciPy's sparse formats.
Items: TypeAlias = "torch.Tensor | ArrayLike | sparse.sparray | sparse.spmatrix"

#: Dtypes all of whose numbers are exact in single precision, in which a memory writes them ...
ALWAYS_EXACT = ("bool", "uint8", "int8", "uint16", "int16", "float16", "bfloat16", "float32")
#: ... and those of which some are: whole numbers up to this size, and what a float32 holds of a float64.
SOMETIMES_EXACT = ("int32", "uint32", "int64", "uint64", "float64")
LARGEST_WHOLE = 2**24


@dataclass(frozen=True)
class ItemForm:
    """What all items of a memory have in common.

    >>> form = ItemForm.of(np.zeros((5, 1, 28, 28), dtype=np.uint8))
    >>> form.shape, form.dtype, form.n_features
    ((1, 28, 28), 'uint8', 784)
    >>> form.items(torch.zeros(2, 784)).shape
    torch.Size([2, 1, 28, 28])
    """

    shape: tuple[int, ...]
    dtype: str
    sparse: bool

    def __str__(self) -> str:
        return f"{'sparse ' * self.sparse}{self.dtype} of shape {self.shape}"

    @classmethod
    def of(cls, x: Items) -> ItemForm:
        """The form of the items in ``x``, or one line that says why they cannot be kept."""
        return cls._of(as_rows(x))

    @classmethod
    def _of(cls, values: Any) -> ItemForm:
        if values.ndim < 1 or not np.prod(values.shape[1:], dtype=object):
            raise ValueError(f"x must have one item in each row, got the shape {tuple(values.shape)}")
        dtype = str(values.dtype).removeprefix("torch.")
        if dtype not in (*ALWAYS_EXACT, *SOMETIMES_EXACT):
            raise ValueError(f"x must hold {', '.join((*ALWAYS_EXACT, *SOMETIMES_EXACT))}, got {dtype}")
        return cls(tuple(values.shape[1:]), dtype, not isinstance(values, torch.Tensor))

    @property
    def n_features(self) -> int:
        """The numbers in an item."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def numpy_dtype(self) -> str:
        """A dtype of NumPy's that takes as many bytes."""
        return "float16" if self.dtype == "bfloat16" else self.dtype

    @property
    def torch_dtype(self) -> torch.dtype:
        dtype: torch.dtype = getattr(torch, self.dtype)
        return dtype

    def rows(self, x: Items) -> Rows:
        """Items of this form as flat rows of numbers that single precision holds; others are refused."""
        values = as_rows(x)
        found = ItemForm._of(values)
        if found != self:
            raise ValueError(f"x must be {self}, as the items before; got {found}")
        numbers = values if isinstance(values, torch.Tensor) else tensor_of(values.data)
        _check_exact(numbers, self.dtype)
        return values.reshape(len(values), self.n_features) if isinstance(values, torch.Tensor) else values

    def items(self, rows: Rows) -> Any:
        """Rows read back, as items: a tensor, or a CSR array of what came sparse."""
        if not isinstance(rows, torch.Tensor):
            rounded = self._cast(torch.from_numpy(rows.data)).numpy()
            return sparse.csr_array((rounded, rows.indices, rows.indptr), shape=rows.shape)
        return self._cast(rows).reshape(len(rows), *self.shape)

    def state_dict(self) -> dict[str, Any]:
        return {"shape": list(self.shape), "dtype": self.dtype, "sparse": self.sparse}

    @classmethod
    def from_state(cls, saved: Saved) -> ItemForm:
        """The form that ``state_dict`` described."""
        shape, is_sparse = saved.items("shape"), saved.flag("sparse")
        if not all(type(size) is int and size > 0 for size in shape) or (is_sparse and len(shape) != 1):
            saved.refuse("shape", "must be whole numbers from 1 on, and one of them where items are sparse")
        return cls(tuple(shape), saved.choice("dtype", *ALWAYS_EXACT, *SOMETIMES_EXACT), is_sparse)

    def _cast(self, values: torch.Tensor) -> torch.Tensor:
        """Numbers in the items' dtype: levels of whole numbers are rounded to whole ones."""
        dtype = self.torch_dtype
        if dtype.is_floating_point:
            return values.to(dtype)
        if dtype != torch.bool:
            span = torch.iinfo(dtype)
            values = values.round().clamp(span.min, span.max)
        return values.to(dtype)


def as_rows(x: Any) -> Any:
    """What was given as a dense tensor on the CPU, or as a CSR array."""
    if sparse.issparse(x):
        matrix: Any = x
        rows = sparse.csr_array(matrix, copy=True)
        rows.sum_duplicates()
        return rows
    if not isinstance(x, torch.Tensor):
        array = np.asarray(x)
        if array.dtype.kind not in "biuf":
            raise ValueError(f"x must hold real numbers, got dtype {array.dtype}")
        return tensor_of(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")))
    if x.layout != torch.strided:
        raise ValueError(f"x must be a dense tensor or a SciPy sparse array, got a tensor of layout {x.layout}")
    return x.detach().cpu()


def _check_exact(values: torch.Tensor, dtype: str) -> None:
    if values.is_floating_point():
        if not bool(torch.isfinite(values).all()):
            raise ValueError("x must be finite: it contains NaN or infinity")
        if dtype == "float64" and not bool((values.float().double() == values).all()):
            raise ValueError("x holds numbers of float64 that single precision cannot hold: add x.float()")
    elif dtype in SOMETIMES_EXACT and bool((values.double().abs() > LARGEST_WHOLE).any()):
        raise ValueError(f"x holds whole numbers beyond {LARGEST_WHOLE:,}, which single precision cannot hold")
