"""Room on disk: what a cleanup takes away, or would."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from lancebrain.store import Store


@dataclass(frozen=True, slots=True)
class Optimized:
    """What was cleaned up, or would be.

    Attributes:
        version: that is current afterwards.
        versions_removed: old versions without a checkpoint.
        versions_kept: how many can still be read.
        tombstones: rows of removed text that were taken out.
        fragments_before, fragments_after: pieces that a scan reads; of a dry run, both as now.
        rebuilt: columns whose index was built anew.
        bytes_before, bytes_after: of the index folder; of a dry run, both as now.
    """

    version: int
    versions_removed: tuple[int, ...]
    versions_kept: int
    tombstones: int
    fragments_before: int
    fragments_after: int
    rebuilt: tuple[str, ...]
    bytes_before: int
    bytes_after: int
    seconds: float


def optimize(
    store: Store,
    *,
    keep_versions: timedelta,
    now: datetime,
    lock_timeout_s: float,
    dry_run: bool = False,
) -> Optimized:
    """Clean up old versions, take removed rows out, join pieces, bring the indices up to date.

    Args:
        keep_versions: age up to which versions without a checkpoint stay; at least an hour.
        now: UTC-aware.
        lock_timeout_s: how long to wait for a sync that is under way.
        dry_run: only tell what would be done.

    Raises:
        IndexLockedError: another process held the lock for longer.
        StoreError: the index cannot be written.
    """
    started = time.monotonic()
    before = store.bytes()
    if dry_run:
        due = store.due_versions(keep_versions, now)
        report = store.survey()
    else:
        with store.lock(lock_timeout_s):
            due = store.due_versions(keep_versions, now)
            report = store.maintain(keep_versions=keep_versions, now=now)
    left = len(store.versions())
    return Optimized(
        version=report.version,
        versions_removed=tuple(due),
        versions_kept=left - len(due) if dry_run else left,
        tombstones=report.tombstones,
        fragments_before=report.fragments_before,
        fragments_after=report.fragments_after,
        rebuilt=report.rebuilt,
        bytes_before=before,
        bytes_after=store.bytes(),
        seconds=time.monotonic() - started,
    )
