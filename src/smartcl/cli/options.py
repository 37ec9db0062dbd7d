"""Options that several commands have, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smartcl.files.formats import FORMATS
from smartcl.learners.methods import OURS

#: The largest seed that every generator takes, scikit-learn's too.
MOST_SEED = 2**32 - 1


def methods_that_begin(incomplete: str) -> list[str]:
    """The names that a shell offers after ``--method``.

    >>> methods_that_begin("gss")
    ['gss-greedy', 'gss-iqp', 'gss-clust']
    """
    return [name for name in OURS if name.startswith(incomplete)]


Seed = Annotated[int, typer.Option(min=0, max=MOST_SEED, help="The seed of the data, the weights and the memory.")]
Memory = Annotated[str, typer.Option(help="'300 samples', '1MB' or a number of bytes.")]
Total = Annotated[
    str | None, typer.Option(help="Bound the whole state: '500kB' or a number of bytes; the method gets smaller.")
]
MethodName = Annotated[
    str, typer.Option(help="A method; 'smartcl methods' lists them.", autocompletion=methods_that_begin)
]
SettingsOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method; repeatable.")
]
Format = Annotated[str | None, typer.Option("--format", help=f"{', '.join(FORMATS)}; else by name.")]
#: What may be imported for a model of a folder.
Trust = Annotated[
    list[str] | None,
    typer.Option(metavar="MODULE", help="Import this module if the model's folder names code of it; repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DataOption = Annotated[Path | None, typer.Option(help="Where the data files are; else SMARTCL_DATA or the cache.")]
