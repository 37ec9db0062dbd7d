"""Budget: the number of bytes that a memory may take."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral

#: The budget of a memory without one, and what a result reports for it.
UNBOUNDED = 2**63 - 1

_UNITS = {
    "": 1, "b": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9,
    "kib": 2**10, "mib": 2**20, "gib": 2**30,
}  # fmt: skip
_FORM = re.compile(r"\s*([\d_]*\.?[\d_]+)\s*([a-z]*)\s*", re.IGNORECASE | re.ASCII)
_ALLOWED = 'a positive int of bytes, a size such as "4096", "500 kB", "1.5 MB" or "1 GiB", or "300 samples"'


@dataclass(frozen=True)
class Budget:
    """The bytes a memory may take, all it stores included.

    >>> Budget.parse("1MB", sample_nbytes=784)
    Budget(nbytes=1000000)
    >>> Budget.parse("300 samples", sample_nbytes=784)
    Budget(nbytes=235200)
    """

    nbytes: int

    def __post_init__(self) -> None:
        if self.nbytes <= 0:
            raise _refusal(self.nbytes)

    @property
    def is_unbounded(self) -> bool:
        return self.nbytes >= UNBOUNDED

    @classmethod
    def parse(cls, memory: str | int, sample_nbytes: int) -> Budget:
        """Read the user's ``memory``; a sample counts ``sample_nbytes``, its full size in the stream's dtype."""
        try:
            nbytes = _size_of(memory, sample_nbytes) if isinstance(memory, str) else _whole(memory)
            return cls(min(nbytes, UNBOUNDED))
        except (ArithmeticError, LookupError, TypeError, ValueError):
            raise _refusal(memory) from None


def format_bytes(nbytes: int) -> str:
    """A size to read: three digits and a decimal unit.

    >>> [format_bytes(n) for n in (512, 998_123, 1_234_567, UNBOUNDED)]
    ['512 B', '998 kB', '1.23 MB', 'no limit']
    """
    if nbytes >= UNBOUNDED:
        return "no limit"
    size = float(nbytes)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3f}".rstrip("0").rstrip(".") + " TB"


def _size_of(text: str, sample_nbytes: int) -> int:
    form = _FORM.fullmatch(text)
    if form is None:
        raise ValueError(text)
    number, unit = Decimal(form[1]), form[2].lower()
    return int(number * (sample_nbytes if unit in ("sample", "samples") else _UNITS[unit]))


def _whole(memory: object) -> int:
    if isinstance(memory, bool) or not isinstance(memory, Integral):
        raise TypeError(memory)
    return int(memory)  # whole numbers of NumPy too


def _refusal(memory: object) -> ValueError:
    return ValueError(f"memory must be {_ALLOWED}; got {memory!r}")
