"""Documents by path, folder or glob, in the newest version that has each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from lancebrain.errors import UsageError
from lancebrain.nearest import nearest
from lancebrain.store import Snapshot, Store
from lancebrain.types import DocumentState, Filter, Version
from lancebrain.versions.diff import diff
from lancebrain.versions.history import history

_KEEPS_ALL = frozenset({"backfill", "maintenance"})


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document in the version that it was found in.

    Attributes:
        snapshot: of that version.
        moved_to: its path in the version after it, in which the same bytes have another.
    """

    state: DocumentState
    snapshot: Snapshot
    moved_to: str | None = None


Found = Mapping[str, FoundDocument]


def find_documents(store: Store, pattern: str, *, version: int | None = None) -> Found:
    """Documents that a path matches, by path, each in the newest version that has it.

    Args:
        pattern: a document path, a folder (``notes/2026/``) or a glob.
        version: to look in; None: all that can be read.
    """
    found: dict[str, FoundDocument] = {}
    for looked_in, later in _versions(store, version):
        snapshot = store.snapshot(looked_in)
        paths = sorted(set(snapshot.matching(Filter(path=pattern))) - found.keys())
        moved = _moved(snapshot, store.snapshot(later)) if paths and later else {}
        for path, state in snapshot.documents(paths).items():
            found[path] = FoundDocument(state, snapshot, moved.get(path))
    return dict(sorted(found.items()))


def _versions(store: Store, version: int | None) -> Iterator[tuple[int, int | None]]:
    """Those that may have documents which no later one has, newest first, each with the version
    after it."""
    if version is not None:
        yield version, None
        return
    newest, *_ = versions = history(store)
    yield newest.version, None
    for later, entry in pairwise(versions):
        if not _has_all(later, entry):
            yield entry.version, later.version


def _has_all(later: Version, entry: Version) -> bool:
    """Whether it is known that a version has every document of the one before it."""
    if later.version != entry.version + 1:
        return False  # what the versions between did went with them
    is_kept = later.reason == "sync" and not {"removed", "moved"} & later.counts.keys()
    return is_kept or later.reason in _KEEPS_ALL


def _moved(snapshot: Snapshot, later: Snapshot) -> dict[str, str]:
    changes = diff(snapshot, later).changes
    return {change.before: change.path for change in changes if change.before is not None}


def no_document(store: Store, pattern: str, *, version: int | None = None) -> UsageError:
    """The error that no document matches, with the one that may have been meant."""
    versions = sorted({*store.tags().values(), store.snapshot().version})
    having = {path: v for v in versions for path in store.snapshot(v).stats()}
    near = nearest(pattern, having)
    where = "any version that is kept" if version is None else f"version {version}"
    return UsageError(
        f"No document {pattern!r} is in {where}.",
        hint=f"It is in version {having[pattern]}."
        if pattern in having
        else f"Did you mean {near}?"
        if near
        else "Paths begin with the source's name: see `lancebrain export` and `lancebrain diff`.",
    )
