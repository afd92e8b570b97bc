"""The handle that writes: always from the newest version, always under the index lock.

Lance does not wait for the disk. Everything here does before it returns, so that what was
acknowledged outlives a power cut; see ``durably`` for how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from . import indices
from .joining import ROW_ID_BITS, pieces_of
from .schema import VECTOR, vector_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from .connection import Connection, Table
    from .storage import Storage


_LEAST_SHARE = 0.25
"""Of the rows of some pieces, for a column of all of them to be written anew."""


class Writer:
    """Writes to one table.

    Args:
        storage: of the table.
        may_write: raises when the index lock is held no more; None for a table that nobody else
            knows of.
    """

    def __init__(
        self,
        storage: Storage,
        connection: Connection,
        may_write: Callable[[], None] | None = None,
    ) -> None:
        self._storage = storage
        self._may_write = may_write
        self._connection = connection

    def open(self) -> None:
        """Open the table now, which takes seconds the first time; the handle stays where it is."""
        _ = self._table

    def latest(self) -> Table:
        """The handle, moved to the newest version; a stale one would do nothing, silently."""
        table = self._table
        table.checkout_latest()
        return table

    def merge(self, rows: pa.Table) -> int:
        """Write rows, in place of those with the same keys, and return the new version."""
        with self.durably() as table:
            in_use, *left_over = vector_columns(table.schema)
            if left_over:
                table.drop_columns(left_over)
            names = [in_use if name == VECTOR else name for name in rows.column_names]
            rows = rows.rename_columns(names)
            merge = table.merge_insert(["path", "chunk_index"])
            merge = merge.when_matched_update_all().when_not_matched_insert_all()
            # Without "null" LanceDB refuses vectors that are missing; bad ones never get here.
            return int(merge.execute(rows, on_bad_vectors="null").version)

    def is_much_of_its_pieces(self, row_ids: Sequence[int]) -> bool:
        """Whether some rows are so many of those in their pieces that a column had better be
        written anew for all of these. Never where the keys have no index, as Lance then writes
        whole rows all the same.

        Whole rows take as long for each as a column takes for seven, with what it then takes to
        bring them into the indices.
        """
        if not indices.has_keys(self.latest()):
            return False
        pieces = {row_id >> ROW_ID_BITS for row_id in row_ids}
        there = sum(piece.rows for piece in pieces_of(self.latest()) if piece.number in pieces)
        return _LEAST_SHARE * there <= len(row_ids)

    def update(self, columns: pa.Table) -> int:
        """Write some columns of rows that are there, and return the new version; see also
        :func:`write_columns`.

        Args:
            columns: with ``path`` and ``chunk_index``.
        """
        with self.durably() as table:
            in_use = vector_columns(table.schema)[0]
            names = [in_use if name == VECTOR else name for name in columns.column_names]
            return write_columns(table, columns.rename_columns(names))

    def restore(self, version: int) -> int:
        """Make a new version that equals an old one, and return it."""
        with self.durably() as table:
            table.restore(version)
            return int(table.version)

    def fence(self) -> int:
        """Make a version that equals the newest, and return it.

        LanceDB lets writes to different rows pass each other, but no write passes a restore: one
        that began before it fails.
        """
        with self.durably() as table:
            table.restore(table.version)
            return int(table.version)

    @cached_property
    def _table(self) -> Table:
        return self._connection.open()

    @contextmanager
    def durably(self) -> Iterator[Table]:
        """The newest version to write to; what the block wrote is on the disk when it ends."""
        table = self.latest()
        # Last: whoever takes the lock over from here on makes a version that this handle has not
        # seen, and what it writes then fails.
        if self._may_write is not None:
            self._may_write()
        with self._storage.written(lambda: int(table.version)):
            yield table


def write_columns(table: Table, columns: pa.Table) -> int:
    """Write some columns of rows that are there, the others as they are; the new version.

    Where the keys have an index, Lance writes them anew for all rows of the pieces concerned: the
    rows stay where they are, and in the indices on other columns. Else it writes whole rows anew,
    which then are outside of every index.
    """
    merge = table.merge_insert(["path", "chunk_index"]).when_matched_update_all()
    return int(merge.execute(columns, on_bad_vectors="null").version)
