"""Arrow rows back to the values of the domain: the inverse of ``rows``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.types import Chunk, ChunkText, DocumentState, Problem, StoredChunk

if TYPE_CHECKING:
    from numpy.typing import NDArray

DOCUMENT_COLUMNS = ("path", "source", "domain", "kind", "tags", "doc")
CHUNK_COLUMNS = (
    "path",
    "chunk_index",
    "text",
    "chunk_hash",
    "heading_path",
    "table_header",
    "tags",
    "line_count",
    "role",
    "said_at",
    "embedded",
    "created_at",
    "updated_at",
)
TEXT_COLUMNS = ChunkText._fields
STAT_COLUMNS = {
    "size": "doc.size",
    "mtime_ns": "doc.mtime_ns",
    "ctime_ns": "doc.ctime_ns",
    "looked_at_ns": "doc.looked_at_ns",
    "sha256": "doc.sha256",
    "domain": "domain",
    "kind": "kind",
    "mime": "doc.mime",
    "path": "path",
}
"""Output column → SQL expression."""


_STATE_FIELDS = fields(DocumentState)[1:]  # the first is the path


class DocumentStat(NamedTuple):
    """The part of a document row that tells whether its file, and its source, are unchanged.

    A tuple, since every look makes one for every document.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    looked_at_ns: int
    sha256: str
    domain: str
    kind: str
    mime: str


def document_states(table: pa.Table) -> dict[str, DocumentState]:
    """Document rows (:data:`DOCUMENT_COLUMNS`) by path."""
    doc = pa.Table.from_struct_array(table["doc"])
    paths: list[str] = table["path"].to_pylist()
    columns: dict[str, Sequence[Any]] = {
        name: table[name].to_pylist() for name in ("source", "domain", "kind", "tags")
    }
    columns |= {name: doc[name].to_pylist() for name in doc.column_names}
    columns["metadata_json"] = columns.pop("metadata")
    for name in ("tags", "links"):
        columns[name] = [tuple(values or ()) for values in columns[name]]
    columns["raw"] = [raw if raw is None else _decompressed(raw) for raw in columns["raw"]]
    columns["problems"] = [
        tuple(Problem(path, found["code"], found["message"]) for found in problems or ())
        for path, problems in zip(paths, columns["problems"], strict=True)
    ]
    rows = zip(paths, *(columns[field.name] for field in _STATE_FIELDS), strict=True)
    return {row[0]: DocumentState(*row) for row in rows}


def document_stats(table: pa.Table) -> dict[str, DocumentStat]:
    """Document rows (:data:`STAT_COLUMNS`) by path."""
    *stats, paths = (table[name].to_pylist() for name in STAT_COLUMNS)
    return dict(zip(paths, map(DocumentStat, *stats), strict=True))


def stored_chunks(table: pa.Table) -> list[StoredChunk]:
    """Chunk rows (:data:`CHUNK_COLUMNS`), in the order of the table."""
    rows = zip(*(table[name].to_pylist() for name in CHUNK_COLUMNS), strict=True)
    return [_stored_chunk(*row) for row in rows]


def _stored_chunk(
    path: str,
    chunk_index: int,
    text: str,
    chunk_hash: str,
    heading_path: list[str] | None,
    table_header: str | None,
    tags: list[str] | None,
    line_count: int,
    role: str | None,
    said_at: datetime | None,
    embedded: bool,
    created_at: datetime,
    updated_at: datetime,
) -> StoredChunk:
    trail, labels = tuple(heading_path or ()), tuple(tags or ())
    chunk = Chunk(text, chunk_hash, trail, labels, line_count, role, said_at, table_header or "")
    return StoredChunk(path, chunk_index, chunk, embedded, created_at, updated_at)


def chunk_texts(table: pa.Table) -> list[ChunkText]:
    """Chunk rows (:data:`TEXT_COLUMNS`), in the order of the table."""
    columns = {name: table[name].to_pylist() for name in TEXT_COLUMNS if name != "heading_path"}
    columns["heading_path"] = _tuples(table["heading_path"])
    columns["table_header"] = [header or "" for header in columns["table_header"]]
    return list(map(ChunkText, *(columns[name] for name in TEXT_COLUMNS)))


def _tuples(lists: pa.ChunkedArray) -> list[tuple[Any, ...]]:
    """A column of lists; a third of the time that Arrow takes for them."""
    ends = np.cumsum(pc.fill_null(pc.list_value_length(lists), 0).to_numpy()).tolist()
    values = pc.list_flatten(lists).to_pylist()
    return [tuple(values[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def matrix_of(vectors: pa.ChunkedArray) -> NDArray[np.float32]:
    """A column of vectors without nulls as (n, dim) float32."""
    dim = vectors.type.list_size
    flat = vectors.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    matrix: NDArray[np.float32] = flat.reshape(-1, dim)
    return matrix


def _decompressed(raw: bytes) -> bytes:
    data: bytes = pa.CompressedInputStream(pa.BufferReader(raw), "zstd").read()
    return data
