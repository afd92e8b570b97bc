"""Keeping the table quick and small: tombstones, fragments, indices, old versions.

All of it under the index lock and on the newest version. Nothing here changes what a search
finds, only how fast and from how many files.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from . import indices
from .joining import Piece, join, pieces_of, tiny, to_join
from .memory import give_back
from .schema import TOMBSTONES

if TYPE_CHECKING:
    from .connection import Table
    from .storage import Storage

_DUE_VERSIONS = 20
"""Fewer old versions than this are not worth a cleanup."""
TINY_PIECES = 8
"""More pieces of single edits than these are joined. With 75 of them, and their rows outside the
indices, a look with its commit took 2.5 times what it takes after maintenance, and a question
twice; joining eight takes about as long as two commits."""
_NEVER = timedelta(days=36_500)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a table may get behind before maintaining it pays.

    Attributes:
        tiny_pieces: of the size that single edits leave.
        like_pieces: of about the same size, of any larger size.
        unindexed_share: of all rows, outside the full-text index.
        vectors: a vector index may lack or be in pieces.
    """

    tiny_pieces: int
    like_pieces: int
    unindexed_share: float
    vectors: bool


AT_REST = Tolerance(
    tiny_pieces=TINY_PIECES, like_pieces=6, unindexed_share=indices.UNINDEXED_SHARE, vectors=False
)
"""From about here every read and write is slower than after maintenance."""
WHILE_FILLING = Tolerance(tiny_pieces=80, like_pieces=80, unindexed_share=0.25, vectors=True)
"""While much comes in: each commit of vectors moves a thousand rows out of the indices, and
rebuilding them as often as at rest took a fifth of a first index."""

THOROUGH = replace(AT_REST, tiny_pieces=1, like_pieces=1)
"""Where someone asks for it; the indices then cover everything."""


@dataclass(frozen=True, slots=True)
class MaintenanceReport:
    """What maintenance did.

    Attributes:
        version: of the table afterwards.
        tombstones: removed rows that were deleted.
        fragments_before, fragments_after: pieces that a scan reads.
        versions_removed: old versions that were cleaned up.
        rebuilt: columns whose index was built anew.
        seconds: how long it took.
    """

    version: int
    tombstones: int = 0
    fragments_before: int = 0
    fragments_after: int = 0
    versions_removed: int = 0
    rebuilt: tuple[str, ...] = ()
    seconds: float = 0.0


def is_due(table: Table, due_versions: Collection[int], tolerance: Tolerance = AT_REST) -> bool:
    """Whether old versions or small pieces make it pay to maintain the table now; costs some tens
    of milliseconds.

    Args:
        due_versions: that a cleanup would remove.
    """
    return len(due_versions) >= _DUE_VERSIONS or bool(_to_join(pieces_of(table), tolerance))


def are_indices_due(table: Table, tolerance: Tolerance = AT_REST) -> bool:
    """Whether indices are so far behind that maintenance pays; costs a millisecond."""
    return indices.is_behind(table, tolerance.unindexed_share) or (
        not tolerance.vectors and indices.vectors_due(table)
    )


def join_tiny(table: Table) -> None:
    """Join the pieces that single edits left, if there are so many that everything is slower."""
    pieces = tiny(pieces_of(table))
    if len(pieces) > TINY_PIECES:
        join(table, pieces)


def maintain(
    table: Table,
    storage: Storage,
    due_versions: Collection[int],
    *,
    only_due: bool,
    tolerance: Tolerance = AT_REST,
) -> MaintenanceReport:
    """Do what is due, or all of it.

    Args:
        table: at its newest version.
        storage: of the table.
        due_versions: to clean up.
        only_due: leave alone what does not pay yet.
        tolerance: what pays.
    """
    started = time.monotonic()
    pieces = pieces_of(table)
    joined = _to_join(pieces, tolerance if only_due else THOROUGH)
    clean_up = len(due_versions) >= _DUE_VERSIONS or not only_due
    tombstones = int(table.count_rows(TOMBSTONES)) if clean_up or joined else 0
    if tombstones:
        table.delete(TOMBSTONES)
    rebuilt = _joined(table, joined, pieces)
    is_behind = indices.is_behind(table, tolerance.unindexed_share)
    if is_behind or not (only_due or indices.covers_all_text(table)):
        rebuilt += indices.rebuild(table)
    if not tolerance.vectors and indices.vectors_due(table):
        indices.build_vectors(table)
        rebuilt.append("vector")
    if clean_up:
        storage.drop_versions(due_versions)
        storage.collect(fragments=_fragment_count(table))
    return MaintenanceReport(
        version=table.version,
        tombstones=tombstones,
        fragments_before=len(pieces),
        fragments_after=_fragment_count(table),
        versions_removed=len(due_versions) if clean_up else 0,
        rebuilt=tuple(rebuilt),
        seconds=time.monotonic() - started,
    )


def survey(table: Table) -> MaintenanceReport:
    """A report of nothing done: what there is."""
    fragments = _fragment_count(table)
    return MaintenanceReport(
        version=table.version,
        tombstones=int(table.count_rows(TOMBSTONES)),
        fragments_before=fragments,
        fragments_after=fragments,
    )


def _to_join(pieces: Sequence[Piece], tolerance: Tolerance) -> list[Piece]:
    return to_join(pieces, tiny=tolerance.tiny_pieces, alike=tolerance.like_pieces)


def _joined(table: Table, joined: Sequence[Piece], pieces: Sequence[Piece]) -> list[str]:
    """Join pieces; returns columns whose index was missing or had to be built anew."""
    rows, written = (sum(piece.rows for piece in some) for some in (pieces, joined))
    if not joined:
        return indices.build_missing(table)
    if 2 * written >= rows:
        return _refresh(table)  # which writes all of it anew, and takes less time for it
    join(table, joined)
    return indices.build_missing(table)


def _refresh(table: Table) -> list[str]:
    """Compact, bring every index up to date, and delete files that belong to no version.

    The index lock must be held: files of a write that is under way belong to no version yet.

    Returns:
        Columns whose index was missing or had to be built anew.
    """
    rebuilt = indices.build_missing(table)
    try:
        _optimize(table)
        is_covered = indices.covers_all_text(table)
    except RuntimeError:
        is_covered = False
    if not is_covered:
        # A damaged full-text index fails it, or is passed over in silence. Built anew, it covers
        # everything; a second failure is told.
        indices.build_full_text(table)
        rebuilt.append("text")
        _optimize(table)
    return rebuilt


def _optimize(table: Table) -> None:
    give_back()  # a compaction holds much of the table
    # No age: which versions go is decided by ``retention``, since LanceDB refuses to clean up
    # anything once a tagged version is older than the age it is given.
    table.optimize(cleanup_older_than=_NEVER, delete_unverified=True)


def _fragment_count(table: Table) -> int:
    return int(table.stats()["fragment_stats"]["num_fragments"])
