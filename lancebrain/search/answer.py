"""Question → answer, from one snapshot: the ranking, folded, checked against the disk, as hits.

The last step of the flow. Every hit of an answer comes from the same version of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from lancebrain.embedders import Embedder
from lancebrain.errors import IndexMismatchError, UsageError
from lancebrain.search.folding import Group, Ranked, distinct
from lancebrain.search.freshness import freshness
from lancebrain.search.question import Question, collapsed, parse
from lancebrain.search.ranking import rank
from lancebrain.search.reranking import FIRST, Reranking, reranked
from lancebrain.search.snippet import snippet
from lancebrain.store import Passages, Snapshot
from lancebrain.types import Answer, Freshness, Hit, Place, Query, Source


def search(
    snapshot: Snapshot,
    query: Query,
    embedder: Embedder | None,
    *,
    sources: Iterable[Source] = (),
    pinned: str | None = None,
    live: bool = True,
    reranking: Reranking | None = None,
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
        reranking: how the first hits are put in order once more, if they are.

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
    while True:
        version = snapshot.version
        answer = _answer(snapshot, question, query, embedder, sources, pinned, live, reranking)
        # A snapshot whose data was cleaned up under it moves to the newest version, once: then
        # what was read before the move is of another version.
        if snapshot.version == version:
            return answer
        if embedder is not None and embedder.fingerprint != snapshot.info.fingerprint:
            raise IndexMismatchError(
                "The model of the index was changed while it was searched.", hint="Ask again."
            )


def _answer(
    snapshot: Snapshot,
    question: Question,
    query: Query,
    embedder: Embedder | None,
    sources: Iterable[Source],
    pinned: str | None,
    live: bool,
    reranking: Reranking | None,
) -> Answer:
    with ThreadPoolExecutor(max_workers=2) as pool:
        pending = pool.submit(snapshot.pending)
        ranking = rank(snapshot, question, query, embedder, pool)
    last = query.offset + query.limit
    by_name = {source.name: source for source in sources}
    count = last + 1 if reranking is None else max(last + 1, FIRST)
    found = existing(snapshot, ranking.ranked, count, by_name, live and pinned is None)
    notes = ranking.notes
    if reranking is not None:
        groups, about = reranked(found.groups, found.passages, question.text, reranking)
        found, notes = replace(found, groups=groups), notes + about
    wanted = (*question.terms, *map(collapsed, question.phrases), question.folded)
    page = found.groups[query.offset : last]
    return Answer(
        version=snapshot.version,
        pending=pending.result(),
        pinned=pinned,
        hits=tuple(hit_of(group, found, wanted) for group in page),
        notes=notes,
        has_more=len(found.groups) > last,
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


@dataclass(frozen=True, slots=True)
class Existing:
    """Distinct candidates with all that is shown of them."""

    groups: Sequence[Group]
    passages: Passages
    states: Mapping[str, Freshness]


def existing(
    snapshot: Snapshot,
    ranked: Sequence[Ranked],
    count: int,
    sources: Mapping[str, Source],
    drops_gone: bool,
) -> Existing:
    """The first ``count`` distinct candidates, without those whose file is gone."""
    while True:
        groups = distinct(ranked, count)
        keys = [item.key for group in groups for item in group.all()]
        passages = snapshot.passages(keys)
        states = {
            path: freshness(document, sources) for path, document in passages.documents.items()
        }
        gone = {path for path, state in states.items() if state == "gone" and drops_gone}
        # A chunk without its document is damage, and one that is no longer there is of another
        # version (see search): neither is a hit.
        gone |= {key[0] for key in keys if key[0] not in states or key not in passages.chunks}
        if not gone:
            told = {path: "changed" if it == "gone" else it for path, it in states.items()}
            return Existing(groups, passages, told)
        ranked = [item for item in ranked if item.key[0] not in gone]


def hit_of(group: Group, found: Existing, wanted: Sequence[str]) -> Hit:
    """What is told of a distinct candidate.

    Args:
        found: where it is from.
        wanted: words that the snippet is to hold.
    """
    path, chunk_index = key = group.first.key
    document, chunk = found.passages.documents[path], found.passages.chunks[key]
    places = found.passages.places
    return Hit(
        id=f"{path}#{chunk_index}",
        path=path,
        title=document.title or PurePosixPath(path).stem,
        heading_path=chunk.heading_path,
        line_start=places[key].line_start,
        line_end=places[key].line_end,
        role=chunk.role,
        score=round(group.first.score, 4),
        snippet=snippet(chunk.text, wanted),
        freshness=found.states[path],
        kind=document.kind,
        domain=document.domain,
        said_at=chunk.said_at,
        also_at=tuple(
            Place(other.key[0], places[other.key].line_start, places[other.key].line_end)
            for other in group.others
        ),
    )
