"""The one way rows are made: values of the domain in, an Arrow table out, column by column.

Sync fills a :class:`RowBatch` and hands it to ``Store.commit``; reading back is ``decode``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.errors import StoreError
from lancebrain.types import DOCUMENT_ROW, Chunk, DocumentState

from .schema import vector_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Columns in the order of the tuples below, where a vector and a document state follow.
_PLAIN = (
    "path",
    "chunk_index",
    "text",
    "chunk_hash",
    "source",
    "domain",
    "kind",
    "role",
    "heading_path",
    "table_header",
    "tags",
    "line_count",
    "created_at",
    "updated_at",
    "said_at",
    "embedded",
)
_NOTHING = (None,) * (len(_PLAIN) - 2)
_Row = tuple[Any, ...]


class RowBatch:
    """Rows of any number of documents, to be written in one commit.

    A key (path, chunk_index) that is given twice counts once: the last one wins.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], _Row] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def document(self, state: DocumentState) -> None:
        """Write a document's own row."""
        plain = (
            state.path,
            DOCUMENT_ROW,
            None,
            None,
            state.source,
            state.domain,
            state.kind,
            None,
            None,
            None,
            state.tags,
            None,
            None,
            None,
            None,
            None,
        )
        self._rows[state.path, DOCUMENT_ROW] = (*plain, None, state)

    def chunk(
        self,
        state: DocumentState,
        chunk_index: int,
        chunk: Chunk,
        vector: NDArray[np.float32] | None,
        created_at: datetime,
        updated_at: datetime,
    ) -> None:
        """Write a chunk's row.

        Args:
            state: of the document it belongs to: path, source, domain and kind are taken.
            chunk_index: its order key, 0 or more.
            vector: (dim,) float32, L2-normalised; None when it is not embedded yet.
            created_at, updated_at: when the row was first seen and its text last changed.
        """
        plain = (
            state.path,
            chunk_index,
            chunk.text,
            chunk.chunk_hash,
            state.source,
            state.domain,
            state.kind,
            chunk.role,
            chunk.heading_path,
            chunk.table_header or None,
            chunk.tags,
            chunk.line_count,
            created_at,
            updated_at,
            chunk.said_at,
            vector is not None,
        )
        self._rows[state.path, chunk_index] = (*plain, vector, None)

    def tombstone(self, path: str, chunk_index: int) -> None:
        """Remove a row; ``chunk_index`` -1 removes the document's own row."""
        self._rows[path, chunk_index] = (path, chunk_index, *_NOTHING, None, None)

    def to_arrow(self, schema: pa.Schema, dim: int) -> pa.Table:
        """The batch as a table of ``schema``.

        Raises:
            StoreError: a vector is not finite or not of ``dim`` components.
        """
        if not self._rows:
            return schema.empty_table()
        # Document rows first, side by side: the look reads all of them and nothing else.
        ordered = sorted(self._rows.values(), key=lambda row: row[1] != DOCUMENT_ROW)
        columns = list(zip(*ordered, strict=True))
        arrays: dict[str, pa.Array] = {
            name: pa.array(column, schema.field(name).type)
            for name, column in zip(_PLAIN, columns, strict=False)
        }
        arrays["vector"] = vector_array(columns[-2], dim)
        arrays["doc"] = _doc_array(columns[-1], schema.field("doc").type)
        return pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)


def vector_array(vectors: Sequence[NDArray[np.float32] | None], dim: int) -> pa.Array:
    """Vectors, some of them missing, as a fixed-size-list array.

    Raises:
        StoreError: one is not finite or not of ``dim`` components: the caller's mistake, told
            here because LanceDB would write null in its place without a word.
    """
    present = np.fromiter((v is not None for v in vectors), bool, len(vectors))
    matrix = np.zeros((len(vectors), dim), np.float32)
    given = [v for v in vectors if v is not None]
    wrong = next((v.shape for v in given if v.shape != (dim,)), None)
    if wrong is not None:
        raise StoreError(
            f"A vector of shape {wrong} cannot be stored in an index of {dim} dimensions."
        )
    if given:
        matrix[present] = given
        if not np.isfinite(np.einsum("ij,ij->i", matrix, matrix)).all():
            raise StoreError("A vector that is not finite cannot be stored.")
    return pa.FixedSizeListArray.from_arrays(
        pa.array(matrix.reshape(-1)), type=vector_type(dim), mask=pa.array(~present)
    )


def vectors_of(vectors: Mapping[tuple[str, int], NDArray[np.float32]], dim: int) -> pa.Table:
    """The columns of chunk rows that tell of a vector, with the keys of the rows."""
    paths, indexes = zip(*vectors, strict=True) if vectors else ((), ())
    return pa.table(
        {
            "path": pa.array(paths, pa.string()),
            "chunk_index": pa.array(indexes, pa.int64()),
            "vector": vector_array(list(vectors.values()), dim),
            "embedded": pa.array([True] * len(vectors), pa.bool_()),
        }
    )


def with_vectors(
    rows: pa.Table, vectors: Mapping[tuple[str, int], NDArray[np.float32]]
) -> pa.Table:
    """Chunk rows of the table with the vectors of their keys in place of any they had."""
    keys = zip(rows["path"].to_pylist(), rows["chunk_index"].to_pylist(), strict=True)
    found = {key: vectors[key] for key in keys}
    columns = vectors_of(found, rows.schema.field("vector").type.list_size)
    for name in ("vector", "embedded"):
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, rows.schema.field(at), columns[name])
    return rows


def without_vectors(rows: pa.Table, dim: int) -> pa.Table:
    """Rows of the table with all vectors taken out, for a table whose vectors have ``dim``."""
    column = vector_array([None] * rows.num_rows, dim)
    field = pa.field("vector", column.type)
    rows = rows.set_column(rows.schema.get_field_index("vector"), field, column)
    none = pc.if_else(pc.is_valid(rows["embedded"]), False, pa.scalar(None, pa.bool_()))
    return rows.set_column(rows.schema.get_field_index("embedded"), "embedded", none)


def _doc_array(states: Sequence[DocumentState | None], doc: pa.DataType) -> pa.Array:
    return pa.array([None if s is None else _doc_of(s) for s in states], doc)


def _doc_of(state: DocumentState) -> Mapping[str, object]:
    return {
        "sha256": state.sha256,
        "size": state.size,
        "mtime_ns": state.mtime_ns,
        "ctime_ns": state.ctime_ns,
        "looked_at_ns": state.looked_at_ns,
        "mime": state.mime,
        "encoding": state.encoding,
        "title": state.title,
        "metadata": state.metadata_json,
        "links": state.links,
        "reader_state": state.reader_state,
        "raw": None if state.raw is None else pa.compress(state.raw, "zstd", asbytes=True),
        "problems": [{"code": p.code, "message": p.message} for p in state.problems],
    }
