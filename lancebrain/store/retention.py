"""Which old versions go, decided from the manifests alone.

LanceDB cleans up by age and refuses altogether once a tag is older than that age. So the
manifests of the versions that go are removed here; what they alone referred to then belongs to
no version, and LanceDB's own cleanup takes it away.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from .manifests import manifest_file, newest_manifests, version_of

MIN_KEEP = timedelta(hours=1)
"""Cleaning up younger versions would take files from under readers."""


def drop_versions(
    table: Path, tagged: Collection[int], *, keep: timedelta, now: datetime
) -> list[int]:
    """Remove the manifests of versions that are due, and return these.

    The caller holds the index lock. Each removal leaves a whole table.

    Args:
        table: the table's folder.
        tagged: versions that stay in any case.
        keep: age up to which the others stay; at least :data:`MIN_KEEP`.
        now: UTC-aware.
    """
    made_at: dict[int, datetime] = {}
    for manifest in newest_manifests(table):
        made = datetime.fromtimestamp(manifest.stat().st_mtime, UTC)
        made_at[version_of(manifest)] = made
    due = due_versions(made_at, tagged, before=now - max(keep, MIN_KEEP))
    for version in due:
        manifest_file(table, version).unlink(missing_ok=True)
    return due


def due_versions(
    made_at: Mapping[int, datetime], tagged: Collection[int], *, before: datetime
) -> list[int]:
    """Versions that were replaced by another ``before`` that time, oldest first, tagged ones not.

    So what was current at any time since ``before`` can still be read.
    """
    versions = sorted(made_at)
    followed = pairwise(versions)
    return [v for v, following in followed if v not in tagged and made_at[following] < before]
