"""What the table knows of every document, kept between syncs, so that a look need not read it.

Read anew whenever another version is there than the one this process left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from lancebrain.store import DocumentStat, Snapshot
from lancebrain.types import DocumentState

_FEW_PLACES = 8
"""More are looked up folder by folder instead of one by one."""


class KnownDocuments:
    """The document rows of the newest version; to be asked and told under the index lock."""

    def __init__(self) -> None:
        self._table_id = ""
        self._version = 0
        self._stats: dict[str, DocumentStat] = {}

    def at(self, snapshot: Snapshot, table_id: str) -> Mapping[str, DocumentStat]:
        """By document path; valid until the next commit.

        Args:
            table_id: of the table, as versions of another count from 1 again.
        """
        if (table_id, snapshot.version) != (self._table_id, self._version):
            self._table_id = table_id
            self._stats = snapshot.stats()
            self._version = snapshot.version
        return self._stats

    def committed(
        self, version: int, written: Iterable[DocumentState], removed: Iterable[str]
    ) -> None:
        """Follow a commit that was made on top of the version that was asked for last."""
        if version != self._version + 1:
            return
        for path in removed:
            self._stats.pop(path, None)
        for state in written:
            self._stats[state.path] = DocumentStat(
                size=state.size,
                mtime_ns=state.mtime_ns,
                ctime_ns=state.ctime_ns,
                looked_at_ns=state.looked_at_ns,
                sha256=state.sha256,
                domain=state.domain,
                kind=state.kind,
                mime=state.mime,
            )
        self._version = version


def under(
    documents: Mapping[str, DocumentStat], places: Collection[str]
) -> dict[str, DocumentStat]:
    """The documents that are at one of the places or in a folder there."""
    if not places:
        return {}
    exact = set(places)
    folders = tuple(f"{path}/" for path in places)
    if len(folders) <= _FEW_PLACES:
        return {p: stat for p, stat in documents.items() if p in exact or p.startswith(folders)}
    return {path: stat for path, stat in documents.items() if not exact.isdisjoint(_around(path))}


def _around(path: str) -> Iterator[str]:
    """A document's path, and those of the folders that it is in."""
    yield path
    while "/" in path:
        path = path[: path.rindex("/")]
        yield path
