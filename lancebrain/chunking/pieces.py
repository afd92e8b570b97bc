"""Text → pieces that hold together, finer and finer; packing asks for them as it needs them.

A ladder of four steps: lines, sentences, clauses and words, graphemes. Every step is lazy and
linear, so a log of gigabytes and a line of megabytes cost no memory. Pieces are never blank:
white space belongs to the piece before it.

    https://www.unicode.org/reports/tr29/ (graphemes)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple
from zlib import crc32

import regex

from lancebrain.chunking.width import display_width


class Bond:
    """How much two neighbouring pieces belong together: from a new heading to one grapheme."""

    HEADING = 0  # plus the heading's depth, 1 to 6
    BLOCK = 7
    ITEM = 8
    PARAGRAPH = 9
    SENTENCE = 10
    LINE_OF_PROSE = 11
    CLAUSE = 12
    WORD = 13
    GRAPHEME = 14
    GLUE = 15


class Piece(NamedTuple):
    """A span of the text that packing moves as one.

    Attributes:
        start, end: character offsets.
        width: its display width.
        rank: where to cut before it: the lower the better. The bond with the piece before
            comes first, then a hash of its first characters: as good as random, and the same
            wherever the piece stands.
        step: the step of the ladder that takes it apart; ``FINEST`` cannot be.
    """

    start: int
    end: int
    width: int
    rank: int
    step: int


LINES, SENTENCES, CLAUSES, GRAPHEMES, FINEST = range(5)

_LEAST_HASHED_CHARS = 48  # words are few; with those that follow they are each their own
_MOST_HASHED_CHARS = 256
_MOST_GRAPHEME_CHARS = 64
_LEAST_RUN_CHARS = 4
_MOST_RUN_CHARS = 32

_GOES_ON = r"(?![\p{GCB=Extend}\p{GCB=SpacingMark}\u200d])"
_LINE_ENDS = re.compile(r"[\r\n]+")
# White space is taken whole or not at all (`++`), or `\r\n` could be cut in two.
_SENTENCE_END = regex.compile(
    r"(?:[.!?…]+[\"'”’)\]]*\s++|[。！？｡]+[」』”’）】》\"']*\s*+|([\r\n]++))" + _GOES_ON
)
_CLAUSE_END = regex.compile(r"(?:([,;:，、；：|]+\s++|[，、；：]+)|[,;:|]+|\s++)" + _GOES_ON)
_GRAPHEME = regex.compile(r"\X")


def piece(text: str, start: int, end: int, bond: int, step: int) -> Piece:
    """A piece of ``text`` with its width and rank."""
    width = display_width(text[start:end])
    return Piece(start, end, width, _rank(text, start, end, bond), step)


def finer(text: str, whole: Piece) -> Iterator[Piece]:
    """The pieces of a piece, by the next step of the ladder; one and the same if it has none."""
    start, bond, step = whole.start, whole.rank >> 32, whole.step + 1
    last = start + len(text[start : whole.end].rstrip())
    for end, next_bond in _STEPS[whole.step](text, start, last):
        content = text[start:end]
        if content.isspace():
            continue
        if end >= last:
            break
        yield Piece(start, end, display_width(content), _rank(text, start, end, bond), step)
        start, bond = end, next_bond
    yield piece(text, start, whole.end, bond, step)


_Ends = Iterator[tuple[int, int]]


def _line_ends(text: str, start: int, end: int) -> _Ends:
    if text.find("\r", start, end) >= 0:
        for match in _LINE_ENDS.finditer(text, start, end):
            yield match.end(), _bond_at_line_ends(match.group(), Bond.SENTENCE)
        return
    # The same for the usual line ends alone, several times as fast: logs are all lines.
    position = text.find("\n", start, end) + 1
    while position:
        bond = Bond.SENTENCE
        while position < end and text[position] == "\n":
            position += 1
            bond = Bond.PARAGRAPH
        yield position, bond
        position = text.find("\n", position, end) + 1


def _sentence_ends(text: str, start: int, end: int) -> _Ends:
    for match in _SENTENCE_END.finditer(text, start, end):
        one_line = Bond.SENTENCE if match.group(1) is None else Bond.LINE_OF_PROSE
        yield match.end(), _bond_at_line_ends(match.group(), one_line)


def _clause_ends(text: str, start: int, end: int) -> _Ends:
    for match in _CLAUSE_END.finditer(text, start, end):
        yield match.end(), Bond.WORD if match.group(1) is None else Bond.CLAUSE


def _grapheme_ends(text: str, start: int, end: int) -> _Ends:
    """Runs of a few graphemes, ended by some characters and not by others.

    Which ones depends on the character alone, so that the runs after an edit are as they were.
    """
    run_start = start
    for match in _GRAPHEME.finditer(text, start, end):
        stop = match.end()
        while stop - match.start() > _MOST_GRAPHEME_CHARS and stop - run_start > _MOST_RUN_CHARS:
            # No script has such a grapheme: a heap of marks, which must be cut somewhere.
            run_start = min(max(run_start, match.start()) + _MOST_GRAPHEME_CHARS, stop)
            yield run_start, Bond.GRAPHEME
        least = _LEAST_RUN_CHARS if ord(text[stop - 1]) & 7 == 0 else _MOST_RUN_CHARS
        if stop - run_start >= least:
            run_start = stop
            yield stop, Bond.GRAPHEME


def _bond_at_line_ends(ending: str, one_line: int) -> int:
    blank_line = ending.count("\n") > 1 or ending.count("\r") > 1
    return Bond.PARAGRAPH if blank_line else one_line


_STEPS: tuple[Callable[[str, int, int], _Ends], ...] = (
    _line_ends,
    _sentence_ends,
    _clause_ends,
    _grapheme_ends,
)


def _rank(text: str, start: int, end: int, bond: int) -> int:
    hashed = min(max(end - start, _LEAST_HASHED_CHARS), _MOST_HASHED_CHARS)
    return bond << 32 | crc32(text[start : start + hashed].encode("utf-8", "surrogatepass"))
