"""Joining pieces of the table into larger ones, while the largest stay as they are.

LanceDB's own compaction writes the whole table anew, and every older version that is kept then
keeps all of it once more: twenty checkpoints would be twenty copies. Here pieces are joined with
others of about their size, so that a row is written anew some six times in its life and there are
never more than a few dozen small pieces (as in log-structured merge trees).

Rows of small pieces are written once more, under their keys, which puts them into one piece, and
outside of the indices, and takes them out of the small ones. Full pieces are joined with their
entries in the indices, see :func:`segments.join_pieces`, which takes time in proportion to those.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from . import segments
from .memory import give_back
from .schema import ROW_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .connection import Table

_TINY_ROWS = 16
"""Pieces of fewer rows are what single edits left; eight of them joined are larger."""
_BASE = 7
"""Pieces of a larger size class have up to so many times the rows of its smallest. As so many are
joined, what they become is of the next class, and no row is written twice within one."""
_FULL_ROWS = 4_000
"""That are written at once: of 512 dimensions they take 150 MB of memory, and 20,000 would take
340."""
_LARGE_ROWS = 3_000
"""A piece of which so many were written is full, and not written anew row by row while most of them
are there. What counts is what was written: an edit takes a row out of a full piece, and were it
small for that, a dozen edits would have all full pieces written anew."""
_LARGEST_ROWS = 32_768
"""A piece of so many is joined no further. Each piece costs a question up to a third of a
millisecond of a processor each time that it reads rows by their ids: 80,000 rows in 2 pieces in
place of 31 take a sixth off all that a question takes. In pieces several times as large, columns of
which all values are equal take long to read, and a change of the model takes much memory."""
_LEAST_THERE = 2 / 3
"""Of a large piece. Rows that are gone take room until it is joined."""
_MOST_LACKING = 0.01
"""Of a piece that is joined with others: a text that the model fails on never has a vector."""
_WASTED_ROWS = 10_000
"""From so many on that are gone, and half of it, a piece is written anew by itself."""
_NARROW_ROWS = 65_536
"""That are read at once where there are no texts and no vectors: in batches as memory.py sets them,
each of which passes an event loop, a million rows take twelve times as long."""
ROW_ID_BITS = 32
"""A row id begins with the number of its piece; so many bits follow."""
_KEY = ("path", "chunk_index")


@dataclass(frozen=True, slots=True)
class Piece:
    """A fragment of the table.

    Attributes:
        number: as row ids begin with it.
        rows: that are there.
        written: how many were written, at least; those that are gone still take room.
        lacking: of the rows, those without a vector. Vectors are filled in for all rows of a piece
            at once, so that it had better not grow before.
    """

    number: int
    rows: int
    written: int
    lacking: int = 0


def pieces_of(table: Table) -> list[Piece]:
    """The pieces of a table, from the ids of its rows; 130 ms for a million rows."""
    there = _every_row(table, [ROW_ID, "embedded"])
    found = there[ROW_ID].to_numpy()
    ids = np.sort(found)
    numbers, first, rows = np.unique(ids >> ROW_ID_BITS, return_index=True, return_counts=True)
    last = (ids[first + rows - 1] & (2**ROW_ID_BITS - 1)) + 1
    is_lacking = pc.equal(there["embedded"], False).fill_null(False).to_numpy()
    places = np.searchsorted(numbers, found[is_lacking] >> ROW_ID_BITS)
    lacking = np.bincount(places, minlength=len(numbers))
    return [Piece(*map(int, piece)) for piece in zip(numbers, rows, last, lacking, strict=True)]


def to_join(pieces: Sequence[Piece], *, tiny: int, alike: int) -> list[Piece]:
    """The pieces below a full one that are to be joined; often none.

    Args:
        tiny: so many are borne of those that single edits leave.
        alike: so many of each larger size class.
    """
    joined = _crowded([piece for piece in pieces if not _is_full(piece)], tiny, alike)
    numbers = {piece.number for piece in joined}
    return joined + [piece for piece in pieces if _is_wasted(piece) and piece.number not in numbers]


def full_to_join(pieces: Sequence[Piece], *, alike: int) -> list[Piece]:
    """The full pieces that are to become larger ones; often none.

    Args:
        alike: so many of each size class are borne.
    """
    full = [piece for piece in pieces if _is_full(piece) and piece.written < _LARGEST_ROWS]
    return _crowded([piece for piece in full if not _waits_for_vectors(piece)], alike, alike)


def tiny(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces that single edits left."""
    return [piece for piece in pieces if not _is_full(piece) and _size_class(piece.rows) == 0]


