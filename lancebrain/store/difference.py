"""What to write so that one version of the rows becomes another: rows that are new or differ, and
tombstones for those that are gone.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .rows import RowBatch


def difference(before: pa.Table, after: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows of ``schema`` that turn ``before`` into ``after``, when merged by key.

    Of rows that share a key, the last one counts.

    Args:
        before, after: live rows with all columns of ``schema``.
    """
    old, new = _by_key(before), _by_key(after)
    shared = [key for key in new if key in old]
    same = _same(
        _taken(before, [old[key] for key in shared]), _taken(after, [new[key] for key in shared])
    )
    unchanged = {key for key, is_same in zip(shared, same, strict=True) if is_same}
    written = _taken(after, [row for key, row in new.items() if key not in unchanged])
    gone = RowBatch()
    for path, chunk_index in old.keys() - new.keys():
        gone.tombstone(path, chunk_index)
    dim = schema.field("vector").type.list_size
    columns = [written[name].cast(schema.field(name).type) for name in schema.names]
    return pa.concat_tables(
        [pa.Table.from_arrays(columns, schema=schema), gone.to_arrow(schema, dim)]
    )


def _taken(rows: pa.Table, indexes: list[int]) -> pa.Table:
    return rows.take(pa.array(indexes, pa.int64()))


def _by_key(rows: pa.Table) -> dict[tuple[str, int], int]:
    keys = zip(rows["path"].to_pylist(), rows["chunk_index"].to_pylist(), strict=True)
    return {key: row for row, key in enumerate(keys)}


def _same(before: pa.Table, after: pa.Table) -> NDArray[np.bool_]:
    """Which rows hold the same in every column; a vector that is no number differs from itself."""
    same = np.ones(before.num_rows, bool)
    for name in after.column_names:
        same &= _equal(before[name].combine_chunks(), after[name].combine_chunks())
    return same


def _equal(one: pa.Array, other: pa.Array) -> NDArray[np.bool_]:
    if pa.types.is_fixed_size_list(one.type):
        return _equal_vectors(one, other)
    if pa.types.is_nested(one.type):
        pairs = zip(one.to_pylist(), other.to_pylist(), strict=True)
        return np.fromiter((a == b for a, b in pairs), bool, len(one))
    both_null = pc.and_(pc.is_null(one), pc.is_null(other))
    equal = pc.or_(pc.fill_null(pc.equal(one, other), False), both_null)
    return np.asarray(equal.to_numpy(zero_copy_only=False))


def _equal_vectors(one: pa.Array, other: pa.Array) -> NDArray[np.bool_]:
    is_there, is_other = (pc.is_valid(a).to_numpy(zero_copy_only=False) for a in (one, other))
    equal: NDArray[np.bool_] = is_there == is_other
    both = is_there & is_other
    first, second = (_matrix(array.filter(pa.array(both))) for array in (one, other))
    equal[both] = (first == second).all(axis=1)
    return equal


def _matrix(vectors: pa.Array) -> NDArray[np.float32]:
    flat = vectors.flatten().to_numpy(zero_copy_only=False)
    matrix: NDArray[np.float32] = flat.reshape(len(vectors), -1) if len(vectors) else flat[:, None]
    return matrix
