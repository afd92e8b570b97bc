"""Keeping the table quick and small: tombstones, fragments, indices, old versions.

All of it under the index lock and on the newest version. Nothing here changes what a search
finds, only how fast and from how many files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from .schema import TOMBSTONES

if TYPE_CHECKING:
    from .connection import Table

MIN_KEEP = timedelta(hours=1)
"""Cleaning up younger versions would take files from under readers."""
_MAX_SMALL_FRAGMENTS = 20
_MAX_UNINDEXED_ROWS = 2_000
_MAX_VERSIONS = 100
_SCALAR_INDEXES = ("path", "chunk_index")


@dataclass(frozen=True, slots=True)
class MaintenanceReport:
    """What maintenance did.

    Attributes:
        version: of the table afterwards.
        tombstones: removed rows that were deleted.
        fragments_before, fragments_after: files that a scan reads.
        versions_removed: old versions that were cleaned up.
        rebuilt: indices that had to be built anew.
    """

    version: int
    tombstones: int = 0
    fragments_before: int = 0
    fragments_after: int = 0
    versions_removed: int = 0
    rebuilt: tuple[str, ...] = ()
    seconds: float = 0.0


def needs_maintenance(table: Table) -> bool:
    """Whether it pays to maintain the table now; costs a few milliseconds."""
    stats = table.stats()
    if stats["fragment_stats"]["num_small_fragments"] > _MAX_SMALL_FRAGMENTS:
        return True
    return any(index.num_unindexed_rows > _MAX_UNINDEXED_ROWS for index in table.list_indices())


def build_indices(table: Table) -> list[str]:
    """Build the indices that are missing, and return their columns."""
    from lancedb.index import FTS, BTree

    there = {index.columns[0] for index in table.list_indices()}
    built: list[str] = []
    if "text" not in there:
        # Stemming is English only and gains nothing measurable; stop words are words in code
        # and in other languages.
        words = FTS(
            base_tokenizer="icu/split", with_position=True, stem=False, remove_stop_words=False
        )
        table.create_index("text", config=words, replace=True)
        built.append("text")
    for column in _SCALAR_INDEXES:
        if column not in there:
            table.create_index(column, config=BTree(), replace=True)
            built.append(column)
    return built


def purge_tombstones(table: Table) -> int:
    """Delete removed rows for good, and return how many."""
    count = int(table.count_rows(TOMBSTONES))
    if count:
        table.delete(TOMBSTONES)
    return count


def cleanup_age(
    table: Table, tagged: Iterable[int], *, keep: timedelta, now: datetime
) -> timedelta:
    """How old a version may get: ``keep``, but never so short that a tagged one would go.

    Lance refuses to clean up at all when a tagged version is old enough to go, so that the
    oldest tag sets the limit.

    Args:
        tagged: versions that tags name.
        now: UTC-aware.
    """
    keep = max(keep, MIN_KEEP)
    wanted = set(tagged)
    if not wanted:
        return keep
    # list_versions gives local time without a zone.
    oldest: datetime | None = min(
        (v["timestamp"].astimezone() for v in table.list_versions() if v["version"] in wanted),
        default=None,
    )
    if oldest is None:
        return keep
    return max(keep, now - oldest + MIN_KEEP)
