"""Which old versions go. Pure.

LanceDB cleans up by age and refuses altogether once a tag is older than that age. So the
manifests of the versions that go are removed by ``Storage.drop_versions``; what they alone
referred to then belongs to no version, and LanceDB's own cleanup takes it away.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

MIN_KEEP = timedelta(hours=1)
"""Cleaning up younger versions would take files from under readers."""
_QUIET = ("backfill", "maintenance")
"""Reasons of versions that hold the same documents and texts as the one before."""


def due_versions(
    made_at: Mapping[int, datetime],
    *,
    kept: Collection[int],
    reasons: Mapping[int, str],
    keep: timedelta,
    now: datetime,
) -> list[int]:
    """The versions to clean up, oldest first; never the newest.

    What was current at any time within ``keep`` can still be read. Of a run of versions with the
    same texts, the first and the last stay for so long, those between go after an hour: filling
    in vectors and maintenance rewrite much and change nothing.

    Args:
        made_at: when each version was made.
        kept: versions that stay in any case.
        reasons: of the versions that have a record.
        keep: age up to which versions stay; at least :data:`MIN_KEEP`.
        now: UTC-aware.
    """
    versions = sorted(made_at)
    limit = now - max(keep, MIN_KEEP)
    old = {
        version
        for version, following in pairwise(versions)
        if version not in kept and made_at[following] < limit
    }
    left = [version for version in versions if version not in old]
    texts = _texts_numbers(versions, reasons)
    between = {
        version
        for before, version, following in zip(left, left[1:], left[2:], strict=False)
        if version not in kept
        and made_at[following] < now - MIN_KEEP
        and texts[before] == texts[version] == texts[following]
    }
    return sorted(old | between)


def _texts_numbers(versions: Sequence[int], reasons: Mapping[int, str]) -> dict[int, int]:
    """A number for each version; versions of one number hold the same documents and texts."""
    numbers: dict[int, int] = {}
    reason, number = "", 0
    for version in reversed(versions):
        # Maintenance makes several versions and records the last: one without a record belongs
        # to the next that has one.
        reason = reasons.get(version, reason)
        numbers[version] = number
        number += reason not in _QUIET
    return numbers
