"""Reading one version of the table: every read of a snapshot sees the same rows.

Removed rows (tombstones) are left out of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.errors import StoreError
from lancebrain.types import DocumentState, Filter, StoredChunk

from . import candidates, filters
from .candidates import Candidate
from .decode import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    STAT_COLUMNS,
    DocumentStat,
    document_states,
    document_stats,
    matrix_of,
    stored_chunks,
)
from .failures import as_store_error, is_missing_data, translated
from .locations import Location, locate
from .schema import CHUNK_ROWS, DOCUMENT_ROWS, EMBEDDED_ROWS, LIVE_ROWS, PENDING_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .connection import Table

_VALUES_A_QUERY = 500
"""Terms of an IN list or OR chain in one query: thousands are slow, tens of thousands crash."""
_T = TypeVar("_T")
Key = tuple[str, int]


class Snapshot:
    """One version, immutable.

    Should the data of a version vanish under a snapshot of the latest one (cleaned up, or the
    index rebuilt, by another process), it moves to the newest version once and reads that.

    Attributes:
        version: that all reads see.
    """

    def __init__(self, table: Table, folder: Path, reopen: Callable[[], Table] | None) -> None:
        self._table = table
        self._folder = folder
        self._reopen = reopen
        self.version: int = table.version

    def documents(self, paths: Sequence[str] | None = None) -> dict[str, DocumentState]:
        """Document states by path, of all documents or of those given; unknown ones left out."""
        return document_states(self._document_rows(paths, DOCUMENT_COLUMNS))

    def stats(self, paths: Sequence[str] | None = None) -> dict[str, DocumentStat]:
        """What tells that files are unchanged, by path; much quicker than :meth:`documents`."""
        return document_stats(self._document_rows(paths, STAT_COLUMNS))

    def chunks(self, paths: Sequence[str]) -> dict[str, list[StoredChunk]]:
        """Chunks with their texts, by path, in the order of the document.

        A path without chunks is left out.
        """
        by_path: dict[str, list[StoredChunk]] = {}
        for batch in _batches(list(dict.fromkeys(paths))):
            where = filters.all_of(CHUNK_ROWS, filters.one_of("path", batch))
            rows = self._scan(where, CHUNK_COLUMNS).sort_by("chunk_index")
            for chunk in stored_chunks(rows):
                by_path.setdefault(chunk.path, []).append(chunk)
        return by_path

    def rows(self, keys: Sequence[Key]) -> dict[Key, StoredChunk]:
        """The chunks of these keys; unknown ones are left out."""
        found: dict[Key, StoredChunk] = {}
        for batch in _batches(keys):
            where = filters.all_of(CHUNK_ROWS, filters.keys_sql(batch))
            for chunk in stored_chunks(self._scan(where, CHUNK_COLUMNS)):
                found[chunk.path, chunk.chunk_index] = chunk
        return found

    def located(self, keys: Sequence[Key]) -> dict[Key, Location]:
        """Rank and lines of these chunks within their documents; unknown ones are left out."""
        columns = ["path", "chunk_index", "line_count"]
        lines = [
            self._scan(filters.all_of(CHUNK_ROWS, filters.one_of("path", batch)), columns)
            for batch in _batches(list(dict.fromkeys(path for path, _ in keys)))
        ]
        return locate(pa.concat_tables(lines), self.rows(keys)) if lines else {}

    def vectors(self, chunk_hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Valid vectors (finite, of length 1) that rows have for these chunk hashes."""
        found: dict[str, NDArray[np.float32]] = {}
        for batch in _batches(list(dict.fromkeys(chunk_hashes))):
            where = filters.all_of(EMBEDDED_ROWS, filters.one_of("chunk_hash", batch))
            rows = self._scan(where, ["chunk_hash", "vector"])
            matrix = matrix_of(rows["vector"])
            valid = valid_rows(matrix)
            for row, chunk_hash in enumerate(rows["chunk_hash"].to_pylist()):
                if valid[row]:
                    found[chunk_hash] = matrix[row]
        return found

    def unembedded(self, limit: int) -> list[StoredChunk]:
        """Up to ``limit`` chunks without a vector, of the newest documents first."""
        pending = self._scan(PENDING_ROWS, ["path", "chunk_index"])
        keys = list(zip(*(pending[c].to_pylist() for c in ("path", "chunk_index")), strict=True))
        stats = self.stats()
        keys.sort(key=lambda key: (-stats[key[0]].mtime_ns if key[0] in stats else 0, key))
        rows = self.rows(keys[:limit])
        return [rows[key] for key in keys[:limit]]

    def pending(self) -> int:
        """How many chunks have no vector."""
        return self._count(PENDING_ROWS)

    def document_count(self) -> int:
        """How many documents there are."""
        return self._count(DOCUMENT_ROWS)

    def chunk_count(self) -> int:
        """How many chunks there are."""
        return self._count(CHUNK_ROWS)

    def keyword_candidates(self, query: str, wanted: Filter, limit: int) -> list[Candidate]:
        """Best chunks by BM25, best first; the score is the raw BM25.

        Args:
            query: any text. Words are joined by OR; what stands in "double quotes" must occur
                as it stands. Without a word in it nothing is found.
            wanted: applied before the best are taken.
            limit: how many at most.
        """
        return self._read(lambda table: candidates.by_keyword(table, query, wanted, limit))

    def substring_candidates(self, needle: str, wanted: Filter, limit: int) -> list[Candidate]:
        """Chunks whose text contains ``needle`` in any case; the score is 1.0."""
        return self._read(lambda table: candidates.by_substring(table, needle, wanted, limit))

    def vector_candidates(
        self, vector: NDArray[np.float32], wanted: Filter, limit: int
    ) -> list[Candidate]:
        """Nearest chunks, best first, exact; the score is the cosine similarity.

        Args:
            vector: (dim,) float32; one of zeros finds nothing.
            wanted: applied before the best are taken.
            limit: how many at most.
        """
        return self._read(lambda table: candidates.by_vector(table, vector, wanted, limit))

    def to_arrow(
        self, columns: Sequence[str] | None = None, *, where: str | None = None
    ) -> pa.Table:
        """Live rows as an Arrow table, in no order.

        Args:
            columns: names; all by default.
            where: SQL that narrows them further.
        """
        wanted = list(columns) if columns is not None else self._table.schema.names
        return self._scan(filters.all_of(LIVE_ROWS, where or ""), wanted)

    def _document_rows(self, paths: Sequence[str] | None, columns: Mapping[str, str]) -> pa.Table:
        if paths is None:
            return self._scan(DOCUMENT_ROWS, columns)
        wanted = list(dict.fromkeys(paths))
        if len(wanted) > 2 * _VALUES_A_QUERY:
            rows = self._scan(DOCUMENT_ROWS, columns)
            return rows.filter(pc.is_in(rows["path"], pa.array(wanted, pa.string())))
        parts = [
            self._scan(filters.all_of(DOCUMENT_ROWS, filters.one_of("path", batch)), columns)
            for batch in _batches(wanted)
        ]
        return pa.concat_tables(parts) if parts else self._scan("false", columns)

    def _scan(self, where: str, columns: Sequence[str] | Mapping[str, str]) -> pa.Table:
        selected = dict(columns) if isinstance(columns, Mapping) else list(columns)
        return self._read(lambda table: table.search().where(where).select(selected).to_arrow())

    def _count(self, where: str) -> int:
        return self._read(lambda table: int(table.count_rows(where)))

    def _read(self, read: Callable[[Table], _T]) -> _T:
        try:
            return read(self._table)
        except (RuntimeError, OSError, ValueError) as error:
            if not is_missing_data(error):
                raise as_store_error(error, self._folder, "reading it") from error
            if self._reopen is None:
                raise StoreError(
                    f"Version {self.version} of the index in {self._folder} was cleaned up.",
                    hint="Choose a newer one from `lancebrain history`.",
                ) from error
        with translated(self._folder, "reading it"):
            self._table = self._reopen()
            self._reopen = None
            self.version = self._table.version
            return read(self._table)


def valid_rows(matrix: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which rows of (n, dim) are finite and of length 1, within float32's error."""
    with np.errstate(invalid="ignore", over="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
        valid: NDArray[np.bool_] = np.abs(lengths - 1) < 1e-3
    return valid


def _batches(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for at in range(0, len(values), _VALUES_A_QUERY):
        yield values[at : at + _VALUES_A_QUERY]
