"""Keeping the table quick and small: tombstones, fragments, indices, old versions.

All of it under the index lock and on the newest version. Nothing here changes what a search
finds, only how fast and from how many files.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from . import indices
from .joining import can_join_full, join, join_full, pieces_of, tiny, to_join
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


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a table may get behind before maintaining it pays.

    Attributes:
        tiny_pieces: of the size that single edits leave.
        like_pieces: of about the same size, of any larger size.
        unindexed_rows: outside an index.
        unindexed_share: of the rows in the index, borne beside those.
        gone_share: of the rows there are, of rows that are gone and still are in an index.
    """

    tiny_pieces: int
    like_pieces: int
    unindexed_rows: int
    unindexed_share: float
    gone_share: float


AT_REST = Tolerance(
    tiny_pieces=TINY_PIECES, like_pieces=6, unindexed_rows=250, unindexed_share=0, gone_share=0.5
)
"""From about here every read and write is slower than after maintenance. Each thousand rows outside
the indices costs a question 40 ms without their words and 10 ms without their vectors; to take them
in costs as much as two commits."""
WHILE_FILLING = replace(
    AT_REST, tiny_pieces=80, like_pieces=80, unindexed_rows=1_000, unindexed_share=0.01
)
"""While much comes in."""

THOROUGH = replace(AT_REST, tiny_pieces=1, like_pieces=1, unindexed_rows=0, gone_share=0.1)
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
    if len(due_versions) >= _DUE_VERSIONS:
        return True
    pieces, alike = pieces_of(table), tolerance.like_pieces
    small = to_join(pieces, tiny=tolerance.tiny_pieces, alike=alike)
    return bool(small) or can_join_full(table, pieces, alike=alike)


def are_indices_due(table: Table, tolerance: Tolerance = AT_REST) -> bool:
    """Whether indices are so far behind that maintenance pays; costs some milliseconds."""
    return is_behind(table, tolerance) or indices.vectors_due(table)


def is_behind(table: Table, tolerance: Tolerance) -> bool:
    """Whether an index is missing or lacks more rows than is borne; costs some milliseconds."""
    return indices.is_due(table, tolerance.unindexed_rows, tolerance.unindexed_share)


def bring_up_indices(table: Table, tolerance: Tolerance) -> list[str]:
    """Build what is missing and quick to build, and take in what is outside; the columns whose
    index was built anew."""
    return indices.bring_up(
        table, tolerance.unindexed_rows, tolerance.unindexed_share, tolerance.gone_share
    )


def bring_up_all_indices(table: Table, tolerance: Tolerance) -> list[str]:
    """The same, and build the index on vectors where it is due."""
    rebuilt = bring_up_indices(table, tolerance)
    if indices.vectors_due(table) or indices.vectors_outgrown(table):
        indices.build_vectors(table)
        rebuilt.append("vector")
    return rebuilt


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
    tolerance = tolerance if only_due else THOROUGH
    pieces = pieces_of(table)
    joined = to_join(pieces, tiny=tolerance.tiny_pieces, alike=tolerance.like_pieces)
    clean_up = len(due_versions) >= _DUE_VERSIONS or not only_due
    tombstones = int(table.count_rows(TOMBSTONES)) if clean_up or joined else 0
    if tombstones:
        table.delete(TOMBSTONES)
    if joined:
        join(table, joined)
    rebuilt = bring_up_all_indices(table, tolerance)
    join_full(table, pieces_of(table), alike=tolerance.like_pieces)
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


def _fragment_count(table: Table) -> int:
    return int(table.stats()["fragment_stats"]["num_fragments"])
