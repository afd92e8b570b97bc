"""The chunks of an index, one record each, for other programs.

The texts of a document's records, joined in rank order, are its decoded file.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, Literal

from lancebrain.errors import StoreError
from lancebrain.types import Filter

if TYPE_CHECKING:
    import pyarrow as pa

    from lancebrain.store import Snapshot

Format = Literal["jsonl", "csv", "parquet", "arrow"]

_DOCUMENTS_A_READ = 200
_ROWS_A_BATCH = 4_000


@dataclass(frozen=True, slots=True)
class ExportedChunk:
    """A chunk with its place.

    Attributes:
        rank: 0-based among the document's chunks; ``chunk_index`` has gaps, this has none.
        line_start, line_end: 1-based, inclusive.
        embedded: it has a vector.
    """

    path: str
    chunk_index: int
    rank: int
    kind: str
    domain: str
    role: str | None
    title: str
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    text: str
    chunk_hash: str
    embedded: bool


def exported_chunks(snapshot: Snapshot, wanted: Filter) -> Iterator[ExportedChunk]:
    """The chunks that a filter lets pass, by path and rank; memory holds a few documents."""
    import pyarrow.compute as pc

    from lancebrain.store.filters import all_of
    from lancebrain.store.schema import CHUNK_ROWS

    keys = snapshot.to_arrow(
        ["path", "chunk_index"], where=all_of(CHUNK_ROWS, snapshot.where(wanted))
    )
    paths = sorted(pc.unique(keys["path"]).to_pylist())
    passed = None
    if wanted != Filter():
        passed = set(zip(keys["path"].to_pylist(), keys["chunk_index"].to_pylist(), strict=True))
    for at in range(0, len(paths), _DOCUMENTS_A_READ):
        for record in _records(snapshot, paths[at : at + _DOCUMENTS_A_READ]):
            if passed is None or (record.path, record.chunk_index) in passed:
                yield record


def _records(snapshot: Snapshot, paths: Sequence[str]) -> Iterator[ExportedChunk]:
    from lancebrain.store.locations import locate_all

    states = snapshot.documents(paths)
    by_path = snapshot.chunks(paths)
    for path in paths:
        chunks = by_path.get(path, [])
        if chunks and path not in states:
            raise StoreError(
                f"The index holds passages of {path!r} without their document.",
                hint="Take them out: lancebrain doctor --fix",
            )
        for stored, place in zip(chunks, locate_all(chunks), strict=True):
            state = states[path]
            yield ExportedChunk(
                path=path,
                chunk_index=stored.chunk_index,
                rank=place.rank,
                kind=state.kind,
                domain=state.domain,
                role=stored.chunk.role,
                title=state.title,
                heading_path=stored.chunk.heading_path,
                line_start=place.line_start,
                line_end=place.line_end,
                text=stored.chunk.text,
                chunk_hash=stored.chunk.chunk_hash,
                embedded=stored.embedded,
            )


def write_export(records: Iterable[ExportedChunk], target: BinaryIO, file_format: Format) -> None:
    """Write records to a stream, a batch at a time.

    Args:
        file_format: ``jsonl`` and ``csv`` are UTF-8; ``arrow`` is the IPC file format. In
            ``csv`` the heading trail is a JSON list.
    """
    if file_format == "jsonl":
        _write_jsonl(records, target)
    elif file_format == "csv":
        _write_csv(records, target)
    else:
        _write_arrow(records, target, file_format)


def _write_jsonl(records: Iterable[ExportedChunk], target: BinaryIO) -> None:
    for record in records:
        target.write(json.dumps(asdict(record), ensure_ascii=False).encode() + b"\n")
    target.flush()


def _write_csv(records: Iterable[ExportedChunk], target: BinaryIO) -> None:
    text = io.TextIOWrapper(target, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(field.name for field in fields(ExportedChunk))
    for record in records:
        row = asdict(record)
        row["heading_path"] = json.dumps(record.heading_path, ensure_ascii=False)
        writer.writerow(row.values())
    text.detach()


def _write_arrow(records: Iterable[ExportedChunk], target: BinaryIO, file_format: Format) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _arrow_schema()
    make = pq.ParquetWriter if file_format == "parquet" else pa.ipc.new_file
    rows = iter(records)
    with make(pa.PythonFile(target, mode="w"), schema) as writer:
        while batch := list(islice(rows, _ROWS_A_BATCH)):
            writer.write_batch(
                pa.RecordBatch.from_pylist([asdict(row) for row in batch], schema=schema)
            )


def _arrow_schema() -> pa.Schema:
    import pyarrow as pa

    kinds = {
        "chunk_index": pa.int64(),
        "rank": pa.int64(),
        "line_start": pa.int64(),
        "line_end": pa.int64(),
        "heading_path": pa.list_(pa.string()),
        "embedded": pa.bool_(),
    }
    return pa.schema([(f.name, kinds.get(f.name, pa.string())) for f in fields(ExportedChunk)])
