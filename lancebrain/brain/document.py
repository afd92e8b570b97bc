"""A document to read: its chunks one by one, a page of them around what was asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lancebrain.brain.detail import Section, chunk_id, sections_of
from lancebrain.brain.linking import Links
from lancebrain.brain.passages import look_up
from lancebrain.errors import UsageError
from lancebrain.types import Filter, Freshness

if TYPE_CHECKING:
    from lancebrain.brain.facade import Brain
    from lancebrain.store import Location
    from lancebrain.types import StoredChunk

_BEFORE = 0.25  # share of a page that goes to what leads up to what was asked for


@dataclass(frozen=True, slots=True)
class DocumentChunk:
    """A chunk of a document with its place.

    Attributes:
        id: of a hit that is this chunk.
        rank: 0-based within the document.
        line_start, line_end: 1-based, inclusive.
        embedded: it can be found by meaning.
    """

    id: str
    rank: int
    text: str
    heading_path: tuple[str, ...]
    tags: tuple[str, ...]
    line_start: int
    line_end: int
    role: str | None
    said_at: datetime | None
    embedded: bool


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Neighbouring chunks of a document, and what there is to know of it.

    Attributes:
        file: where it is on disk, or would be; None when its source is configured nowhere.
        freshness: as in a hit; ``gone`` when the file is not there any more.
        chunk_count: of the whole document.
        focus: rank of the chunk that was asked for; None for a document.
        chunks: of the page, in order.
        outline: all sections of the document, of which the first ``_MOST_SECTIONS`` are told.
        version: that it was read from.
    """

    path: str
    title: str
    kind: str
    domain: str
    tags: tuple[str, ...]
    file: Path | None
    freshness: Freshness | Literal["gone"]
    size: int
    chunk_count: int
    focus: int | None
    chunks: tuple[DocumentChunk, ...]
    outline: tuple[Section, ...]
    version: int
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentLinks:
    """Where a document's links lead, and which documents lead to it.

    Attributes:
        links: targets as written, with the document each leads to, if one.
        backlinks: paths.
    """

    links: tuple[tuple[str, str | None], ...]
    backlinks: tuple[str, ...]


_MOST_SECTIONS = 1_000


def read_document(
    brain: Brain,
    what: str,
    *,
    from_rank: int | None = None,
    most_chars: int = 60_000,
    at: str | None = None,
) -> DocumentPage:
    """Read a page of a document.

    Args:
        what: as in :meth:`Brain.show`.
        from_rank: where the page begins; None: so that what was asked for is on it.
        most_chars: of the page; a chunk that is larger makes a page of its own.
        at: as of this version.

    Raises:
        IndexNotFoundError, UsageError: as :meth:`Brain.show`.
    """
    from lancebrain.search.freshness import freshness

    snapshot, sources = brain._snapshot(at), brain.settings.sources
    found = look_up(snapshot, what, sources=sources)
    state, chunks, places = found.state, found.chunks, found.places
    if from_rank is None:
        from_rank = _first_around(chunks, found.focus or 0, int(most_chars * _BEFORE))
    page = range(min(from_rank, len(chunks)), _end(chunks, from_rank, most_chars))
    return DocumentPage(
        path=state.path,
        title=state.title,
        kind=state.kind,
        domain=state.domain,
        tags=state.tags,
        file=file_of_document(brain, state.path),
        freshness=freshness(state, {source.name: source for source in sources}),
        size=state.size,
        chunk_count=len(chunks),
        focus=found.focus,
        chunks=tuple(_shown(chunks[rank], rank, places[rank]) for rank in page),
        outline=tuple(sections_of(chunks, places)[:_MOST_SECTIONS]),
        version=snapshot.version,
        metadata=json.loads(state.metadata_json),
    )


def links_of(brain: Brain, path: str, *, at: str | None = None) -> DocumentLinks:
    """The links of a document, and those to it.

    Raises:
        IndexNotFoundError: nothing was indexed yet.
        UsageError: there is no such version.
    """
    snapshot = brain._snapshot(at)
    links = Links(snapshot.matching(Filter()), snapshot.links())
    return DocumentLinks(tuple(links.from_document(path)), links.to_document(path))


def file_of_document(brain: Brain, path: str) -> Path | None:
    """Where a document is on disk, or would be; None when its source is configured nowhere."""
    from lancebrain.sources import file_of

    source = {source.name: source for source in brain.settings.sources}.get(path.partition("/")[0])
    try:
        return None if source is None else file_of(source, path)
    except UsageError:
        return None


def _shown(stored: StoredChunk, rank: int, place: Location) -> DocumentChunk:
    chunk = stored.chunk
    return DocumentChunk(
        id=chunk_id(stored),
        rank=rank,
        text=chunk.text,
        heading_path=chunk.heading_path,
        tags=chunk.tags,
        line_start=place.line_start,
        line_end=place.line_end,
        role=chunk.role,
        said_at=chunk.said_at,
        embedded=stored.embedded,
    )


def _first_around(chunks: Sequence[StoredChunk], focus: int, room: int) -> int:
    """The first rank of a page that has so much before what was asked for."""
    first = focus
    while first > 0 and (room := room - len(chunks[first - 1].chunk.text)) >= 0:
        first -= 1
    return first


def _end(chunks: Sequence[StoredChunk], first: int, room: int) -> int:
    """The rank after the last one of a page."""
    end = first
    while end < len(chunks) and ((room := room - len(chunks[end].chunk.text)) >= 0 or end == first):
        end += 1
    return end
