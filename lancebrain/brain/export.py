"""The chunks of an index, one record each, for other programs.

The texts of a document's records, joined in rank order, are its decoded file.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, BinaryIO, Literal

if TYPE_CHECKING:
    import pyarrow as pa

Format = Literal["jsonl", "csv", "parquet", "arrow"]

COLUMNS = (
    "path",
    "chunk_index",
    "rank",
    "kind",
    "domain",
    "role",
    "title",
    "heading_path",
    "line_start",
    "line_end",
    "text",
    "chunk_hash",
    "embedded",
)
"""Of a record, in all formats; see :data:`lancebrain.analysis.chunks.COLUMNS`."""


def write_export(tables: Iterable[pa.Table], target: BinaryIO, file_format: Format) -> None:
    """Write records to a stream, a table at a time.

    Args:
        tables: with :data:`COLUMNS`; at least one, which may be empty.
        file_format: ``jsonl`` and ``csv`` are UTF-8; ``arrow`` is the IPC file format. In
            ``csv`` the heading trail is a JSON list.
    """
    if file_format == "jsonl":
        _write_jsonl(tables, target)
    elif file_format == "csv":
        _write_csv(tables, target)
    else:
        _write_arrow(tables, target, file_format)


def _write_jsonl(tables: Iterable[pa.Table], target: BinaryIO) -> None:
    for table in tables:
        for record in table.to_pylist():
            target.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    target.flush()


def _write_csv(tables: Iterable[pa.Table], target: BinaryIO) -> None:
    text = io.TextIOWrapper(target, encoding="utf-8", newline="", write_through=True)
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    for table in tables:
        for record in table.to_pylist():
            trail = json.dumps(record["heading_path"], ensure_ascii=False)
            writer.writerow(record | {"heading_path": trail})
    text.detach()


def _write_arrow(tables: Iterable[pa.Table], target: BinaryIO, file_format: Format) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    make = pq.ParquetWriter if file_format == "parquet" else pa.ipc.new_file
    rest = iter(tables)
    first = next(rest)
    with make(pa.PythonFile(target, mode="w"), first.schema) as writer:
        writer.write_table(first)
        for table in rest:
            writer.write_table(table)
