"""Changing the model of a table: the new vectors become a column, and the old column goes.

The texts are neither written again nor indexed again. Dropping the old column is what switches
from one model to the other, a commit that takes a millisecond. Whatever was done before it is a
second column that nobody reads, and that the next writer drops if this was cut short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from . import indices
from .joining import ROW_ID_BITS
from .planned import PlannedChange
from .rows import vector_array
from .schema import next_vector_field, vector_columns
from .writer import write_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .connection import Table

Find = Callable[[Sequence[str]], Mapping[str, "NDArray[np.float32]"]]
"""Chunk hashes → the vectors there are for them."""

_KEY = ("path", "chunk_index")


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change of the model did.

    Attributes:
        version: the one that switched; later ones only tell of vectors that were lacking before.
        embedded: chunks that have a vector now.
        pending: chunks that have none.
    """

    version: int
    embedded: int
    pending: int


def change_model(table: Table, to: PlannedChange, find: Find) -> Changed:
    """Give a table the vectors of another model, in place of those it has.

    Args:
        table: at its newest version; the index lock is held.
        to: the model.
        find: gives its vectors.
    """
    in_use, *left_over = vector_columns(table.schema)
    if left_over:
        table.drop_columns(left_over)
    field = next_vector_field(table.schema, model=to.model, fingerprint=to.fingerprint, dim=to.dim)
    table.add_columns(pa.schema([field]))
    indices.build_keys(table)
    embedded = pending = 0
    late: list[pa.Table] = []
    for rows in _by_piece(table):
        hashes = rows["chunk_hash"].to_pylist()
        vectors = find([chunk_hash for chunk_hash in dict.fromkeys(hashes) if chunk_hash])
        found = np.fromiter((chunk_hash in vectors for chunk_hash in hashes), bool, len(hashes))
        is_chunk = rows["embedded"].is_valid().to_numpy()
        before = rows["embedded"].fill_null(False).to_numpy()
        new = rows.select(_KEY).append_column(
            field, vector_array([vectors.get(chunk_hash) for chunk_hash in hashes], to.dim)
        )
        if (before & ~found).any():
            # Said first: should this be cut short, the vectors are found again. Never that there
            # is one where there is none.
            new = new.append_column("embedded", pa.array(before & found, mask=~is_chunk))
        write_columns(table, new)
        late.append(rows.select(_KEY).filter(pa.array(found & ~before)))
        embedded, pending = embedded + int(found.sum()), pending + int((is_chunk & ~found).sum())
    indices.build_keys(table)
    indices.build_vectors_of(table, field.name, embedded)
    table.drop_columns([in_use])
    version = int(table.version)
    there = pa.concat_tables(late) if late else None
    if there is not None and there.num_rows:
        write_columns(table, there.append_column("embedded", pa.array([True] * there.num_rows)))
    return Changed(version, embedded, pending)


def _by_piece(table: Table) -> Iterator[pa.Table]:
    """The rows of one piece of the table after the other, all of them: a column of a piece is then
    written once."""
    columns = [*_KEY, "chunk_hash", "embedded", "_rowid"]
    rows = table.search().select(columns).to_arrow()
    piece = rows["_rowid"].to_numpy() >> ROW_ID_BITS
    for number in np.unique(piece):
        yield rows.filter(pa.array(piece == number))
