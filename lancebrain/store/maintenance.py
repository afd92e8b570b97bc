"""Keeping the table quick and small: tombstones, fragments, indices, old versions.

All of it under the index lock and on the newest version. Nothing here changes what a search
finds, only how fast and from how many files.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from . import indices
from .retention import drop_versions
from .schema import TOMBSTONES

if TYPE_CHECKING:
    from .connection import Table

_ROWS_A_FRAGMENT = 2_000
"""Without a vector index a compaction rewrites the whole table: one more piece for so many rows
is borne before that."""
_DUE_VERSIONS = 20
"""Fewer old versions than this are not worth a cleanup."""
_NEVER = timedelta(days=36_500)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a table may get behind before maintaining it pays.

    Attributes:
        small_fragments: pieces that a scan may have to read.
        unindexed_share: of all rows, outside the full-text index.
        vectors: a vector index may lack or be in pieces.
    """

    small_fragments: int
    unindexed_share: float
    vectors: bool


AT_REST = Tolerance(small_fragments=20, unindexed_share=indices.UNINDEXED_SHARE, vectors=False)
"""From about here every read and write is slower than after maintenance."""
WHILE_FILLING = Tolerance(small_fragments=80, unindexed_share=0.25, vectors=True)
"""While vectors are filled in, each commit moves a thousand rows out of the indices: rebuilding
them as often as at rest took a fifth of a first index."""


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
    """Whether it pays to maintain the table now; costs some milliseconds.

    Args:
        due_versions: that a cleanup would remove.
    """
    return (
        len(due_versions) >= _DUE_VERSIONS
        or _is_in_pieces(table, tolerance)
        or indices.is_behind(table, tolerance.unindexed_share)
        or (not tolerance.vectors and indices.vectors_due(table))
    )


def maintain(
    table: Table,
    folder: Path,
    due_versions: Collection[int],
    *,
    only_due: bool,
    tolerance: Tolerance = AT_REST,
) -> MaintenanceReport:
    """Do what is due, or all of it.

    Args:
        table: at its newest version.
        folder: of the table.
        due_versions: to clean up.
        only_due: leave alone what does not pay yet: a compaction may rewrite the whole table.
        tolerance: what pays.
    """
    started = time.monotonic()
    fragments = _fragment_count(table)
    tombstones, dropped, rebuilt = 0, 0, []
    clean_up = len(due_versions) >= _DUE_VERSIONS or not only_due
    if clean_up or _is_in_pieces(table, tolerance):
        tombstones = int(table.count_rows(TOMBSTONES))
        if tombstones:
            table.delete(TOMBSTONES)
        if clean_up:
            drop_versions(folder, due_versions)
            dropped = len(due_versions)
        rebuilt = _refresh(table)
    elif indices.is_behind(table, tolerance.unindexed_share):
        indices.build_full_text(table)
        rebuilt = ["text"]
    if not tolerance.vectors and indices.vectors_due(table):
        indices.build_vectors(table)
        rebuilt.append("vector")
    return MaintenanceReport(
        version=table.version,
        tombstones=tombstones,
        fragments_before=fragments,
        fragments_after=_fragment_count(table),
        versions_removed=dropped,
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


def _is_in_pieces(table: Table, tolerance: Tolerance) -> bool:
    small = table.stats()["fragment_stats"]["num_small_fragments"]
    if "vector" in indices.indices_of(table):
        return bool(small > tolerance.small_fragments)
    return bool(small > tolerance.small_fragments + table.count_rows() // _ROWS_A_FRAGMENT)


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
    # No age: which versions go is decided by ``retention``, since LanceDB refuses to clean up
    # anything once a tagged version is older than the age it is given.
    table.optimize(cleanup_older_than=_NEVER, delete_unverified=True)


def _fragment_count(table: Table) -> int:
    return int(table.stats()["fragment_stats"]["num_fragments"])
