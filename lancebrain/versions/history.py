"""Versions with the reasons for them: what the table has, annotated by the commit log."""

from __future__ import annotations

from datetime import datetime

from lancebrain.store import Checkpoints, Store
from lancebrain.store.opened import CREATED
from lancebrain.types import CommitRecord, Version


def history(store: Store, *, limit: int | None = None) -> list[Version]:
    """The versions that can still be read, newest first.

    The table decides which there are; a version whose record was lost has no reason. That of a
    new, empty index needs no record.

    Args:
        limit: how many at most.
    """
    made = store.versions()
    records = {record.version: record for record in store.commits.read(made)}
    names = Checkpoints(store).by_version()
    hold = store.hold.read()
    newest = max(made)
    following = ""
    entries = []
    for version in sorted(made, reverse=True)[:limit]:
        record = records.get(version) or _unrecorded(version, made[version], following)
        following = record.reason
        checkpoints = names.get(version, ())
        is_current = version == newest
        entries.append(
            Version(
                version=version,
                at=record.at,
                reason=record.reason,
                seconds=record.seconds,
                counts=record.counts,
                tags=tuple(checkpoint.name for checkpoint in checkpoints),
                message="; ".join(c.message for c in checkpoints if c.message),
                is_current=is_current,
                note=record.note,
                pinned=hold.ref if hold and is_current else None,
            )
        )
    return entries


def made_at(store: Store, version: int) -> datetime:
    """When a version was made that can be read."""
    recorded = {record.version: record.at for record in store.commits.read()}
    return recorded.get(version) or store.versions()[version]


def _unrecorded(version: int, made: datetime, following: str) -> CommitRecord:
    reason = "create" if version == CREATED else ""
    if not reason and following == "maintenance":
        reason = following  # which makes several versions and records the last
    return CommitRecord(version, reason, made, 0.0)
