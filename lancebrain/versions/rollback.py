"""Rolling the index back, and following the files again.

A rollback makes a new version that equals an old one and holds live sync, which would undo it at
once. The hold comes first, so that a crash between the two leaves a hold that everyone sees, and
that says whether the index is as it was before or after.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime

from lancebrain.errors import StoreError
from lancebrain.store import HoldInfo, Snapshot, Store
from lancebrain.store.schema import EMBEDDED_ROWS
from lancebrain.types import CommitRecord, DocumentChange, Problem, Rollback
from lancebrain.versions.diff import diff
from lancebrain.versions.refs import resolve
from lancebrain.versions.wayback import name_way_back

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
        StoreError: the index cannot be written; it is as it was, unless the error says otherwise.
    """
    if dry_run:
        return _planned(store, ref, now)[0]
    started = time.monotonic()
    with store.lock(lock_timeout_s), ExitStack() as undo:
        plan, changes = _planned(store, ref, now)
        before = store.snapshot()
        checkpoint = name_way_back(store, "rollback", before.version, now=now, undo=undo)
        _keep_vectors(store, before, store.snapshot(plan.restored), changes)
        hold = HoldInfo(plan.ref, plan.restored, now, before.version, done=False)
        _hold(store, hold, undo)
        version = store.restore(plan.restored)
        undo.pop_all()
        with _after(plan):
            seconds = time.monotonic() - started
            note = f"to version {plan.restored}"
            store.commits.append(
                CommitRecord(version, "rollback", now, seconds, plan.changes, True, note)
            )
            store.hold.put(replace(hold, done=True))
            store.ensure_indices()
    return replace(plan, version=version, checkpoint=checkpoint.name)


def resume(store: Store, *, lock_timeout_s: float) -> bool:
    """Lift the hold; whether there was one. The next sync brings the index up to the files."""
    with store.lock(lock_timeout_s):
        held = store.hold.is_set()
        store.hold.clear()
    return held


def cut_short(store: Store) -> Problem | None:
    """Tell of a rollback that was cut short, and whether the index is as before it or after."""
    hold = store.hold.read()
    if hold is None or hold.done:
        return None
    newest = store.snapshot()
    is_restored = newest.version != hold.before
    if is_restored and hold.version in store.versions():
        # Not every version after it is the rollback's: maintenance makes some as well.
        is_restored = not diff(store.snapshot(hold.version), newest).changes
    state = f"as in version {hold.version}" if is_restored else "as it was before"
    return Problem(
        "",
        "rollback-cut-short",
        f"A rollback to {hold.ref} was cut short; the index is {state}. Do it again: "
        f"lancebrain rollback {hold.ref}; or follow the files again: lancebrain resume",
    )


@contextmanager
def _after(plan: Rollback) -> Iterator[None]:
    """What fails from here on does not undo the rollback, and says so."""
    try:
        yield
    except StoreError as error:
        raise StoreError(
            f"The index is rolled back to {plan.ref} and held there, but is not in order yet: "
            f"{error.message}",
            hint=f"{error.hint} The rollback may be done again.",
        ) from error


def _planned(store: Store, ref: str, now: datetime) -> tuple[Rollback, tuple[DocumentChange, ...]]:
    restored = resolve(store, ref, now=now)
    current = store.snapshot()
    then = store.snapshot(restored)
    changes = diff(current, then).changes
    counts: Counter[str] = Counter(change.what for change in changes)
    name = ref.strip() if ref.strip() in store.tags() else str(restored)
    models = (current.info.model, then.info.model)
    plan = Rollback(current.version, restored, current.version, "", dict(counts), name, *models)
    return plan, changes


def _hold(store: Store, info: HoldInfo, undo: ExitStack) -> None:
    """Hold live sync; it is as it was again if the rollback cannot be done."""
    earlier = store.hold.read() if store.hold.is_set() else None
    store.hold.put(info)
    if earlier is None:
        undo.callback(store.hold.clear)
    else:
        undo.callback(store.hold.put, earlier)


def _keep_vectors(
    store: Store, before: Snapshot, after: Snapshot, changes: Sequence[DocumentChange]
) -> None:
    """Put vectors that leave the table into the cache, so that going back embeds nothing."""
    hashes: Iterable[str]
    if before.info.fingerprint == after.info.fingerprint and not after.pending():
        leaving = [change.path for change in changes if change.what in ("changed", "removed")]
        chunks = itertools.chain.from_iterable(before.chunks(leaving).values())
        hashes = (stored.chunk.chunk_hash for stored in chunks)
    else:  # also documents that stay lose vectors
        hashes = before.to_arrow(["chunk_hash"], where=EMBEDDED_ROWS)["chunk_hash"].to_pylist()
    vectors = before.vectors(list(itertools.islice(dict.fromkeys(hashes), _KEPT_VECTORS)))
    if vectors:
        import numpy as np

        store.vector_cache.put(
            before.info.fingerprint, list(vectors), np.stack(list(vectors.values()))
        )
