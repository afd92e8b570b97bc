"""Chunks with their vectors as one matrix, read straight into place: none of it is held twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from . import filters
from .schema import EMBEDDED_ROWS, ROW_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .reading import Reading


def with_vectors(
    table: Reading, vector: str, columns: Mapping[str, str], where: str
) -> tuple[pa.Table, NDArray[np.float32]]:
    """Chunks by path and place, and their vectors row by row.

    Args:
        vector: what the column of vectors is called in the table.
        columns: what else to read: names with their expressions; the key and the row id are
            among them.
        where: SQL that tells which.

    Returns:
        The other columns, and (n, dim) float32, of zeros where there is no vector.
    """
    rows = in_order(table.scan(where, columns))
    row_ids = rows[ROW_ID].to_numpy()
    by_id = np.argsort(row_ids)
    dim = table.schema.field(vector).type.list_size
    matrix = np.zeros((len(row_ids), dim), np.float32)
    embedded = filters.all_of(EMBEDDED_ROWS, where)
    for batch in table.batches(embedded, {"vector": vector, ROW_ID: ROW_ID}):
        found = np.searchsorted(row_ids, batch[ROW_ID].to_numpy(), sorter=by_id)
        matrix[by_id[found]] = batch["vector"].flatten().to_numpy().reshape(-1, dim)
    return rows, matrix


def in_order(rows: pa.Table) -> pa.Table:
    """Rows by path and chunk_index."""
    # Sorting the few distinct paths, then numbers, takes a fifth of sorting the rows by strings.
    paths = rows["path"].combine_chunks().dictionary_encode()
    names = np.array(paths.dictionary.to_pylist(), object)
    place = np.empty(len(names), np.int64)
    place[np.argsort(names)] = np.arange(len(names))
    order = np.lexsort((rows["chunk_index"].to_numpy(), place[paths.indices.to_numpy()]))
    if np.array_equal(order, np.arange(len(order))):
        return rows
    return rows.take(pa.array(order))
