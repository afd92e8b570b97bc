"""A passage with what is around it: outline, links both ways, and the text in pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lancebrain.brain.linking import Links
from lancebrain.brain.passages import Passage, look_up, passage_of
from lancebrain.types import Filter

if TYPE_CHECKING:
    from lancebrain.brain.facade import Brain
    from lancebrain.store import Location
    from lancebrain.types import StoredChunk


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it, up to the next one.

    Attributes:
        id: of its first chunk.
        heading_path: titles from the outermost; empty before the first heading.
        line_start, line_end: 1-based, inclusive.
    """

    id: str
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class Detail:
    """What ``get_detail`` tells.

    Attributes:
        passage: its text is one page.
        ids: of the chunks of that page.
        next_rank: where the next page begins; None on the last one.
        sha256: of the file that was read.
        outline: all sections of the document.
        links: targets as written, with the document each leads to.
        backlinks: documents that link here.
    """

    passage: Passage
    ids: tuple[str, ...]
    next_rank: int | None
    sha256: str
    outline: tuple[Section, ...]
    links: tuple[tuple[str, str | None], ...]
    backlinks: tuple[str, ...]


def read_detail(
    brain: Brain,
    what: str,
    *,
    before: int = 0,
    after: int = 0,
    from_rank: int = 0,
    most: int = 16_000,
    size: Callable[[str], int] = len,
    at: str | None = None,
) -> Detail:
    """Read a document, or a passage of it, a page at a time.

    Args:
        what: as in :meth:`Brain.show`.
        before, after: chunks to add around a passage.
        from_rank: where the page begins; what is before it is left out.
        most: size of the page; a chunk that is larger makes a page of its own.
        size: of a text; its characters by default.
        at: as of this version.

    Raises:
        IndexNotFoundError, UsageError: as :meth:`Brain.show`.
    """
    snapshot, sources = brain._snapshot(at), brain.settings.sources
    found = look_up(snapshot, what, before=before, after=after, sources=sources)
    first = max(found.first, min(from_rank, found.last))
    sizes = [size(stored.chunk.text) for stored in found.chunks]
    last = _page_end(sizes, first, found.last, most)
    page = replace(found, first=first, last=last)
    shown = found.chunks[first : last + 1]
    links = Links(snapshot.matching(Filter()), snapshot.links())
    path = found.state.path
    return Detail(
        passage=passage_of(snapshot, page, sources),
        ids=tuple(chunk_id(stored) for stored in shown),
        next_rank=last + 1 if shown and last < found.last else None,
        sha256=found.state.sha256,
        outline=tuple(sections_of(found.chunks, found.places)),
        links=tuple(links.from_document(path)),
        backlinks=links.to_document(path),
    )


def _page_end(sizes: Sequence[int], first: int, last: int, room: int) -> int:
    for rank in range(max(first, 0), last + 1):
        room -= sizes[rank]
        if room < 0:
            return max(rank - 1, first)
    return last


def sections_of(chunks: Sequence[StoredChunk], places: Sequence[Location]) -> list[Section]:
    """The sections of a document, by its chunks in order."""
    sections: list[Section] = []
    for stored, place in zip(chunks, places, strict=True):
        start, end = place.line_start, place.line_end
        headings = stored.chunk.heading_path
        if sections and sections[-1].heading_path == headings:
            begun = sections[-1]
            sections[-1] = Section(begun.id, headings, begun.line_start, end)
        else:
            sections.append(Section(chunk_id(stored), headings, start, end))
    return sections


def chunk_id(stored: StoredChunk) -> str:
    """The ``id`` of a hit that is this chunk."""
    return f"{stored.path}#{stored.chunk_index}"


def texts_of(brain: Brain, ids: Sequence[str], version: int) -> dict[str, str]:
    """Whole texts of chunks, by id; of those that the version has.

    Args:
        ids: of hits.
        version: that they were found in.
    """
    keys = {}
    for name in ids:
        path, _, index = name.rpartition("#")
        keys[path, int(index)] = name
    rows = brain._access.store().snapshot(version).rows(list(keys))
    return {keys[key]: stored.chunk.text for key, stored in rows.items()}
