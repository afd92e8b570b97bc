"""What people call a version → its number: ``12``, a checkpoint, a time, ``latest~1``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from datetime import datetime

from lancebrain.errors import UsageError
from lancebrain.moments import moment
from lancebrain.store import Store
from lancebrain.types import Version
from lancebrain.versions.history import history

_NUMBER = re.compile(r"[vV]?(\d{1,18})")
_BACK = re.compile(r"(?P<from>[^~]*)~(?P<count>\d{1,9})")
_SILENT = frozenset({"maintenance", "backfill"})
_NEWEST = ("", "latest", "current")


def resolve(store: Store, ref: str, *, now: datetime | None = None) -> int:
    """The version that a reference means.

    Args:
        ref: a number (``12``, ``v12``), the name of a checkpoint, ``latest``, a time (see
            :func:`lancebrain.moments.moment`), which means the version that was current then,
            or any of these with ``~N`` behind it: the state before the last N changes that led
            there. ``~N`` alone is ``latest~N``, which a shell leaves as it is.
        now: UTC-aware; the present by default.

    Raises:
        UsageError: there is no such version, any more or at all; it says which there are.
    """
    ref = ref.strip()
    if not ref:
        raise _unknown(ref, {})
    versions = history(store)
    if back := _BACK.fullmatch(ref):
        start = _resolve(store, back["from"].strip(), versions, now)
        return _changes_back(int(back["count"]), [v for v in versions if v.version <= start])
    return _resolve(store, ref, versions, now)


def _resolve(store: Store, ref: str, versions: Sequence[Version], now: datetime | None) -> int:
    tags = store.tags()
    if ref in tags:
        return tags[ref]
    if ref in _NEWEST:
        return versions[0].version
    if number := _NUMBER.fullmatch(ref):
        return _existing(int(number[1]), versions)
    try:
        at = moment(ref, now=now)
    except UsageError:
        raise _unknown(ref, tags) from None
    return _current_at(at, ref, versions)


def _existing(number: int, versions: Sequence[Version]) -> int:
    if any(entry.version == number for entry in versions):
        return number
    oldest, newest = versions[-1].version, versions[0].version
    gone = "is not there any more" if number < newest else "does not exist"
    raise UsageError(
        f"Version {number} {gone}; there are {len(versions)} from {oldest} to {newest}.",
        hint="See them with `lancebrain history`.",
    )


def _changes_back(count: int, versions: Sequence[Version]) -> int:
    """The state before the last ``count`` versions that changed what is found."""
    changes = [i for i, entry in enumerate(versions) if entry.reason not in _SILENT]
    if count == 0:
        return versions[0].version
    if count > len(changes) or changes[count - 1] + 1 >= len(versions):
        raise UsageError(
            f"There are only {max(len(changes) - 1, 0)} changes to go back.",
            hint="See them with `lancebrain history`.",
        )
    return versions[changes[count - 1] + 1].version


def _current_at(at: datetime, ref: str, versions: Sequence[Version]) -> int:
    # By version, not by time: a clock that was set back does not reorder the versions.
    for entry in versions:
        if entry.at <= at:
            return entry.version
    raise UsageError(
        f"Nothing is kept from {ref}; the oldest version is from "
        f"{versions[-1].at.astimezone():%Y-%m-%d %H:%M:%S}.",
        hint="See what there is with `lancebrain history`; `latest~1` is the state before the last "
        "change.",
    )


def _unknown(ref: str, tags: dict[str, int]) -> UsageError:
    near = difflib.get_close_matches(ref, tags, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return UsageError(
        f"{ref!r} is no version, checkpoint or time.",
        hint=f"{hint}Write a number from `lancebrain history`, a name from "
        "`lancebrain checkpoint --list`, latest~1, yesterday, 2d, or 2026-11-29T10:00.",
    )
