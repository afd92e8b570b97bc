"""Reads of one version of the table, by LanceDB's asynchronous interface.

Its synchronous one asks the table for its schema several times around every query, each time by
way of another thread: an eighth of a search.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from .texts import RecentTexts, Text

Columns = Sequence[str] | Mapping[str, str]
"""Names, or expressions by name."""

# Both without effect where there is no vector index. All partitions are searched up to a million
# rows: of 61, 24 have 79 % of the nearest ten of a question and 32 have 93 %, where the vectors are
# of a kind that does not cluster, and the time saved is some milliseconds.
_PROBES = 64
# So many are then compared by their whole vectors, which takes a tenth of the processor time of a
# search; for more, twice as many as are asked for.
_COMPARED = 100

# Rows without vectors are small enough to come in larger batches than memory.py sets, which takes
# a seventh less time for all rows.
_SCAN_BATCH_ROWS = 8192


class Reading:
    """A handle of its own, at one version; it never moves, and threads may share it.

    Args:
        table: a ``lancedb.AsyncTable``.
        recent: texts that were read of the table lately, by whatever handle.

    Attributes:
        version, schema: of the table.
    """

    def __init__(self, table: Any, recent: RecentTexts) -> None:
        self._table = table
        self._recent = recent
        self.version: int = run(table.version())
        self.schema: pa.Schema = run(table.schema())

    def scan(self, where: str, columns: Columns, *, limit: int | None = None) -> pa.Table:
        """Rows in no order.

        Args:
            where: SQL that tells which, ``""`` for every row.
            limit: how many at most; which of them is not defined.
        """
        query = self._rows(where, columns)
        return run(_scanned(query if limit is None else query.limit(limit)))

    def batches(self, where: str, columns: Columns) -> Iterator[pa.RecordBatch]:
        """The same piece by piece, as they are read."""
        reader = run(_begun(self._rows(where, columns)))
        while (batch := run(_next(reader))) is not None:
            yield batch

    def take(self, row_ids: list[int], columns: Columns) -> pa.Table:
        """Rows by their ids, in no defined order."""
        return run(_read(self._table.take_row_ids(row_ids).select(_selected(columns))))

    def texts(self, row_ids: Sequence[int]) -> list[Text]:
        """Path, chunk_index and text of rows, in the order of their ids."""
        return self._recent.of(row_ids, self.take)

    def count(self, where: str) -> int:
        """How many rows there are."""
        return int(run(self._table.count_rows(where)))

    def by_full_text(self, query: Any, where: str, columns: Columns, limit: int) -> pa.Table:
        """Best rows by BM25, which is in the column ``_score``, best first.

        Args:
            query: in LanceDB's terms.
            where: is applied before the best are taken.
        """
        search = _narrowed(self._table.query().nearest_to_text(query), where)
        return run(_read(search.select(_selected(columns)).limit(limit)))

    def by_vector(
        self,
        column: str,
        vector: NDArray[np.float32],
        where: str,
        columns: Columns,
        limit: int,
        *,
        exact: bool,
    ) -> pa.Table:
        """Nearest rows by cosine, nearest first; the distance is in the column ``_distance``.

        Args:
            vector: (dim,) float32.
            where: is applied before the nearest are taken.
            exact: compare every vector, whatever index there is.
        """
        search = self._table.query().nearest_to(vector).column(column).distance_type("cosine")
        if exact:
            search = search.bypass_vector_index()
        else:
            search = search.nprobes(_PROBES).refine_factor(_compared(limit))
        return run(_read(_narrowed(search, where).select(_selected(columns)).limit(limit)))

    def _rows(self, where: str, columns: Columns) -> Any:
        return _narrowed(self._table.query(), where).select(_selected(columns))


def _compared(limit: int) -> int:
    """How many times the limit are compared by their whole vectors."""
    return math.ceil(_COMPARED / limit) if limit <= _COMPARED else 2


def run(step: Coroutine[Any, Any, Any]) -> Any:
    """Wait for a step on the thread that LanceDB's synchronous interface uses as well."""
    from lancedb.background_loop import LOOP

    return LOOP.run(step)


async def _read(query: Any) -> pa.Table:
    return await query.to_arrow()


async def _scanned(query: Any) -> pa.Table:
    import pyarrow as pa

    reader = await query.to_batches(max_batch_length=_SCAN_BATCH_ROWS)
    return pa.Table.from_batches(await reader.read_all(), schema=reader.schema)


async def _begun(query: Any) -> Any:
    return await query.to_batches()


async def _next(reader: Any) -> pa.RecordBatch | None:
    return await anext(reader, None)


def _narrowed(query: Any, where: str) -> Any:
    return query.where(where) if where else query


def _selected(columns: Columns) -> dict[str, str] | list[str]:
    return dict(columns) if isinstance(columns, Mapping) else list(columns)
