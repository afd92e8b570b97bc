"""Arrow rows back to the values of the domain: the inverse of ``rows``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lancebrain.types import Chunk, DocumentState, Problem, StoredChunk

from .schema import DOC

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Both map an output column to its SQL expression. The fields of ``doc`` are named one by one,
# which Lance reads many times faster than the struct.
DOCUMENT_COLUMNS = {name: name for name in ("path", "source", "domain", "kind", "tags")} | {
    field.name: f"doc.{field.name}" for field in DOC
}
STAT_COLUMNS = {
    name: DOCUMENT_COLUMNS[name]
    for name in ("path", "size", "mtime_ns", "ctime_ns", "looked_at_ns", "sha256", "domain", "kind")
}
CHUNK_COLUMNS = {
    name: name
    for name in (
        "path",
        "chunk_index",
        "text",
        "chunk_hash",
        "heading_path",
        "tags",
        "line_count",
        "role",
        "said_at",
        "created_at",
        "updated_at",
        "embedded",
    )
}


@dataclass(frozen=True, slots=True)
class DocumentStat:
    """The part of a document row that tells whether its file, and its source, are unchanged."""

    size: int
    mtime_ns: int
    ctime_ns: int
    looked_at_ns: int
    sha256: str
    domain: str
    kind: str


def document_states(table: pa.Table) -> dict[str, DocumentState]:
    """Document rows (:data:`DOCUMENT_COLUMNS`) by path."""
    names = tuple(DOCUMENT_COLUMNS)
    return {row[0]: _state(dict(zip(names, row, strict=True))) for row in _tuples(table, names)}


def document_stats(table: pa.Table) -> dict[str, DocumentStat]:
    """Document rows (:data:`STAT_COLUMNS`) by path."""
    return {path: DocumentStat(*stat) for path, *stat in _tuples(table, tuple(STAT_COLUMNS))}


def _state(row: dict[str, Any]) -> DocumentState:
    path = row["path"]
    row["tags"] = tuple(row["tags"] or ())
    row["links"] = tuple(row["links"] or ())
    row["metadata_json"] = row.pop("metadata")
    row["raw"] = _decompressed(row["raw"])
    row["problems"] = tuple(Problem(path, p["code"], p["message"]) for p in row["problems"] or ())
    return DocumentState(**row)


def stored_chunks(table: pa.Table) -> list[StoredChunk]:
    """Chunk rows (:data:`CHUNK_COLUMNS`), in the order of the table."""
    return [
        StoredChunk(
            path=path,
            chunk_index=chunk_index,
            chunk=Chunk(
                text=text,
                chunk_hash=chunk_hash,
                heading_path=tuple(heading_path or ()),
                tags=tuple(tags or ()),
                line_count=line_count,
                role=role,
                said_at=said_at,
            ),
            embedded=embedded,
            created_at=created_at,
            updated_at=updated_at,
        )
        for (
            path,
            chunk_index,
            text,
            chunk_hash,
            heading_path,
            tags,
            line_count,
            role,
            said_at,
            created_at,
            updated_at,
            embedded,
        ) in _tuples(table, tuple(CHUNK_COLUMNS))
    ]


def matrix_of(vectors: pa.ChunkedArray) -> NDArray[np.float32]:
    """A column of vectors without nulls as (n, dim) float32."""
    dim = vectors.type.list_size
    flat = vectors.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    matrix: NDArray[np.float32] = flat.reshape(-1, dim)
    return matrix


def _decompressed(raw: bytes | None) -> bytes | None:
    if raw is None:
        return None
    data: bytes = pa.CompressedInputStream(pa.BufferReader(raw), "zstd").read()
    return data


def _tuples(table: pa.Table, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name].to_pylist() for name in columns), strict=True)
