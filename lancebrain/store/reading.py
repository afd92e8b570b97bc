"""Reads of one version of the table, by Lance's own Python package.

LanceDB's interface to the same table hands every query to an event loop several times, which takes
three milliseconds of a processor for each where the query itself takes one; and importing it takes
seconds that a process which only reads does without.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
        dataset: a ``lance.LanceDataset``.
        recent: texts that were read of the table lately, by whatever handle.

    Attributes:
        version, schema: of the table.
    """

    def __init__(self, dataset: Any, recent: RecentTexts) -> None:
        self._dataset = dataset
        self._recent = recent
        self.version: int = dataset.version
        self.schema: pa.Schema = dataset.schema

    def scan(self, where: str, columns: Columns, *, limit: int | None = None) -> pa.Table:
        """Rows in no order.

        Args:
            where: SQL that tells which, ``""`` for every row.
            limit: how many at most; which of them is not defined.
        """
        rows = self._scanner(where, columns, limit=limit, batch_size=_SCAN_BATCH_ROWS)
        return rows.to_table()

    def batches(self, where: str, columns: Columns) -> Iterator[pa.RecordBatch]:
        """The same piece by piece, as they are read."""
        yield from self._scanner(where, columns).to_batches()

    def take(self, row_ids: Sequence[int], columns: Columns) -> pa.Table:
        """Rows by their ids, all of this version, in their order."""
        # Not part of Lance's public interface, where the like of it is a filter that is planned
        # and scanned by: that takes twice the time.
        rows: pa.Table = self._dataset._take_rows(list(row_ids), _selected(columns))
        return rows

    def take_found(self, row_ids: Sequence[int], columns: Columns) -> pa.Table:
        """Rows by their ids in any version, in no defined order; those that are not there are left
        out."""
        these = f"_rowid IN ({', '.join(map(str, row_ids))})" if row_ids else "false"
        return self._scanner(these, columns).to_table()

    def texts(self, row_ids: Sequence[int]) -> list[Text]:
        """Path, chunk_index and text of rows, in the order of their ids in this version."""
        return self._recent.of(row_ids, self.take)

    def count(self, where: str) -> int:
        """How many rows there are."""
        return int(self._dataset.count_rows(filter=where))

    def by_full_text(self, query: Any, where: str, columns: Columns, limit: int) -> pa.Table:
        """Best rows by BM25, which is in the column ``_score``, best first.

        Args:
            query: in Lance's terms.
            where: is applied before the best are taken.
        """
        return self._scanner(where, columns, full_text_query=query, limit=limit).to_table()

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
        search = {"column": column, "q": vector, "k": limit, "metric": "cosine"}
        if exact:
            search["use_index"] = False
        else:
            search |= {"nprobes": _PROBES, "refine_factor": _compared(limit)}
        return self._scanner(where, columns, nearest=search).to_table()

    def _scanner(self, where: str, columns: Columns, **how: Any) -> Any:
        return self._dataset.scanner(_selected(columns), where or None, prefilter=True, **how)


def _selected(columns: Columns) -> dict[str, str] | list[str]:
    """In Lance's terms."""
    return dict(columns) if isinstance(columns, Mapping) else list(columns)


def _compared(limit: int) -> int:
    """How many times the limit are compared by their whole vectors."""
    return math.ceil(_COMPARED / limit) if limit <= _COMPARED else 2
