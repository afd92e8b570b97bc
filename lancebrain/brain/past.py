"""The index in time, for fronts: its versions, reading one of them, going back and on again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lancebrain.types import Answer, Diff, Query, Rollback, Version

if TYPE_CHECKING:
    from lancebrain.brain.facade import Brain
    from lancebrain.store import Snapshot


def history_of(brain: Brain, *, limit: int | None = None) -> list[Version]:
    """The versions that can still be read, newest first."""
    from lancebrain.versions import history

    return history(brain._access.store(), limit=limit)


def snapshot_at(brain: Brain, ref: str) -> Snapshot:
    """The version that a reference or a time means.

    Raises:
        UsageError: there is none.
    """
    from lancebrain.versions import resolve

    store = brain._access.store()
    return store.snapshot(resolve(store, ref))


def search_at(brain: Brain, query: Query, ref: str) -> Answer:
    """Answer from an earlier version; the files of its hits need not be there any more.

    Raises:
        UsageError: there is no such version.
    """
    from lancebrain.search import search

    embedder = None
    if query.mode != "keyword":
        embedder = brain._access.embedder_for(brain._access.store())
    sources = brain.settings.sources
    return search(snapshot_at(brain, ref), query, embedder, sources=sources, live=False)


def changes_between(brain: Brain, earlier: str, later: str = "latest") -> Diff:
    """What documents differ between two versions.

    Raises:
        UsageError: there is no such version.
    """
    from lancebrain.versions import diff

    return diff(snapshot_at(brain, earlier), snapshot_at(brain, later))


def roll_back(brain: Brain, ref: str, *, dry_run: bool = False) -> Rollback:
    """Make the index equal to an earlier version and hold it there; no file is touched.

    Raises:
        UsageError: there is no such version.
        IndexLockedError: another process is writing for too long.
    """
    from lancebrain.versions import rollback

    return rollback(
        brain._access.store(),
        ref,
        now=datetime.now(UTC),
        lock_timeout_s=brain.settings.lock_timeout_s,
        dry_run=dry_run,
    )


def resume_following(brain: Brain) -> bool:
    """Let the index follow the files again; whether it was held."""
    from lancebrain.versions import resume

    return resume(brain._access.store(), lock_timeout_s=brain.settings.lock_timeout_s)
