"""The versions in which one document changed, found without reading every version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from lancebrain.store import DocumentStat, Store
from lancebrain.types import Version
from lancebrain.versions.diff import diff
from lancebrain.versions.history import history

What = Literal["added", "changed", "moved", "removed", "kept"]

# What brings old rows back: between two versions around it, equal rows need not have stayed.
_JUMPS = frozenset({"rollback", "forget", "migrate", ""})


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """A version in which a document became another.

    Attributes:
        path: that it has from this version on, or had until it.
        what: ``added``, ``changed``, ``moved``, ``removed``; ``kept`` for the oldest version that
            can be read, where what was before is not known.
        size: of the file, in bytes; 0 when it was removed.
    """

    version: int
    path: str
    at: datetime
    what: What
    size: int
    is_current: bool
    tags: tuple[str, ...] = ()


def document_history(store: Store, path: str) -> list[DocumentVersion]:
    """The versions in which a document changed, newest first; none if no version has it.

    A document that was moved has the history of its earlier paths too.
    """
    versions = history(store)[::-1]
    found: list[DocumentVersion] = []
    while versions:
        entries = list(_changes(store, versions, path))[::-1]
        came_in = next((n for n, one in enumerate(entries) if one.what == "added"), None)
        if came_in is None:
            return found + entries
        added = entries[came_in]
        after = next(n for n, one in enumerate(versions) if one.version == added.version)
        moved_from = _moved_from(store, versions[: after + 1], path)
        found += entries[:came_in]
        found.append(replace(added, what="moved") if moved_from else added)
        versions, path = versions[:after], moved_from or path
    return found


def _moved_from(store: Store, versions: list[Version], path: str) -> str | None:
    """The path, in the last version but one, of a document that came in with the last one."""
    if len(versions) < 2:
        return None
    before, after = versions[-2:]
    if (
        after.reason == "sync"
        and after.version == before.version + 1
        and not after.counts.get("moved")
    ):
        return None
    changes = diff(store.snapshot(before.version), store.snapshot(after.version), path=path).changes
    return next((change.before for change in changes if change.path == path), None)


def _changes(store: Store, versions: list[Version], path: str) -> Iterator[DocumentVersion]:
    """The versions, of those given in order, in which the document at a path changed.

    A row that is written anew has another time of its last look. So two versions with the same
    row had it in between too, unless an old row came back there, and two without one had none,
    unless documents came in: what is between the others need not be read.
    """
    known: dict[int, DocumentStat | None] = {}

    def stat(at: int) -> DocumentStat | None:
        if at not in known:
            known[at] = store.snapshot(versions[at].version).stats([path]).get(path)
        return known[at]

    def changes(first: int, last: int) -> Iterator[int]:
        """Indices in (first, last] whose version has another row than the one before."""
        between = versions[first + 1 : last + 1]
        if stat(first) == stat(last) and not any(_may_hide(v, stat(first)) for v in between):
            return
        if last == first + 1:
            yield last
            return
        middle = (first + last) // 2
        yield from changes(first, middle)
        yield from changes(middle, last)

    before = stat(0)
    if before is not None:
        what: What = "added" if versions[0].reason == "create" else "kept"
        yield _of(versions[0], path, what, before)
    for at in changes(0, len(versions) - 1):
        now, before = stat(at), stat(at - 1)
        if now is None and before is not None:
            yield _of(versions[at], path, "removed", None)
        elif now is not None and before is None:
            yield _of(versions[at], path, "added", now)
        elif now is not None and before is not None and now.sha256 != before.sha256:
            yield _of(versions[at], path, "changed", now)


def _may_hide(version: Version, around: DocumentStat | None) -> bool:
    """Whether a version between two with the same row, or none, may have had another."""
    came_in = around is None and not version.counts.keys().isdisjoint(("added", "moved"))
    return came_in or version.reason in _JUMPS


def _of(version: Version, path: str, what: What, stat: DocumentStat | None) -> DocumentVersion:
    return DocumentVersion(
        version=version.version,
        path=path,
        at=version.at,
        what=what,
        size=stat.size if stat else 0,
        is_current=version.is_current,
        tags=version.tags,
    )
