"""Reading one version of the table: every read of a snapshot sees the same rows.

Removed rows (tombstones) are left out of all of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.kinds import LOGS
from lancebrain.types import DocumentState, Filter, Problem, StoredChunk

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
from .one_version import VALUES_A_QUERY, Key, batches
from .passages import Passages, RecentPassages, read_passages
from .schema import CHUNK_ROWS, DOCUMENT_ROWS, EMBEDDED_ROWS, LIVE_ROWS, ROW_ID, table_schema
from .unembedded import Unembedded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .reading import Reading
    from .storage import Storage


class Snapshot(Unembedded):
    """One version, immutable; see also :class:`Unembedded`."""

    def __init__(
        self, table: Reading, storage: Storage, reopen: Callable[[], Reading] | None
    ) -> None:
        super().__init__(table, storage, reopen)
        self._of_projects: tuple[object, str] = (None, "")
        self._recent = RecentPassages()

    def documents(self, paths: Sequence[str] | None = None) -> dict[str, DocumentState]:
        """Document states by path, of all documents or of those given; unknown ones left out."""
        return document_states(self._document_rows(paths, DOCUMENT_COLUMNS))

    def stats(self, paths: Sequence[str] | None = None) -> dict[str, DocumentStat]:
        """What tells that files are unchanged, by path; much quicker than :meth:`documents`."""
        return document_stats(self._document_rows(paths, STAT_COLUMNS))

    def stat_table(self) -> pa.Table:
        """The same of all documents, as columns: the fields of :class:`DocumentStat` and path."""
        return self._document_rows(None, STAT_COLUMNS)

    def matching(self, wanted: Filter) -> list[str]:
        """Paths of the documents that a filter lets pass, in no order."""
        where = filters.all_of(DOCUMENT_ROWS, self.where(wanted))
        paths: list[str] = self._scan(where, ["path"])["path"].to_pylist()
        return paths

    def where(self, wanted: Filter) -> str:
        """A filter as SQL for the rows of this version, ``""`` when it lets everything pass.

        A session's working folder is in its document row alone, so projects become the paths of
        their documents: 22 ms to find them among 5,000 sessions, and a list of 250 paths costs
        a query what a column of the chunk rows would (of 5,000 paths, 0.1 to 0.3 s).
        """
        if not wanted.projects:
            return filters.sql_of(wanted)
        asked = (self.version, self.identity, wanted.projects)
        kept = self._of_projects  # another thread may put its own there meanwhile
        if kept[0] != asked:
            tells = filters.project_matcher(wanted.projects)
            logs = self.metadata(filters.one_of("kind", sorted(LOGS)))
            paths = [path for path, facts in logs.items() if tells(facts.get("project"))]
            kept = (asked, filters.one_of("path", paths) if paths else "false")
            self._of_projects = kept
        return filters.all_of(filters.sql_of(wanted), kept[1])

    def metadata(self, where: str) -> dict[str, dict[str, Any]]:
        """What is known of documents beside their text, by path.

        Args:
            where: SQL that tells which.
        """
        columns = {"path": "path", "metadata": "doc.metadata"}
        rows = self._scan(filters.all_of(DOCUMENT_ROWS, where), columns)
        found = map(json.loads, rows["metadata"].to_pylist())
        return dict(zip(rows["path"].to_pylist(), found, strict=True))

    def problems(self) -> list[Problem]:
        """What was wrong with documents when they were read, of all of them."""
        columns = {"path": "path", "problems": "doc.problems"}
        rows = self._scan(DOCUMENT_ROWS, columns)
        return [
            Problem(path, problem["code"], problem["message"])
            for path, problems in zip(*(rows[c].to_pylist() for c in columns), strict=True)
            for problem in problems or ()
        ]

    def links(self) -> dict[str, tuple[str, ...]]:
        """Targets of links as written, by path, of the documents that have any."""
        columns = {"path": "path", "links": "doc.links"}
        rows = self._scan(DOCUMENT_ROWS, columns)
        pairs = zip(*(rows[name].to_pylist() for name in columns), strict=True)
        return {path: tuple(links) for path, links in pairs if links}

    def chunks(self, paths: Sequence[str]) -> dict[str, list[StoredChunk]]:
        """Chunks with their texts, by path, in the order of the document.

        A path without chunks is left out.
        """
        by_path: dict[str, list[StoredChunk]] = {}
        for batch in batches(list(dict.fromkeys(paths))):
            where = filters.all_of(CHUNK_ROWS, filters.one_of("path", batch))
            rows = self._scan(where, CHUNK_COLUMNS).sort_by("chunk_index")
            for chunk in stored_chunks(rows):
                by_path.setdefault(chunk.path, []).append(chunk)
        return by_path

    def rows(self, keys: Sequence[Key]) -> dict[Key, StoredChunk]:
        """The chunks of these keys; unknown ones are left out."""
        chunks = stored_chunks(self._take(list(self.row_ids(keys).values()), CHUNK_COLUMNS))
        return {(chunk.path, chunk.chunk_index): chunk for chunk in chunks}

    def whole_rows(self, row_ids: Iterable[int]) -> pa.Table:
        """The rows of these ids with all columns of the table, in no defined order."""
        return self._take(list(row_ids), self._columns)

    def passages(self, keys: Sequence[Key]) -> Passages:
        """These chunks with all that an answer shows of them; unknown ones are left out."""
        return self._recent.of(keys, self._passages, lambda: self.identity)

    def _passages(self, keys: Sequence[Key]) -> Passages:
        return self._read(lambda table: read_passages(table, keys))

    def vectors(self, chunk_hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Valid vectors (finite, of length 1) that rows have for these chunk hashes."""
        wanted = list(dict.fromkeys(chunk_hashes))
        if not wanted:
            return {}
        where = EMBEDDED_ROWS
        if len(wanted) <= VALUES_A_QUERY:
            where = filters.all_of(where, filters.one_of("chunk_hash", wanted))
        rows = self._scan(where, ["chunk_hash", ROW_ID])
        rows = rows.filter(pc.is_in(rows["chunk_hash"], pa.array(wanted, pa.string())))
        # Of several rows with one hash, any will do: their vectors are equal.
        row_of = dict(zip(rows["chunk_hash"].to_pylist(), rows[ROW_ID].to_pylist(), strict=True))
        found = self._take(list(row_of.values()), ["chunk_hash", "vector"])
        matrix = matrix_of(found["vector"])
        kept = zip(found["chunk_hash"].to_pylist(), matrix, valid_rows(matrix), strict=True)
        return {chunk_hash: vector for chunk_hash, vector, valid in kept if valid}

    def some_vectors(self, limit: int) -> dict[int, NDArray[np.float32]]:
        """Vectors of some chunks at random by the ids of their rows, the same ones of one
        version."""
        row_ids = self._scan(EMBEDDED_ROWS, [ROW_ID])[ROW_ID].to_numpy()
        random = np.random.default_rng(self.version)
        chosen = random.choice(row_ids, min(limit, len(row_ids)), replace=False)
        found = self._take(chosen.tolist(), [ROW_ID, "vector"])
        return dict(zip(found[ROW_ID].to_pylist(), matrix_of(found["vector"]), strict=True))

    def nearest(self, vector: NDArray[np.float32], limit: int, *, exact: bool) -> set[int]:
        """The ids of the nearest rows, see :meth:`vector_candidates`; no text is read."""
        rows = self._read(
            lambda table: table.by_vector(
                self._vector, vector, "", [ROW_ID, "_distance"], limit, exact=exact
            )
        )
        return set(rows[ROW_ID].to_pylist())

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
        where = self.where(wanted)
        return self._read(lambda table: candidates.by_keyword(table, query, where, limit))

    def substring_candidates(self, needle: str, wanted: Filter, limit: int) -> list[Candidate]:
        """Chunks whose text contains ``needle`` in any case; the score is 1.0."""
        where = self.where(wanted)
        return self._read(lambda table: candidates.by_substring(table, needle, where, limit))

    def vector_candidates(
        self, vector: NDArray[np.float32], wanted: Filter, limit: int, *, exact: bool = False
    ) -> list[Candidate]:
        """Nearest chunks, best first; the score is the cosine similarity.

        Exact in a small table; with a vector index nearly all of the nearest are found.

        Args:
            vector: (dim,) float32; one of zeros finds nothing.
            wanted: applied before the best are taken.
            limit: how many at most.
            exact: compare all vectors, also where there is an index.
        """
        where = self.where(wanted)
        return self._read(
            lambda table: candidates.by_vector(
                table, self._vector, vector, where, limit, exact=exact
            )
        )

    def to_arrow(
        self, columns: Sequence[str] | None = None, *, where: str | None = None
    ) -> pa.Table:
        """Live rows as an Arrow table, in no order.

        Args:
            columns: names; all by default.
            where: SQL that narrows them further.
        """
        wanted = list(columns) if columns is not None else self._columns
        rows = self._scan(filters.all_of(LIVE_ROWS, where or ""), wanted)
        # That of the table tells of the model that it was made with, and not of one since.
        return rows.replace_schema_metadata(table_schema(self.info).metadata)


def valid_rows(matrix: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which rows of (n, dim) are finite and of length 1, within float32's error."""
    with np.errstate(invalid="ignore", over="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
        valid: NDArray[np.bool_] = np.abs(lengths - 1) < 1e-3
    return valid
