"""Versions with the reasons for them: what the table has, annotated by the commit log."""

from __future__ import annotations

from lancebrain.store import Store
from lancebrain.types import CommitRecord, Version
from lancebrain.versions.checkpoints import Checkpoints


def history(store: Store, *, limit: int | None = None) -> list[Version]:
    """The versions that can still be read, newest first.

    The table decides which there are; a version whose record was lost has no reason.

    Args:
        limit: how many at most.
    """
    made = store.versions()
    records = {record.version: record for record in store.commits.read()}
    names = Checkpoints(store).by_version()
    newest = max(made)
    versions = sorted(made, reverse=True)[:limit]
    entries = []
    for version in versions:
        record = records.get(version) or CommitRecord(version, "", made[version], 0.0)
        checkpoints = names.get(version, ())
        entries.append(
            Version(
                version=version,
                at=record.at,
                reason=record.reason,
                seconds=record.seconds,
                counts=record.counts,
                tags=tuple(checkpoint.name for checkpoint in checkpoints),
                message="; ".join(c.message for c in checkpoints if c.message),
                is_current=version == newest,
            )
        )
    return entries
