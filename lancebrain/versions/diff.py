"""What changed between two versions: documents by their bytes, and their texts if asked for."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterator, Mapping

from lancebrain.store import DocumentStat, Snapshot
from lancebrain.types import Diff, DocumentChange


def diff(
    earlier: Snapshot, later: Snapshot, *, texts: bool = False, path: str | None = None
) -> Diff:
    """Documents that were added, changed, moved or removed, by path.

    A document that is gone and one of the same bytes that is new are one that was moved.

    Args:
        texts: also give the unified diff of the texts of changed documents.
        path: of this document alone; whether it was moved is told all the same.
    """
    before, after = earlier.stats(), later.stats()
    changes = sorted(_changes(before, after), key=lambda change: change.path)
    if path is not None:
        changes = [change for change in changes if path in (change.path, change.before)]
    if texts:
        changes = [_with_text(change, earlier, later) for change in changes]
    return Diff(earlier.version, later.version, tuple(changes))


def _changes(
    before: Mapping[str, DocumentStat], after: Mapping[str, DocumentStat]
) -> Iterator[DocumentChange]:
    gone: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(before.keys() - after.keys(), reverse=True):
        gone[before[path].sha256].append(path)
    for path, stat in sorted(after.items()):
        if path not in before:
            places = gone[stat.sha256]
            if places:
                yield DocumentChange("moved", path, places.pop())
            else:
                yield DocumentChange("added", path)
        elif before[path].sha256 != stat.sha256:
            yield DocumentChange("changed", path)
    for paths in gone.values():
        yield from (DocumentChange("removed", path) for path in paths)


def _with_text(change: DocumentChange, earlier: Snapshot, later: Snapshot) -> DocumentChange:
    if change.what == "moved":
        return change
    old = _text(earlier, change.path) if change.what != "added" else ""
    new = _text(later, change.path) if change.what != "removed" else ""
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"a/{change.path}", f"b/{change.path}", lineterm=""
    )
    return DocumentChange(change.what, change.path, change.before, "\n".join(lines))


def _text(snapshot: Snapshot, path: str) -> str:
    return "".join(stored.chunk.text for stored in snapshot.chunks([path]).get(path, ()))
