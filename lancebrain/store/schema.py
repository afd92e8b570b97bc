"""The table's columns and metadata: what a row is, and which rows may be mixed.

One table is the whole truth of an index. Its key is ``(path, chunk_index)``; a document has one
row at ``chunk_index = -1`` that carries its state in the struct ``doc``, beside its chunk rows.
A row that was removed stays as a tombstone (every other column null) until maintenance deletes
it, so that removing costs no more than updating. ``embedded`` says of a chunk row whether its
vector is there, and is null on every other row.

The column of vectors is called ``vector`` until the model changes; then it is ``vector_2`` and so
on, each with the model that its vectors are of in its own metadata. Only what reads a table and
what writes to it know of that (``Snapshot``, ``Writer.merge``): everywhere else it is ``vector``.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from lancebrain.errors import IndexMismatchError, StoreError

TABLE_NAME = "chunks"
VECTOR = "vector"
ROW_ID = "_rowid"
"""What Lance calls the number of a row, which is good within one version."""
SCHEMA_VERSION = 2
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

_TO_READ_ALL = {
    "lance-encoding:compression": "none",
    "lance-encoding:structural-encoding": "miniblock",
}
"""For texts, against Lance's own choice: to read all of them takes three fifths of the time, and a
fifth more room."""
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
            pa.field("text", pa.string(), metadata=_TO_READ_ALL),
            pa.field("chunk_hash", pa.string()),
            pa.field(VECTOR, vector_type(info.dim)),
            pa.field("embedded", pa.bool_()),
            pa.field("source", pa.string()),
            pa.field("domain", pa.string()),
            pa.field("kind", pa.string()),
            pa.field("role", pa.string()),
            pa.field("heading_path", pa.list_(pa.string())),
            pa.field("table_header", pa.string()),
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


def vector_columns(schema: pa.Schema) -> list[str]:
    """The columns of vectors. The first is in use; another is left of a change of the model that
    was cut short."""
    return [name for name in schema.names if name == VECTOR or name.startswith(f"{VECTOR}_")]


def next_vector_field(schema: pa.Schema, *, model: str, fingerprint: str, dim: int) -> pa.Field:
    """The column for the vectors of another model."""
    *_, last = vector_columns(schema)
    number = int(last.rpartition("_")[2]) if "_" in last else 1
    about = {_PREFIX + "model": model, _PREFIX + "fingerprint": fingerprint}
    return pa.field(f"{VECTOR}_{number + 1}", vector_type(dim), metadata=about)


def physical(
    columns: Sequence[str] | Mapping[str, str], in_use: str
) -> Sequence[str] | Mapping[str, str]:
    """Columns to select, or expressions by name, with ``vector`` as it is called in a table."""
    if in_use == VECTOR:
        return columns
    named = columns if isinstance(columns, Mapping) else {name: name for name in columns}
    if VECTOR not in named.values():
        return columns
    return {name: in_use if what == VECTOR else what for name, what in named.items()}


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
    vector = schema.field(vector_columns(schema)[0])
    # Of a table whose model was changed: said of the column that is in use.
    metadata |= {k.decode(): v.decode() for k, v in (vector.metadata or {}).items()}
    return StoreInfo(
        model=metadata[_PREFIX + "model"],
        fingerprint=metadata[_PREFIX + "fingerprint"],
        dim=vector.type.list_size,
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
