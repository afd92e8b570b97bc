"""The chunks of a version as an Arrow table, with their places, and with their vectors.

In the order of the documents: the texts of a document, joined, are its decoded file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.errors import StoreError, UsageError
from lancebrain.store.filters import all_of, literal
from lancebrain.store.locations import last_lines, ranks_and_first_lines
from lancebrain.store.schema import CHUNK_ROWS, DOCUMENT_ROWS, EMBEDDED_ROWS, ROW_ID
from lancebrain.store.vectors import in_order
from lancebrain.types import Filter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lancebrain.store import Snapshot

COLUMNS = (
    "path",
    "chunk_index",
    "rank",
    "source",
    "domain",
    "kind",
    "role",
    "title",
    "heading_path",
    "tags",
    "line_start",
    "line_end",
    "text",
    "chunk_hash",
    "embedded",
    "created_at",
    "updated_at",
    "said_at",
)
"""Of a chunk, as ``export`` names them; ``created_at``: of the row; ``updated_at``: of its text."""
VECTOR = "vector"

_PIECE_CHUNKS = 20_000
_PLACES = frozenset({"rank", "line_start", "line_end"})
_KEY = ("path", "chunk_index")
_FOR_PLACES = (*_KEY, "line_count")
_FOR_LAST_LINES = ("text", "line_count", "role")


def read_chunks(
    snapshot: Snapshot, wanted: Filter, columns: Sequence[str] = COLUMNS, *, within: str = ""
) -> pa.Table:
    """The chunks that a filter lets pass, by path and rank.

    Args:
        columns: names among :data:`COLUMNS`, and ``vector``, which is null where there is none.
        within: SQL that tells which documents to read, all of whose chunks it lets pass.

    Raises:
        UsageError: there is no such column.
    """
    _check(columns, (*COLUMNS, VECTOR))
    around = all_of(CHUNK_ROWS, within)
    every = None if wanted == Filter() else around
    where = all_of(around, snapshot.where(wanted))
    if VECTOR not in columns:
        rows = in_order(snapshot.scan(where, _stored(columns)))
        return _finished(snapshot, rows, columns, around=every)
    rows, matrix = snapshot.with_vectors(where, _stored(("embedded", *columns)))
    missing = None
    if not (embedded := rows["embedded"].to_numpy()).all():
        missing = pa.array(~embedded)
    vectors = pa.FixedSizeListArray.from_arrays(matrix.reshape(-1), matrix.shape[1], mask=missing)
    others = [name for name in columns if name != VECTOR]
    table = _finished(snapshot, rows, others, around=every)
    return table.append_column(VECTOR, vectors).select(list(columns))


def chunks_in_pieces(
    snapshot: Snapshot, wanted: Filter, columns: Sequence[str]
) -> Iterator[pa.Table]:
    """The same as :func:`read_chunks`, some documents at a time, so that memory holds no more.

    Yields:
        One table at least.

    Raises:
        UsageError: there is no such column.
        StoreError: there are chunks without their document, or the version was cleaned up.
    """
    version = snapshot.identity
    passed = snapshot.scan(all_of(CHUNK_ROWS, snapshot.where(wanted)), ["path"])
    counts = Counter(passed["path"].to_pylist())
    for first, last in _ranges(counts) or [("", "")]:
        within = f"path >= {literal(first)} AND path <= {literal(last)}"
        piece = read_chunks(snapshot, wanted, columns, within=within)
        if snapshot.identity != version:
            raise StoreError(
                f"Version {snapshot.version} took the place of the one that was being read.",
                hint="Begin again.",
            )
        if "title" in columns and piece["title"].null_count:
            path = piece["path"].filter(pc.is_null(piece["title"]))[0]
            raise StoreError(
                f"The index holds passages of {path.as_py()!r} without their document.",
                hint="Take them out: lancebrain doctor --fix",
            )
        yield piece


def _ranges(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """First and last paths of pieces of some thousand chunks each."""
    ranges: list[tuple[str, str]] = []
    count = _PIECE_CHUNKS
    for path in sorted(counts):
        if count >= _PIECE_CHUNKS:
            ranges.append((path, path))
            count = 0
        ranges[-1] = (ranges[-1][0], path)
        count += counts[path]
    return ranges


def read_vectors(
    snapshot: Snapshot, wanted: Filter, columns: Sequence[str] = _KEY
) -> tuple[pa.Table, NDArray[np.float32]]:
    """The chunks that have a vector, as :func:`read_chunks` gives them, and the vectors.

    Returns:
        The columns, and (n, dim) float32, row by row.
    """
    _check(columns, COLUMNS)
    where = all_of(EMBEDDED_ROWS, snapshot.where(wanted))
    rows, matrix = snapshot.with_vectors(where, _stored(columns))
    return _finished(snapshot, rows, columns, around=CHUNK_ROWS), matrix


def _stored(columns: Sequence[str]) -> dict[str, str]:
    """What to read of the table for these columns."""
    names = [*_KEY, ROW_ID, *(name for name in columns if name not in (*_PLACES, "title", VECTOR))]
    if _PLACES & set(columns):
        names += _FOR_PLACES
    if "line_end" in columns:
        names += _FOR_LAST_LINES
    return {name: name for name in names}


def _finished(
    snapshot: Snapshot, rows: pa.Table, columns: Sequence[str], *, around: str | None
) -> pa.Table:
    """The columns asked for, those that are not stored worked out.

    Args:
        around: SQL for all chunks of the rows' documents; None: these are all.
    """
    if _PLACES & set(columns):
        every = rows if around is None else in_order(snapshot.scan(around, [*_FOR_PLACES, ROW_ID]))
        rows = _with_places(rows, every, columns)
    if "title" in columns:
        rows = rows.append_column("title", _titles(snapshot, rows["path"]))
    return rows.select(list(columns))


def _with_places(rows: pa.Table, every: pa.Table, columns: Sequence[str]) -> pa.Table:
    ranks, first_lines = ranks_and_first_lines(every)
    if every is not rows:
        row_ids = every[ROW_ID].to_numpy()
        by_id = np.argsort(row_ids)
        at = by_id[np.searchsorted(row_ids, rows[ROW_ID].to_numpy(), sorter=by_id)]
        ranks, first_lines = ranks[at], first_lines[at]
    rows = rows.append_column("rank", pa.array(ranks))
    rows = rows.append_column("line_start", pa.array(first_lines))
    if "line_end" in columns:
        rows = rows.append_column("line_end", pa.array(last_lines(rows, first_lines)))
    return rows


def _titles(snapshot: Snapshot, paths: pa.ChunkedArray) -> pa.Array:
    """The title of each path's document."""
    documents = snapshot.scan(DOCUMENT_ROWS, {"path": "path", "title": "doc.title"})
    coded = paths.combine_chunks().dictionary_encode()
    at = pc.index_in(coded.dictionary, documents["path"].combine_chunks())
    return documents["title"].combine_chunks().take(at).take(coded.indices)


def _check(columns: Sequence[str], known: Sequence[str]) -> None:
    for name in columns:
        if name not in known:
            raise UsageError(
                f"Chunks have no column {name!r}.", hint=f"There are: {', '.join(known)}."
            )
