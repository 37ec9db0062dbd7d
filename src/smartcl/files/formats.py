"""The formats of files, and the endings of names that tell them."""

from __future__ import annotations

CSV, JSONL, PARQUET, LIBSVM = FORMATS = ("csv", "jsonl", "parquet", "libsvm")
ENDINGS = {
    **{".csv": CSV, ".tsv": CSV, ".jsonl": JSONL, ".ndjson": JSONL, ".parquet": PARQUET, ".pq": PARQUET},
    **{".libsvm": LIBSVM, ".svm": LIBSVM, ".svmlight": LIBSVM},
}
PACKED = (".gz", ".zst", ".zstd")