def join(table: Table, pieces: Collection[Piece]) -> None:
    """Write the rows of some pieces into new ones, and nothing else; a commit or a few.

    The index lock is held, and the table is at its newest version.
    """
    numbers = np.array([piece.number for piece in pieces], np.uint64)
    ids = _row_ids(table)
    ids = ids[np.isin(ids >> ROW_ID_BITS, numbers)]
    columns = table.schema.names
    for part in _parts(ids):
        give_back()
        rows = table.take_row_ids(part).to_arrow().select(columns)
        merge = table.merge_insert(list(_KEY)).when_matched_update_all()
        merge.execute(_unique(rows), on_bad_vectors="null")


def can_join_full(table: Table, pieces: Sequence[Piece], *, alike: int) -> bool:
    """Whether :func:`join_full` would do something; costs some milliseconds."""
    chosen = full_to_join(pieces, alike=alike)
    return bool(chosen) and segments.can_join(
        table, but=_others(pieces, chosen), rows=_LARGEST_ROWS
    )


def join_full(table: Table, pieces: Sequence[Piece], *, alike: int) -> None:
    """Join full pieces that lie beside each other; a commit or a few, or none.

    The index lock is held, and the table is at its newest version.

    Args:
        pieces: all there are.
        alike: as for :func:`full_to_join`.
    """
    chosen = full_to_join(pieces, alike=alike)
    if chosen:
        segments.join_pieces(table, but=_others(pieces, chosen), rows=_LARGEST_ROWS)


def _others(pieces: Sequence[Piece], chosen: Collection[Piece]) -> list[int]:
    return [piece.number for piece in pieces if piece not in chosen]


def _crowded(pieces: Sequence[Piece], tiny: int, alike: int) -> list[Piece]:
    """Those of size classes in which there are more than is borne."""
    classes: defaultdict[int, list[Piece]] = defaultdict(list)
    for piece in pieces:
        classes[_size_class(piece.rows)].append(piece)
    found: list[Piece] = []
    for size in range(max(classes, default=0) + 1):
        # What was joined of the classes below is one more of this one.
        if len(classes[size]) + bool(found) > (alike if size else tiny):
            found += classes[size]
    return found


def _is_full(piece: Piece) -> bool:
    return piece.written >= _LARGE_ROWS and piece.rows >= _LEAST_THERE * piece.written


def _waits_for_vectors(piece: Piece) -> bool:
    return piece.lacking > _MOST_LACKING * piece.rows


def _is_wasted(piece: Piece) -> bool:
    return piece.written - piece.rows >= max(_WASTED_ROWS, piece.rows)


def _size_class(rows: int) -> int:
    return 0 if rows < _TINY_ROWS else 1 + int(math.log(rows / _TINY_ROWS, _BASE))


def _row_ids(table: Table) -> NDArray[np.uint64]:
    ids: NDArray[np.uint64] = _every_row(table, [ROW_ID])[ROW_ID].to_numpy()
    return ids


def _every_row(table: Table, columns: list[str]) -> pa.Table:
    return table.search().select(columns).to_batches(_NARROW_ROWS).read_all()


def _parts(ids: NDArray[np.uint64]) -> Iterator[list[int]]:
    for at in range(0, len(ids), _FULL_ROWS):
        yield ids[at : at + _FULL_ROWS].tolist()


def _unique(rows: pa.Table) -> pa.Table:
    """Without rows that share a key, which is damage, and is for ``doctor`` to see to."""
    keys = list(zip(*(rows[name].to_pylist() for name in _KEY), strict=True))
    if len(set(keys)) == len(keys):
        return rows
    once = [keys.count(key) == 1 for key in keys]
    return rows.filter(pa.array(once))
