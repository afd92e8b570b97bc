"""The table's columns and metadata: what a row is, and which rows may be mixed.

One table is the whole truth of an index. Its key is ``(path, chunk_index)``; a document has one
row at ``chunk_index = -1`` that carries its state in the struct ``doc``, beside its chunk rows.
A row that was removed stays as a tombstone (every other column null) until maintenance deletes
it, so that removing costs no more than updating. ``embedded`` says of a chunk row whether its
vector is there, and is null on every other row.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from lancebrain.errors import IndexMismatchError, StoreError

TABLE_NAME = "chunks"
SCHEMA_VERSION = 1
"""Raised whenever a column is added, dropped or given another meaning."""

# Which rows are which, as SQL over narrow columns alone: a test of ``text``, ``vector`` or ``doc``
# for null reads all of that column, some 400 ms instead of 8 at 100,000 rows.
CHUNK_ROWS = "embedded IS NOT NULL"
"""Live chunk rows; neither document rows nor tombstones."""
PENDING_ROWS = "embedded = false"
"""Chunks without a vector."""
EMBEDDED_ROWS = "embedded = true"
"""Chunks with a vector."""
DOCUMENT_ROWS = "chunk_index = -1 AND kind IS NOT NULL"
"""Live document rows."""
LIVE_ROWS = "kind IS NOT NULL"
"""Everything but tombstones."""
TOMBSTONES = "kind IS NULL"
"""What maintenance deletes."""

TIMESTAMP = pa.timestamp("us", tz="UTC")
PROBLEM = pa.struct([("code", pa.string()), ("message", pa.string())])
DOC = pa.struct(
    [
        ("sha256", pa.string()),
        ("size", pa.int64()),
        ("mtime_ns", pa.int64()),
        ("ctime_ns", pa.int64()),
        ("looked_at_ns", pa.int64()),
        ("mime", pa.string()),
        ("encoding", pa.string()),
        ("title", pa.string()),
        ("metadata", pa.string()),
        ("links", pa.list_(pa.string())),
        ("reader_state", pa.string()),
        ("raw", pa.large_binary()),
        ("problems", pa.list_(PROBLEM)),
    ]
)

_PREFIX = "lancebrain."


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What an index was built with, kept in the table's metadata.

    Attributes:
        model: the embedder as the configuration names it.
        fingerprint: of the embedder; vectors of two fingerprints never meet in one table.
        dim: length of a vector.
        table_id: random, given at creation; differs after a rebuild in the same folder.
    """

    model: str
    fingerprint: str
    dim: int
    schema_version: int
    chunking_version: int
    table_id: str


def new_info(*, model: str, fingerprint: str, dim: int, chunking_version: int) -> StoreInfo:
    """The info of a table that is about to be created now."""
    return StoreInfo(model, fingerprint, dim, SCHEMA_VERSION, chunking_version, new_table_id())


def new_table_id() -> str:
    """Random, for a table whose versions count from 1 again."""
    return uuid.uuid4().hex


def table_schema(info: StoreInfo) -> pa.Schema:
    """The Arrow schema of a table with ``info`` in its metadata."""
    return pa.schema(
        [
            pa.field("path", pa.string(), nullable=False),
            pa.field("chunk_index", pa.int64(), nullable=False),
            pa.field("text", pa.string()),
            pa.field("chunk_hash", pa.string()),
            pa.field("vector", vector_type(info.dim)),
            pa.field("embedded", pa.bool_()),
            pa.field("source", pa.string()),
            pa.field("domain", pa.string()),
            pa.field("kind", pa.string()),
            pa.field("role", pa.string()),
            pa.field("heading_path", pa.list_(pa.string())),
            pa.field("tags", pa.list_(pa.string())),
            pa.field("line_count", pa.int32()),
            pa.field("created_at", TIMESTAMP),
            pa.field("updated_at", TIMESTAMP),
            pa.field("said_at", TIMESTAMP),
            pa.field("doc", DOC),
        ],
        metadata=_metadata_of(info),
    )


def vector_type(dim: int) -> pa.DataType:
    """The Arrow type of a vector of ``dim`` components."""
    return pa.list_(pa.float32(), dim)


def info_of(schema: pa.Schema, *, where: str) -> StoreInfo:
    """Read the info back from a table's schema.

    Args:
        where: the table's place, for messages.

    Raises:
        StoreError: the table is not one of ours.
        IndexMismatchError: a newer LanceBrain made it.
    """
    metadata = {k.decode(): v.decode() for k, v in (schema.metadata or {}).items()}
    version = metadata.get(_PREFIX + "schema_version", "")
    if not version.isdigit():
        raise StoreError(
            f"The table in {where} was not made by LanceBrain.",
            hint="Choose another index folder with --index.",
        )
    if int(version) > SCHEMA_VERSION:
        raise IndexMismatchError(
            f"The index in {where} has schema version {version}; this LanceBrain reads up to "
            f"{SCHEMA_VERSION}.",
            hint="Upgrade LanceBrain (pip install --upgrade lancebrain).",
        )
    return StoreInfo(
        model=metadata[_PREFIX + "model"],
        fingerprint=metadata[_PREFIX + "fingerprint"],
        dim=int(metadata[_PREFIX + "dim"]),
        schema_version=int(version),
        chunking_version=int(metadata[_PREFIX + "chunking_version"]),
        table_id=metadata[_PREFIX + "table_id"],
    )


def _metadata_of(info: StoreInfo) -> Mapping[str, str]:
    return {
        _PREFIX + "schema_version": str(info.schema_version),
        _PREFIX + "chunking_version": str(info.chunking_version),
        _PREFIX + "model": info.model,
        _PREFIX + "fingerprint": info.fingerprint,
        _PREFIX + "dim": str(info.dim),
        _PREFIX + "table_id": info.table_id,
    }
