"""How a version is read: the scans that a snapshot's questions are made of."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.errors import StoreError
from lancebrain.types import DOCUMENT_ROW

from . import filters
from .failures import as_store_error, is_missing_data, translated
from .schema import (
    CHUNK_ROWS,
    DOCUMENT_ROWS,
    ROW_ID,
    info_of,
    physical,
    table_schema,
    vector_columns,
)
from .vectors import with_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .reading import Reading
    from .storage import Storage

VALUES_A_QUERY = 500
"""Terms of an IN list or OR chain in one query: thousands are slow, tens of thousands crash."""
_T = TypeVar("_T")
Key = tuple[str, int]
KEY = ("path", "chunk_index")


class OneVersion:
    """One version of the table.

    Should the data of a version vanish under one that was the latest (cleaned up, or the index
    rebuilt, by another process), it moves to the newest version once and reads that.

    Args:
        table: a handle of its own, at the version.
        storage: of the index.
        reopen: gives a handle at the newest version; None for a version that is to stay.

    Attributes:
        version: that all reads see.
        identity: of the version, see :func:`manifests.identity`.
        info: what this version was built with; an earlier one may be of another model.
    """

    def __init__(
        self, table: Reading, storage: Storage, reopen: Callable[[], Reading] | None
    ) -> None:
        self._table = table
        self._storage = storage
        self._reopen = reopen
        self._moving = threading.Lock()
        self._see_version()

    def scan(self, where: str, columns: Sequence[str] | Mapping[str, str]) -> pa.Table:
        """Rows as an Arrow table, in no order.

        Args:
            where: SQL that tells which, removed rows among them unless it leaves them out;
                ``""`` for every row, which is quicker than any condition.
            columns: names, or expressions by name.
        """
        return self._scan(where, columns)

    def read_through(self, columns: Sequence[str] | None = None) -> None:
        """Read every row, a part at a time and by no index.

        Args:
            columns: names; all by default.

        Raises:
            DamagedError: something cannot be read.
        """
        wanted = physical(columns or self._columns, self._vector)
        self._read(lambda table: deque(table.batches("", wanted), maxlen=0))

    def look_up_all(self) -> None:
        """Read the indices on the keys and the hashes of chunks, all of each.

        Raises:
            DamagedError: one cannot be read.
        """
        for every in ("path >= ''", "chunk_index >= -1", "chunk_hash >= ''"):
            self._count(every)

    def with_vectors(
        self, where: str, columns: Mapping[str, str]
    ) -> tuple[pa.Table, NDArray[np.float32]]:
        """Chunks and their vectors, see :func:`vectors.with_vectors`."""
        return self._read(lambda table: with_vectors(table, self._vector, columns, where))

    def _scan(self, where: str, columns: Sequence[str] | Mapping[str, str]) -> pa.Table:
        return self._read(lambda table: table.scan(where, physical(columns, self._vector)))

    def row_ids(self, keys: Sequence[Key]) -> dict[Key, int]:
        """The ids of chunk rows by their keys; unknown keys are left out."""
        wanted = dict.fromkeys(keys)
        if len(wanted) <= VALUES_A_QUERY:
            conditions = [filters.keys_sql(list(wanted))] if wanted else []
        else:  # an eighth of the time that as many keys take
            paths = list(dict.fromkeys(path for path, _ in wanted))
            conditions = [filters.one_of("path", batch) for batch in batches(paths)]
        found: dict[Key, int] = {}
        for condition in conditions:
            places = self._scan(filters.all_of(CHUNK_ROWS, condition), [*KEY, ROW_ID])
            found |= {key: row_id for key, row_id in keyed(places, ROW_ID) if key in wanted}
        return found

    def _take(self, row_ids: list[int], columns: Sequence[str] | Mapping[str, str]) -> pa.Table:
        """Rows by id, in no defined order; an id is of this version, see also ``texts``."""
        # Where this moves to another version meanwhile, some may not be there.
        return self._read(lambda table: table.take_found(row_ids, physical(columns, self._vector)))

    def _document_rows(
        self, paths: Sequence[str] | None, columns: Sequence[str] | Mapping[str, str]
    ) -> pa.Table:
        if paths is None:
            # Asked for in SQL, whether there is a kind would take as long as all the rest.
            rows = self._scan(f"chunk_index = {DOCUMENT_ROW}", columns)
            return rows.filter(pc.is_valid(rows["kind"]))
        wanted = list(dict.fromkeys(paths))
        if len(wanted) > 2 * VALUES_A_QUERY:
            rows = self._document_rows(None, columns)
            return rows.filter(pc.is_in(rows["path"], pa.array(wanted, pa.string())))
        parts = [
            self._scan(filters.all_of(DOCUMENT_ROWS, filters.one_of("path", batch)), columns)
            for batch in batches(wanted)
        ]
        return pa.concat_tables(parts) if parts else self._scan("false", columns)

    def _count(self, where: str) -> int:
        return self._read(lambda table: table.count(where))

    def _read(self, read: Callable[[Reading], _T]) -> _T:
        table = self._table
        with translated(self._storage, "reading it"):
            try:
                return read(table)
            except (RuntimeError, OSError, ValueError) as error:
                if not is_missing_data(error):
                    raise
                self._move_on(table, error)
            return read(self._table)

    def _move_on(self, table: Reading, error: Exception) -> None:
        """Move to the newest version, as the data of the one that ``table`` is at is missing.

        A search reads in several threads, and several searches may share a version: the first that
        misses something moves all of them.
        """
        with self._moving:
            if self._table is not table:
                return
            if self._is_there():
                raise as_store_error(error, self._storage, "reading it") from error
            if self._reopen is None:
                raise StoreError(
                    f"Version {self.version} of the index in {self._storage} was cleaned up.",
                    hint="Choose a newer one from `lancebrain history`.",
                ) from error
            with translated(self._storage, "reading it"):
                self._table = self._reopen()
                self._see_version()

    def _see_version(self) -> None:
        self.version = self._table.version
        schema = self._table.schema
        self.info = info_of(schema, where=str(self._storage))
        self._vector = vector_columns(schema)[0]
        self.identity = self._storage.identity(self.version)

    @property
    def _columns(self) -> list[str]:
        columns: list[str] = table_schema(self.info).names
        return columns

    def _is_there(self) -> bool:
        # None where it was gone already when it was opened.
        return self.identity is not None and self.identity == self._storage.identity(self.version)


def keyed(rows: pa.Table, column: str) -> Iterator[tuple[Key, Any]]:
    """The key of each row with its value in another column."""
    paths, indexes, values = (rows[name].to_pylist() for name in (*KEY, column))
    return zip(zip(paths, indexes, strict=True), values, strict=True)


def batches(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """The values, as many at a time as a query can hold."""
    for at in range(0, len(values), VALUES_A_QUERY):
        yield values[at : at + VALUES_A_QUERY]
