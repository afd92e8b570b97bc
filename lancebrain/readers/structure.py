"""Markdown text → the parts that tile it, by a CommonMark parser; asked by the Markdown reader.

Only markdown-it's block parser runs: its line maps say where headings, lists, tables, fences
and HTML stand. Line ends are those of CommonMark (``\\n``, ``\\r\\n``, ``\\r``), no others.

A long text is parsed in pieces, so that the parser's tokens never fill the memory. A piece ends
where any block but a fence or raw HTML must end; when such a block is the last of a piece, it
is left for the next one. So the parts are the same as if all had been parsed at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_PIECE_CHARS = 131_072
_MOST_CHARS_WITHOUT_CUT = 524_288
_LINE_END = re.compile(r"\r\n|\n|\r")
_SAFE_CUT = re.compile(r"(?<=\n)(?=#{1,6} |[-*+] +\S)|(?<=\n)[ \t]*\n(?=\S)")
_CODE = frozenset({"fence", "code_block"})
_MAY_GO_ON = frozenset({"fence", "html_block"})
_KIND_OF = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "blockquote_open": "paragraph",
    "hr": "paragraph",
    "fence": "fence",
    "code_block": "fence",
    "html_block": "html",
    "table_open": "table",
}


@dataclass(frozen=True, slots=True)
class Part:
    """The start of a block.

    Attributes:
        start: character offset of a line; the part goes on to the start of the next one.
        kind: as in ``Block.kind``; ``definitions`` for link definitions, which show nothing.
        level: 1 to 6 for a heading, else 0.
        title: a heading's source, without ``#`` or underline.
    """

    start: int
    kind: str
    level: int = 0
    title: str = ""


@dataclass(slots=True)
class Structure:
    """The parts in their order, and what of the text is code.

    Attributes:
        parts: the first starts at 0; blank lines belong to the part before.
        code: (start, end) character offsets of fences and indented code at any depth.
        skipped: some of the text was too dense to be parsed and stands as one paragraph.
    """

    parts: list[Part] = field(default_factory=list)
    code: list[tuple[int, int]] = field(default_factory=list)
    skipped: bool = False


def structure_of(text: str, offset: int = 0) -> Structure:
    """The structure of ``text[offset:]``, in offsets into ``text``; without parts if blank."""
    body = text[offset:]
    starts = [offset, *(offset + end.end() for end in _LINE_END.finditer(body))]
    if starts[-1] != len(text):
        starts.append(len(text))
    if "\r" in body:
        body = _LINE_END.sub("\n", body)
    found = Structure()
    for line, kind, level, title in _all_parts(body, starts, found):
        before = found.parts[-1] if found.parts else None
        # The first part takes the blank lines before it.
        start = offset if before is None else starts[line]
        if before is not None and start == before.start:
            continue  # items that share a line: "- - a"
        if before is not None and kind == before.kind == "definitions":
            continue
        found.parts.append(Part(start, kind, level, title))
    return found


_Line = tuple[int, str, int, str]


def _all_parts(body: str, starts: list[int], found: Structure) -> Iterator[_Line]:
    position = line = 0
    size = _PIECE_CHARS
    while position < len(body):
        end = _next_cut(body, position, size)
        piece = body[position:end]
        if end - position > _most_chars(size):
            found.skipped = True
            yield line, "paragraph", 0, ""
        else:
            tokens = _parse(piece)
            if end < len(body):
                last = _last_that_may_go_on(tokens)
                if last is not None:
                    first_line = _map(tokens[last])[0]
                    if first_line == 0:
                        size *= 2
                        continue
                    tokens = tokens[:last]
                    piece = _first_lines(piece, first_line)
            for start, stop in (_map(token) for token in tokens if token.type in _CODE):
                found.code.append((starts[line + start], starts[min(line + stop, len(starts) - 1)]))
            for at, kind, level, title in _parts(piece.split("\n"), tokens):
                yield line + at, kind, level, title
        position += len(piece)
        line += piece.count("\n")
        size = _PIECE_CHARS


def _next_cut(body: str, position: int, size: int) -> int:
    """Where the piece at ``position`` may end: a little after ``size``; before, if else far."""
    if position + size >= len(body):
        return len(body)
    cut = _SAFE_CUT.search(body, position + size)
    end = cut.end() if cut else len(body)
    if end - position > _most_chars(size):
        for cut in _SAFE_CUT.finditer(body, position + 1, position + size):
            end = cut.end()
    return end


def _most_chars(size: int) -> int:
    return max(_MOST_CHARS_WITHOUT_CUT, 2 * size)


def _last_that_may_go_on(tokens: list[Token]) -> int | None:
    """The index of the last top-level token if that is a fence or raw HTML."""
    if tokens and tokens[-1].type in _MAY_GO_ON and tokens[-1].level == 0:
        return len(tokens) - 1
    return None


def _first_lines(piece: str, count: int) -> str:
    end = 0
    for _ in range(count):
        end = piece.index("\n", end) + 1
    return piece[:end]


def _parts(lines: list[str], tokens: list[Token]) -> Iterator[_Line]:
    """(line, kind, level, title) of the parts of one piece."""
    covered = 0  # lines up to here belong to top-level tokens seen so far
    in_quote = False
    for token, following in pairwise([*tokens, None]):
        if token is None or token.map is None:
            in_quote = in_quote and not (token is not None and token.level == 0)
            continue
        start, end = token.map
        if token.level == 0:
            yield from _definitions(lines, covered, start)
            covered = max(covered, end)
            in_quote = token.type == "blockquote_open"
            kind = _KIND_OF.get(token.type)
            if kind == "heading" and following is not None:
                yield start, kind, int(token.tag[1]), following.content
            elif kind is not None:
                yield start, kind, 0, ""
        elif token.type == "list_item_open" and not in_quote:
            yield start, "list_item", 0, ""
    yield from _definitions(lines, covered, len(lines))


def _definitions(lines: list[str], start: int, end: int) -> Iterator[_Line]:
    """Lines that the parser gave no token: link definitions (or blank)."""
    for line in range(start, end):
        if lines[line].strip():
            yield line, "definitions", 0, ""
            return


def _map(token: Token) -> tuple[int, int]:
    start, end = token.map or (0, 0)
    return start, end


def _parse(source: str) -> list[Token]:
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(source, parser, {}, tokens)
    return tokens


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    # Link targets are not used from here: to check and to re-encode them would be a tenth of
    # the time.
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser
