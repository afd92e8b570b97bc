"""Blocks → groups that are cut on their own: no chunk holds parts of two.

A group is a section: a heading with what follows it up to the next heading. A heading with
nothing under it goes with the section after it, and so do frontmatter and comments. Many tiny
sections in a row (a glossary, a journal) make one group, that they may share chunks; a few do
not, for a section of its own says more exactly where a text stands. A turn of a conversation
is a group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lancebrain.chunking.pieces import LINES, SENTENCES, Bond, Piece, piece
from lancebrain.chunking.width import display_width
from lancebrain.types import Block

_TINY_WIDTH = 200
_MANY = 8
_VISIBLE = re.compile(r"\S")
_IN_LINES = frozenset({"text", "table", "fence", "html", "frontmatter"})


@dataclass(frozen=True, slots=True)
class Group:
    """Blocks ``first`` to ``last`` (exclusive) and their display width."""

    first: int
    last: int
    width: int


def groups(text: str, blocks: Sequence[Block]) -> Iterator[Group]:
    """The groups of a document, in order; they take up all blocks."""
    run: list[Group] = []
    for group in _sections(text, blocks):
        if group.width < _TINY_WIDTH and blocks[group.first].kind != "turn":
            run.append(group)
            continue
        yield from _joined_if_many(run)
        run = []
        yield group
    yield from _joined_if_many(run)


def pieces(text: str, blocks: Sequence[Block], group: Group) -> Iterator[Piece]:
    """A group's blocks as pieces."""
    for index in range(group.first, group.last):
        block = blocks[index]
        bond = _bond(text, blocks[index - 1], block) if index > group.first else Bond.BLOCK
        step = LINES if block.kind in _IN_LINES else SENTENCES
        yield piece(text, block.start, block.end, bond, step)


def says_something(text: str, block: Block) -> bool:
    """Whether a block is read for itself: no heading, frontmatter, comment or blank."""
    if block.kind in ("heading", "frontmatter"):
        return False
    if block.kind == "html":
        content = text[block.start : block.end].strip()
        return not (content.startswith("<!--") and content.find("-->") in (-1, len(content) - 3))
    return _VISIBLE.search(text, block.start, block.end) is not None


def _sections(text: str, blocks: Sequence[Block]) -> Iterator[Group]:
    first = 0
    has_body = False
    for index, block in enumerate(blocks):
        if has_body and (block.kind in ("heading", "turn") or blocks[first].kind == "turn"):
            yield _group(text, blocks, first, index)
            first, has_body = index, False
        has_body = has_body or says_something(text, block)
    if first < len(blocks):
        yield _group(text, blocks, first, len(blocks))


def _group(text: str, blocks: Sequence[Block], first: int, last: int) -> Group:
    width = display_width(text[blocks[first].start : blocks[last - 1].end])
    return Group(first, last, width)


def _joined_if_many(run: Sequence[Group]) -> Iterator[Group]:
    if len(run) < _MANY:
        yield from run
    else:
        yield Group(run[0].first, run[-1].last, sum(group.width for group in run))


def _bond(text: str, before: Block, block: Block) -> int:
    if block.kind == "heading":
        depth = min(len(block.heading_path), 6)
        return Bond.HEADING + depth if says_something(text, before) else Bond.GRAPHEME
    if not says_something(text, before):
        return Bond.GLUE
    if block.kind == before.kind == "list_item":
        return Bond.PARAGRAPH if text[block.start] in " \t" else Bond.ITEM
    if before.kind == "paragraph" and text[before.start : before.end].rstrip()[-1:] in (":", "："):
        return Bond.PARAGRAPH  # it introduces what follows
    return Bond.BLOCK
