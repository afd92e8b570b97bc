"""Question → answer, from one snapshot: the ranking, folded, checked against the disk, as hits.

The last step of the flow. Every hit of an answer comes from the same version of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from lancebrain.embedders import Embedder
from lancebrain.errors import UsageError
from lancebrain.search.folding import Group, Ranked, distinct
from lancebrain.search.freshness import freshness
from lancebrain.search.question import Question, collapsed, parse
from lancebrain.search.ranking import rank
from lancebrain.search.snippet import snippet
from lancebrain.store import Location, Snapshot
from lancebrain.types import Answer, DocumentState, Freshness, Hit, Place, Query, Source


def search(
    snapshot: Snapshot,
    query: Query,
    embedder: Embedder | None,
    *,
    sources: Iterable[Source] = (),
    pinned: str | None = None,
    live: bool = True,
) -> Answer:
    """Answer a question.

    Args:
        snapshot: the version to search.
        query: the question, its mode, filter and page.
        embedder: may be None in ``keyword`` mode, and in ``hybrid``, which then says so.
        sources: that are configured now, to see whether the files of hits have changed.
        pinned: what the index is held at, passed on into the answer.
        live: hits whose file is gone are dropped; False when reading an older version, which
            keeps them. So does a pinned index.

    Raises:
        UsageError: ``vector`` mode without an embedder, or an impossible page.
        EmbedderError: the engine failed on the question.
        StoreError: the snapshot cannot be read.
    """
    _check(query, embedder)
    question = parse(query.text)
    if not question.says_something:
        note = "There is no word in the question."
        return Answer(snapshot.version, snapshot.pending(), pinned, (), (note,))
    by_name = {source.name: source for source in sources}
    drops_gone = live and pinned is None
    while True:
        version = snapshot.version
        answer = _answer(snapshot, question, query, embedder, _Disk(snapshot, by_name, drops_gone))
        # A snapshot whose data was cleaned up under it moves to the newest version, once: then
        # what was read before the move is of another version.
        if snapshot.version == version:
            return replace(answer, pinned=pinned)


def _answer(
    snapshot: Snapshot, question: Question, query: Query, embedder: Embedder | None, disk: _Disk
) -> Answer:
    ranking = rank(snapshot, question, query, embedder)
    last = query.offset + query.limit
    groups = disk.existing(ranking.ranked, last + 1)
    return Answer(
        version=snapshot.version,
        pending=snapshot.pending(),
        pinned=None,
        hits=_hits(snapshot, question, groups[query.offset : last], disk),
        notes=ranking.notes,
        has_more=len(groups) > last,
    )


def _check(query: Query, embedder: Embedder | None) -> None:
    if query.limit < 1 or query.offset < 0:
        raise UsageError(
            f"There is no page of {query.limit} hits after the first {query.offset}.",
            hint="The limit starts at 1, the offset at 0.",
        )
    if query.mode == "vector" and embedder is None:
        raise UsageError(
            "A search by vector needs a model.", hint="Search by keyword, or configure a model."
        )


class _Disk:
    """Document rows and what the disk says of them, looked up once for each path."""

    def __init__(self, snapshot: Snapshot, sources: Mapping[str, Source], drops_gone: bool) -> None:
        self.documents: dict[str, DocumentState] = {}
        self.states: dict[str, Freshness] = {}
        self._snapshot = snapshot
        self._sources = sources
        self._drops_gone = drops_gone

    def existing(self, ranked: Sequence[Ranked], count: int) -> list[Group]:
        """The first ``count`` distinct candidates, without those whose file is gone."""
        while True:
            groups = distinct(ranked, count)
            gone = self._look_up({item.key[0] for group in groups for item in group.all()})
            if not gone:
                return groups
            ranked = [item for item in ranked if item.key[0] not in gone]

    def _look_up(self, paths: set[str]) -> set[str]:
        """Learn of paths not seen yet; returns those to drop."""
        new = paths - self.documents.keys()
        found = self._snapshot.documents(sorted(new))
        gone = new - found.keys()  # a chunk without its document is damage: never a hit
        for path, document in found.items():
            state = freshness(document, self._sources)
            if state == "gone" and self._drops_gone:
                gone.add(path)
            self.states[path] = "changed" if state == "gone" else state
        self.documents |= found
        return gone


def _hits(
    snapshot: Snapshot, question: Question, page: Sequence[Group], disk: _Disk
) -> tuple[Hit, ...]:
    rows = snapshot.rows([group.first.key for group in page])
    places = snapshot.located([item.key for group in page for item in group.all()])
    wanted = (*question.terms, *map(collapsed, question.phrases), question.folded)
    hits = []
    for group in page:
        path, chunk_index = key = group.first.key
        if key not in rows or key not in places:  # the snapshot moved: asked again, see search
            continue
        document, chunk = disk.documents[path], rows[key].chunk
        hits.append(
            Hit(
                id=f"{path}#{chunk_index}",
                path=path,
                title=document.title or PurePosixPath(path).stem,
                heading_path=chunk.heading_path,
                line_start=places[key].line_start,
                line_end=places[key].line_end,
                role=chunk.role,
                score=round(group.first.score, 4),
                snippet=snippet(chunk.text, wanted),
                freshness=disk.states[path],
                kind=document.kind,
                domain=document.domain,
                said_at=chunk.said_at,
                also_at=tuple(
                    _place(item.key[0], places[item.key])
                    for item in group.others
                    if item.key in places
                ),
            )
        )
    return tuple(hits)


def _place(path: str, location: Location) -> Place:
    return Place(path, location.line_start, location.line_end)
