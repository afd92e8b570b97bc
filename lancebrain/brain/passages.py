"""What ``show`` shows: a document, or a passage of it, as the index holds it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from lancebrain.brain.exchange import question_of
from lancebrain.brain.roots import document_path_of
from lancebrain.errors import UsageError
from lancebrain.nearest import nearest
from lancebrain.types import DocumentState, Freshness, Source, StoredChunk

if TYPE_CHECKING:
    from lancebrain.store import Location, Snapshot

_CHUNK = re.compile(r"(?P<path>.+)#(?P<chunk>\d+)", re.DOTALL)
_LINES = re.compile(r"(?P<path>.+):(?P<first>\d+)(?:-(?P<last>\d+))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Passage:
    """Neighbouring chunks of a document, joined: exactly the text that was read.

    Attributes:
        heading_path: of the chunk that was asked for; empty for a whole document.
        role: likewise; and so are the following three.
        said_at: when that was said, in a session log.
        question: what that answers, as it was asked; ``""`` if it answers nothing.
        question_id: of the question's first chunk.
        line_start, line_end: 1-based, inclusive; 0 for a blank document.
        rank_start, rank_end: 0-based, inclusive, among ``chunk_count`` chunks; -1 if there is none.
        freshness: as in a hit; ``gone`` when the file is not there any more.
        metadata: the frontmatter; of a session log its ``session``, ``project``, ``git_branch``,
            ``started_at`` and more.
        version: of the table that it was read from.
    """

    path: str
    title: str
    kind: str
    domain: str
    tags: tuple[str, ...]
    heading_path: tuple[str, ...]
    role: str | None
    line_start: int
    line_end: int
    rank_start: int
    rank_end: int
    chunk_count: int
    text: str
    freshness: Freshness | Literal["gone"]
    version: int
    metadata: Mapping[str, object] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    said_at: datetime | None = None
    question: str = ""
    question_id: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A document, and what of it was asked for.

    Attributes:
        chunks, places: all of the document's, in their order.
        first, last: ranks that are meant, inclusive; -1 for ``last`` if there is no chunk.
        focus: the rank that was asked for; None when all of the document was.
    """

    state: DocumentState
    chunks: Sequence[StoredChunk]
    places: Sequence[Location]
    first: int
    last: int
    focus: int | None


@dataclass(frozen=True, slots=True)
class _Reference:
    """What a person may have meant: a document, one chunk of it, or lines of it."""

    path: str
    chunk_index: int | None = None
    lines: tuple[int, int] | None = None


def look_up(
    snapshot: Snapshot,
    reference: str,
    *,
    before: int = 0,
    after: int = 0,
    sources: Sequence[Source],
) -> Reading:
    """Look a passage up.

    Args:
        reference: a document path, ``path:12``, ``path:12-18``, a hit's id (``path#chunk``), or
            a file of a source in place of the path.
        before, after: chunks to add around a passage; a whole document has nothing around it.
        sources: that are configured now.

    Raises:
        UsageError: there is no such document or chunk in the index.
    """
    from lancebrain.store.locations import locate_all

    state, meant = _resolve(snapshot, reference, sources)
    chunks = snapshot.chunks([state.path]).get(state.path, [])
    places = locate_all(chunks)
    first, last, focus = _span(meant, chunks, places, reference)
    if focus is not None:
        first, last = max(0, first - before), min(len(chunks) - 1, last + after)
    return Reading(state, chunks, places, first, last, focus)


def passage_of(snapshot: Snapshot, found: Reading, sources: Sequence[Source]) -> Passage:
    """What is shown of a passage that was looked up.

    Args:
        snapshot: that it was looked up in.
        sources: that are configured now.
    """
    from lancebrain.search.freshness import freshness

    state, chunks, places, focus = found.state, found.chunks, found.places, found.focus
    shown = chunks[found.first : found.last + 1]
    of_focus = chunks[focus].chunk if focus is not None else None
    asked = question_of(chunks, focus) if focus is not None else ()
    return Passage(
        path=state.path,
        title=state.title,
        kind=state.kind,
        domain=state.domain,
        tags=state.tags,
        heading_path=of_focus.heading_path if of_focus else (),
        role=of_focus.role if of_focus else None,
        line_start=places[found.first].line_start if shown else 0,
        line_end=places[found.last].line_end if shown else 0,
        rank_start=found.first if shown else -1,
        rank_end=found.last if shown else -1,
        chunk_count=len(chunks),
        text="".join(stored.chunk.text for stored in shown),
        freshness=freshness(state, {source.name: source for source in sources}),
        version=snapshot.version,
        metadata=json.loads(state.metadata_json),
        links=state.links,
        said_at=of_focus.said_at if of_focus else None,
        question="".join(stored.chunk.text for stored in asked).strip(),
        question_id=f"{state.path}#{asked[0].chunk_index}" if asked else "",
    )


def _resolve(
    snapshot: Snapshot, reference: str, sources: Sequence[Source]
) -> tuple[DocumentState, _Reference]:
    meant = list(_meanings(reference))
    for named in meant:
        for path in (named.path, document_path_of(sources, named.path)):
            state = snapshot.documents([path]).get(path) if path else None
            if state is not None:
                return state, named
    near = nearest(meant[-1].path, snapshot.stats())
    raise UsageError(
        f"There is no document {reference!r} in the index.",
        hint=f"Did you mean {near}?" if near else "Find one with `lancebrain search`.",
    )


def _meanings(reference: str) -> Iterator[_Reference]:
    yield _Reference(reference)
    if match := _CHUNK.fullmatch(reference):
        yield _Reference(match["path"], chunk_index=int(match["chunk"]))
    if match := _LINES.fullmatch(reference):
        first = int(match["first"])
        yield _Reference(match["path"], lines=(first, int(match["last"] or first)))


def _span(
    meant: _Reference,
    chunks: Sequence[StoredChunk],
    places: Sequence[Location],
    reference: str,
) -> tuple[int, int, int | None]:
    """First and last rank that are meant, and the rank that was asked for (None: all)."""
    if meant.chunk_index is not None:
        ranks = [r for r, stored in enumerate(chunks) if stored.chunk_index == meant.chunk_index]
        if not ranks:
            raise UsageError(
                f"The document of {reference!r} has no such chunk (any more).",
                hint=f"Show all of it: lancebrain show {meant.path}",
            )
        return ranks[0], ranks[0], ranks[0]
    if meant.lines is not None:
        first, last = meant.lines
        ranks = [r for r, at in enumerate(places) if at.line_start <= last and at.line_end >= first]
        if not ranks:
            end = places[-1].line_end if places else 0
            raise UsageError(
                f"The document of {reference!r} ends at line {end}.",
                hint=f"Show all of it: lancebrain show {meant.path}",
            )
        return ranks[0], ranks[-1], ranks[0]
    return 0, len(chunks) - 1, None
