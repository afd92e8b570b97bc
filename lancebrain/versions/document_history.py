"""The versions in which one document changed, found without reading every version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lancebrain.store import DocumentStat, Store
from lancebrain.types import Version
from lancebrain.versions.history import history

# What brings old rows back: between two versions around it, equal rows need not have stayed.
_JUMPS = frozenset({"rollback", "forget", "migrate", ""})


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """A version in which a document became another.

    Attributes:
        what: ``added``, ``changed``, ``removed``; ``kept`` for the oldest version that can be
            read, where what was before is not known.
        size: of the file, in bytes; 0 when it was removed.
    """

    version: int
    at: datetime
    what: Literal["added", "changed", "removed", "kept"]
    size: int
    is_current: bool
    tags: tuple[str, ...] = ()


def document_history(store: Store, path: str) -> list[DocumentVersion]:
    """The versions in which a document changed, newest first; none if no version has it.

    A row that is written anew has another time of its last look. So two versions with the same
    row had it in between too, unless an old row came back there, and two without one had none,
    unless documents came in: what is between the others need not be read.
    """
    versions = history(store)[::-1]
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

    found: list[DocumentVersion] = []
    before = stat(0)
    if before is not None:
        what: Literal["added", "kept"] = "added" if versions[0].reason == "create" else "kept"
        found.append(_of(versions[0], what, before))
    for at in changes(0, len(versions) - 1):
        now, before = stat(at), stat(at - 1)
        if now is None and before is not None:
            found.append(_of(versions[at], "removed", None))
        elif now is not None and before is None:
            found.append(_of(versions[at], "added", now))
        elif now is not None and before is not None and now.sha256 != before.sha256:
            found.append(_of(versions[at], "changed", now))
    return found[::-1]


def _may_hide(version: Version, around: DocumentStat | None) -> bool:
    """Whether a version between two with the same row, or none, may have had another."""
    came_in = around is None and not version.counts.keys().isdisjoint(("added", "moved"))
    return came_in or version.reason in _JUMPS


def _of(
    version: Version,
    what: Literal["added", "changed", "removed", "kept"],
    stat: DocumentStat | None,
) -> DocumentVersion:
    return DocumentVersion(
        version=version.version,
        at=version.at,
        what=what,
        size=stat.size if stat else 0,
        is_current=version.is_current,
        tags=version.tags,
    )
