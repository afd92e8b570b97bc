"""Rolling the index back, and following the files again.

A rollback makes a new version that equals an old one and holds live sync, which would undo it at
once. The hold comes first, so that a crash between the two leaves a hold that everyone sees and
an index as it was.
"""

from __future__ import annotations

import time
from collections import Counter
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.store import Snapshot, Store
from lancebrain.types import CommitRecord, Rollback
from lancebrain.versions.checkpoints import Checkpoints
from lancebrain.versions.diff import diff
from lancebrain.versions.refs import resolve

_KEPT_VECTORS = 20_000
"""So many vectors at most go into the cache, for the way back."""


def rollback(
    store: Store, ref: str, *, now: datetime, lock_timeout_s: float, dry_run: bool = False
) -> Rollback:
    """Make the index equal to an earlier version, and hold it there.

    Args:
        ref: see :func:`lancebrain.versions.refs.resolve`.
        now: UTC-aware.
        lock_timeout_s: how long to wait for a sync that is under way.
        dry_run: only tell what would be done.

    Raises:
        UsageError: there is no such version.
        IndexLockedError: another process held the lock for longer.
        StoreError: the index cannot be written.
    """
    if dry_run:
        return _planned(store, ref, now)
    started = time.monotonic()
    with store.lock(lock_timeout_s):
        plan = _planned(store, ref, now)
        before = store.snapshot()
        checkpoint = Checkpoints(store).create_automatic("rollback", before.version, at=now)
        _keep_vectors(store, before, store.snapshot(plan.restored))
        store.hold.set(ref, plan.restored, now)
        version = store.restore(plan.restored)
        store.commits.append(
            CommitRecord(
                version, "rollback", now, time.monotonic() - started, plan.changes, pinned=True
            )
        )
        store.ensure_indices()
    return Rollback(before.version, plan.restored, version, checkpoint.name, plan.changes)


def resume(store: Store, *, lock_timeout_s: float) -> bool:
    """Lift the hold; whether there was one. The next sync brings the index up to the files."""
    with store.lock(lock_timeout_s):
        held = store.hold.is_set()
        store.hold.clear()
    return held


def _planned(store: Store, ref: str, now: datetime) -> Rollback:
    restored = resolve(store, ref, now=now)
    current = store.snapshot()
    changes = diff(current, store.snapshot(restored)).changes
    counts: Counter[str] = Counter(change.what for change in changes)
    return Rollback(current.version, restored, current.version, "", dict(counts))


def _keep_vectors(store: Store, before: Snapshot, after: Snapshot) -> None:
    """Put vectors that leave the table into the cache, so that going back embeds nothing."""
    there, left = (
        pc.unique(snapshot.to_arrow(["chunk_hash"], where="vector IS NOT NULL")["chunk_hash"])
        for snapshot in (after, before)
    )
    leaving: pa.Array = left.filter(pc.invert(pc.is_in(left, there)))
    vectors = before.vectors(leaving.to_pylist()[:_KEPT_VECTORS])
    if vectors:
        import numpy as np

        store.vector_cache.put(
            store.info.fingerprint, list(vectors), np.stack(list(vectors.values()))
        )
