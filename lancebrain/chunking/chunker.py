"""Document → chunks: cut each group of blocks, then tell of every slice what its row needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from lancebrain.chunking.packing import MOST_WIDTH, cuts
from lancebrain.chunking.passage import chunk_hash, embedding_text
from lancebrain.chunking.sections import groups, pieces, says_something
from lancebrain.types import Block, Chunk, Document


def chunk(document: Document) -> list[Chunk]:
    """The chunks of a document: joined, their texts are its text; none is blank.

    The same document gives the same chunks, always, and an edit changes only those around it.
    A document of white space alone has none.
    """
    if not document.text.strip():
        return []
    chunks = []
    first = 0
    for start, end in _spans(document):
        while document.blocks[first].end <= start:
            first += 1
        last = first
        while last < len(document.blocks) and document.blocks[last].start < end:
            last += 1
        chunks.append(_chunk(document, start, end, document.blocks[first:last]))
    return chunks


def _spans(document: Document) -> Iterator[tuple[int, int]]:
    """(start, end) offsets of the chunks; a blank one joins the one before, or else the next."""
    text = document.text
    start = end = 0
    for cut in _ends(document):
        if start < end and text[end:cut].strip() and text[start:end].strip():
            yield start, end
            start = end
        end = cut
    if start < end:
        yield start, end


def _ends(document: Document) -> Iterator[int]:
    text, blocks = document.text, document.blocks
    for group in groups(text, blocks):
        if group.width <= MOST_WIDTH:
            yield blocks[group.last - 1].end
        else:
            yield from cuts(text, pieces(text, blocks, group))


def _chunk(document: Document, start: int, end: int, blocks: Sequence[Block]) -> Chunk:
    text = document.text[start:end]
    trail = _trail(document.text, blocks)
    header = _table_header(document.text, start, blocks[0])
    tags = dict.fromkeys(document.document_tags)
    for block in blocks:
        tags.update(dict.fromkeys(block.tags))
    return Chunk(
        text=text,
        chunk_hash=chunk_hash(embedding_text(document.kind, trail, text, header)),
        heading_path=trail,
        tags=tuple(tags),
        line_count=_line_count(document.text, start, end, blocks),
        role=blocks[0].role,
        said_at=blocks[0].said_at,
        table_header=header,
    )


def _trail(text: str, blocks: Sequence[Block]) -> tuple[str, ...]:
    """The headings that hold for all of what stands under them here."""
    if len(blocks) == 1:
        return blocks[0].heading_path
    paths = [block.heading_path for block in blocks if says_something(text, block)]
    if not paths:
        headings = [block.heading_path for block in blocks if block.kind == "heading"]
        paths = [
            path for path, following in pairwise([*headings, ()]) if following[: len(path)] != path
        ]
    if not paths:
        return ()
    low, high = min(paths), max(paths)
    same = 0
    while same < min(len(low), len(high)) and low[same] == high[same]:
        same += 1
    return low[:same]


def _table_header(text: str, start: int, block: Block) -> str:
    """What the columns are called, where the rows alone do not tell."""
    if block.kind != "table" or start <= block.start:
        return ""
    return text[block.start : start].lstrip().splitlines()[0].rstrip()


def _line_count(text: str, start: int, end: int, blocks: Sequence[Block]) -> int:
    """Line ends in the span; a block that knows its lines counts where it ends."""
    if all(block.line_count is None for block in blocks):
        return _line_ends(text, start, end)
    return sum(
        _line_ends(text, max(start, block.start), min(end, block.end))
        if block.line_count is None
        else block.line_count
        if block.end <= end
        else 0
        for block in blocks
    )


def _line_ends(text: str, start: int, end: int) -> int:
    feeds = text.count("\n", start, end)
    returns = text.count("\r", start, end)
    return feeds + returns - text.count("\r\n", start, end) if returns else feeds
