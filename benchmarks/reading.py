"""What reading costs: a CSV of 100 numeric columns with learning off, and the share of reading in a training."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.timing import report
from smartcl.columns.recognise import Told, recognised
from smartcl.columns.row_encoder import Encoder, Odd
from smartcl.files.blocks import first_rows, steps
from smartcl.files.file_source import FileSource
from smartcl.files.training import FIRST_ROWS, train_stream

ROWS, COLUMNS, BATCH, LEARNED = 100_000, 100, 50, 3_000


def write(path: Path, rows: int) -> None:
    """Numbers with four decimals, a name for a label."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        print(*(f"c{number}" for number in range(COLUMNS)), "label", sep=",", file=file)
        for row in rng.normal(size=(rows, COLUMNS)).round(4).tolist():
            print(*row, "up" if row[0] > row[1] else "down", sep=",", file=file)


def seconds_to_read(path: Path) -> float:
    """Of the processor: from bytes to batches of features, after the first rows, which load what reading takes."""
    blocks = FileSource((str(path),)).blocks({})
    first, records = first_rows(blocks, FIRST_ROWS)
    encoder = Encoder(recognised(records, Told("label")))
    list(steps(first, encoder, BATCH))
    begin, odd = time.process_time(), Odd()
    rows = 0
    for step in steps(blocks, encoder, BATCH):
        rows += encoder.encode(step.rows, odd).shape[0]
    return (time.process_time() - begin) / rows


if __name__ == "__main__":
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as root:
        path, few = Path(root) / "many.csv", Path(root) / "few.csv"
        write(path, ROWS)
        write(few, LEARNED)
        reading = seconds_to_read(path)
        begin = time.process_time()
        train_stream(few, "label", random_state=0)
        training = (time.process_time() - begin) / LEARNED
    report(
        ("rows per second with learning off, 100 numeric columns", 1 / reading, ">= 50,000"),
        ("share of reading in the time of a training", reading / training, "<= 0.25"),
    )
