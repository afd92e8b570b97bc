"""Documents by path, folder or glob, in the newest version that has each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from lancebrain.store import Snapshot, Store
from lancebrain.types import DocumentState, Filter
from lancebrain.versions.history import history

Found = Mapping[str, tuple[DocumentState, Snapshot]]


def find_documents(store: Store, pattern: str, *, version: int | None = None) -> Found:
    """Documents that a path matches, by path, with the version that each is from.

    Args:
        pattern: a document path, a folder (``notes/2026/``) or a glob.
        version: to look in; None: all that can be read, the newest that has a document counts.
    """
    found: dict[str, tuple[DocumentState, Snapshot]] = {}
    for snapshot in _snapshots(store, version):
        paths = set(snapshot.matching(Filter(path=pattern))) - found.keys()
        states = snapshot.documents(sorted(paths))
        found |= {path: (state, snapshot) for path, state in states.items()}
    return dict(sorted(found.items()))


def _snapshots(store: Store, version: int | None) -> Iterator[Snapshot]:
    if version is not None:
        yield store.snapshot(version)
        return
    yield store.snapshot()
    for later, entry in pairwise(history(store)):
        # Only what a version took away is not in the version after it.
        if not later.reason or later.counts.get("removed") or later.counts.get("moved"):
            yield store.snapshot(entry.version)
